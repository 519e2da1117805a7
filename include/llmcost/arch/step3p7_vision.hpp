// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/image.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/tower.hpp>

// What Step 3.7 sees by: layers over turned patches, and two convolutions that halve the grid.
namespace llmcost::arch {

namespace step3p7_detail {

/// Angles of columns, then of rows, in float32: (patches, head) twice.
struct rotary {
    site here;
    std::int64_t patches;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionRotaryEmbedding"); }
    constexpr two_values describe(trace& t) const {
        const recorder::no_grad_guard constants{t};
        const value angles = t.mul(t.constant({patches, 2, 1}), trace::buffer({here.dims.head_dim / 4}));
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        const auto table = [&](const value& x) {
            const value columns_first = t.copy(x).view({patches, -1});  // `flip`
            return t.cat({columns_first, columns_first}, -1);
        };
        const value first = table(cos);
        return {first, table(sin)};
    }
};

/// Queries and keys turned in float32 before heads and patches change places: (B, patches, width) -> the same.
constexpr value attend_turned(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, n = x.dim(1);
    const auto split = [&](literal name) {
        return t.call(name, linear{width, width, true}, x).view({x.dim(0), n, heads, width / heads});
    };
    const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj").transpose(1, 2);
    const auto turned = [&](const value& from) {
        const value wide = t.to(from, dtype::float32);
        return t.to(rotate<rotation::half>(t, wide, here.shared->cos, here.shared->sin), from.type).transpose(1, 2);
    };
    const value first = turned(q), second = turned(k);
    const value mixed = eager_attention(t, first, second, v, all_positions(n).where, {});
    return t.call("out_proj", linear{width, width, true}, t.contiguous(t.reshape(mixed, {x.dim(0), n, width})));
}

/// Norm, attention, residual; norm, two projections, residual: both blocks times a learned number for each feature.
struct scaled_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const norm<norm_kind::layer> layer_norm{width};
        const value first = t.param("lambda_1", {width}), second = t.param("lambda_2", {width});
        value h = t.call("self_attn", attention_module{here}, t.call("layernorm_before", layer_norm, x));
        const value middle = t.add(t.mul(first, h), x);
        h = t.call("mlp", tower_layer::feed_forward_of(here), t.call("layernorm_after", layer_norm, middle));
        return t.add(t.mul(second, h), middle);
    }
};

/// Places of a square of patches, resampled where a picture has others.
constexpr value places_of(const site& here, trace& t, std::int64_t rows, std::int64_t columns) {
    const std::int64_t own = here.dims.vision.image_height / here.dims.vision.patch_size, width = here.dims.hidden_size;
    const module_info table{.name = "position_embedding", .type = {"", "Embedding"}, .leaf = true};  // never called
    t.enter(table);
    const value weight = t.param("weight", {own * own, width});
    t.leave(table);
    const value all = weight.unsqueeze(0);
    if (rows == own && columns == own) return all;
    const value square = all.view({1, own, own, width}).permute({0, 3, 1, 2});
    return t.resample(op::bilinear, square, {rows, columns}).permute({0, 2, 3, 1}).view({1, -1, width});
}

constexpr value tower_base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const value pixels = images_of(here, t);
    const extents grid = patch_grid(here, t);
    const std::int64_t rows = grid.size[0], columns = grid.size[1];
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value patches = embed_patches(here, t, "patch_embedding", false, pixels);
    value x = t.leave(embeddings, t.add(patches, places_of(here, t, rows, columns)));
    x = t.call("pre_layernorm", norm<norm_kind::layer>{width}, x);
    shared_values made;
    const two_values tables = t.call("rotary_emb", rotary{here, rows * columns});
    made.cos = tables.first, made.sin = tables.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, scaled_layer{here.at(each, made)}, x);
    x = x.transpose(1, 2).view({x.dim(0), width, rows, columns});
    x = t.call("downsampler1", convolution_2d{width, 2 * width, 3, 2, 1}, x);
    return as_tokens(t.call("downsampler2", convolution_2d{2 * width, 4 * width, 3, 2, 1}, x));
}

/// Older files have the sizes under names of their own.
constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 728, 14);
    share_among_heads(config, s, {"num_attention_heads", "heads"});
    if (s.head_dim % 4 != 0) fail_value(config, "hidden_size", "heads of a multiple of four features");
    const double inner = config.real("mlp_ratio", 8960.0 / 1536.0) * static_cast<double>(s.hidden_size);
    if (!(inner >= 1 && inner <= static_cast<double>(largest_input)))
        fail_value(config, "mlp_ratio", "a factor that gives a width up to 2147483647");
    s.intermediate_size = static_cast<std::int64_t>(inner);
    const auto rope = config.optional_object("rope_parameters");
    if (rope && rope->string("rope_type", "axial") != "axial") fail_value(*rope, "rope_type", "axial");
    (void)checked_width(config, "hidden_size", 4, s.hidden_size);
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "step3p5_vision", a.prefix = "Step3p7", a.base = tower_base, a.read = read_tower, a.heads = {};
    a.attend = attend_turned, a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.keys[3] = {"hidden_size", "width"}, a.keys[4] = {"num_hidden_layers", "layers"};
    a.keys[5] = {"num_attention_heads", "heads"};
    a.defaults.hidden_size = 1536, a.defaults.num_hidden_layers = 47, a.defaults.num_attention_heads = 16;
    a.defaults.hidden_act = activation::quick_gelu;
    return a;
}(shared_tower);

}  // namespace step3p7_detail

}  // namespace llmcost::arch
