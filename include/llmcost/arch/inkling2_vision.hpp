// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/inkling2.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/native_patches.hpp>
#include <llmcost/walks/tower.hpp>
#include <llmcost/reading/image.hpp>

namespace llmcost::arch {

namespace inkling2_vision_detail {

enum own : std::uint8_t { merged, table_side, inner, projector_bias };
inline constexpr own_key keys[]{{"spatial_merge_size", 2},
                                {"posemb_grid_size", 32},
                                {"projection_hidden_dim", 4096},
                                {"projector_bias", 0, own_value::boolean}};

/// Images in one row, a class token in front of the patches of each.
[[nodiscard]] constexpr packed_runs runs_of(const packed_pictures& grid) noexcept {
    packed_runs runs;
    runs.add(grid.rows * grid.columns + 1, grid.frames);
    return runs;
}

/// Cosines and sines, (rows, head) each: rows and columns have half of the frequencies each, twice side by side.
struct rotary_table_of_pairs {
    std::int64_t head_dim;
    class_name named;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr two_values describe(trace& t, std::int64_t rows) const {
        const recorder::no_grad_guard constants{t};
        t.owns_buffer(count(head_dim / 4 * 8));
        const value angles = t.mul(t.constant({rows, 2, 1}), trace::buffer({head_dim / 4}));
        const auto table = [&](const value& x) {
            return t.repeat_interleave(t.cat({x.select(1), x.select(1)}, -1), -1, 2);
        };
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        return {table(cos), table(sin)};
    }
};

/// Attention within each image, queries and keys turned: (rows, width) -> the same.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t n = x.dim(0), width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, width, true}, x).view({n, heads, width / heads});
    };
    const auto turned = [&](const value& part) {
        return t.to(rotate(t, rotation::interleaved, t.to(part, dtype::float32), here.shared->cos, here.shared->sin),
                    part.type);
    };
    const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const value queries = turned(q), keys = turned(k);
    const packed_runs runs = runs_of(packed_images(t.load(), here.dims.vision.patch_size));
    return t.call("out_proj", linear{width, width, true}, attend_packed(t, queries, keys, v, runs));
}

/// Each half of a layer is scaled per channel in front of its residual.
struct vision_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const norm<norm_kind::layer> layer_norm{width};
        const value first = t.param("lambda_1", {width}), second = t.param("lambda_2", {width});
        value h = t.call("self_attn", attention_module{here}, t.call("layernorm_before", layer_norm, x));
        const value middle = t.add(x, t.mul(first, h));
        h = t.call("mlp", tower_layer::feed_forward_of(here), t.call("layernorm_after", layer_norm, middle));
        return t.add(middle, t.mul(second, h));
    }
};

/// Patches in the order of the squares that they are merged in, places resampled from a learned square.
constexpr value embed(const site& here, trace& t, const packed_pictures& grid) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, n = grid.patches(), m = here.dims.own[merged], p = image.patch_size;
    const std::int64_t side = here.dims.own[table_side], values = image.num_channels * p * p;
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const value pixels = t.input({n / (m * m), m * p, m * p, image.num_channels});
    t.enter(embeddings);
    const value token = t.param("class_embedding", {width}), place = t.param("cls_position_embedding", {width});
    const value split = pixels.view({-1, m, p, m, p, image.num_channels}).transpose(2, 3);
    const value patches = t.call("patch_embedding", linear{values, width}, t.reshape(split, {n, values}));
    value weights;
    {
        const recorder::no_grad_guard constants{t};
        const value rows = weights_of_axis(t, n, place_taps::two, false);
        const value columns = weights_of_axis(t, n, place_taps::two, false);
        weights = t.mul(rows.unsqueeze(2), columns.unsqueeze(1)).view({n, 4, 1});
    }
    const value found = t.call("position_embedding", embedding{side * side, width}, extents{n, 4});
    const value placed = t.add(patches, t.to(t.sum(t.mul(found, weights), 1), patches.type));
    const value rows = t.copy(t.add(token, place).unsqueeze(0).expand({n + grid.frames, width}));  // `repeat`
    t.leave(embeddings, placed);
    return rows;  // the patches are written into it
}

constexpr value tower_base(const site& here, trace& t) {
    const packed_pictures grid = packed_images(t.load(), here.dims.vision.patch_size);
    const std::int64_t width = here.dims.hidden_size, m = here.dims.own[merged];
    value x = t.call("pre_layernorm", norm<norm_kind::layer>{width}, embed(here, t, grid));
    const rotary_table_of_pairs table{width / here.dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values tables = t.call("rotary_emb", table, x.dim(0));
    shared_values made;
    made.cos = tables.first, made.sin = tables.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, vision_layer{here.at(each, made)}, x);
    return t.gather(x, {grid.patches(), width}).view({grid.patches() / (m * m), m * m * width});
}

constexpr void read_tower(config_view config, sizes& s) {
    s.vision.patch_size = config.positive(config.contains("native_patch_size") ? "native_patch_size" : "patch_size", 20);
    s.vision.num_channels = config.positive("num_channels", 3);
    if (config.contains("adapter_merge_size")) s.own[merged] = config.positive("adapter_merge_size", 2);
    s.intermediate_size = read_inner(config, s, "intermediate_size", "mlp_ratio", 4.0);
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.hidden_size / s.num_attention_heads % 4 != 0)
        fail_value(config, "num_attention_heads", "heads of a multiple of 4 features");
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "inkling2_vision", a.prefix = "Inkling2", a.base = tower_base, a.read = read_tower, a.own = keys;
    a.heads = {}, a.attend = attend, a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.keys[3] = {"intermediate_size", "", key_rule::absent};
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 0, a.defaults.num_hidden_layers = 23;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

/// Images of any shape are padded to whole tokens, none is resized.
constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const std::int64_t side = m.beside[0].dims.vision.patch_size * m.beside[0].dims.own[merged];
    const std::int64_t rows = (load.image_height + side - 1) / side, columns = (load.image_width + side - 1) / side;
    return {.image = {.tokens = rows * columns, .height = rows * side, .width = columns * side}};
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const site eye = here.component(0);
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{};
        const std::int64_t m = eye.dims.own[merged];
        const recorder::workload_guard shown{t, packed_workload(t, each, eye.dims.vision.patch_size * m)};
        const module_info vision{.name = "vision_tower", .type = eye.type("VisionModel"), .what = role::vision};
        t.enter(vision);
        const projector merger{eye.type("VisionMerger"),
                               m * m * eye.dims.hidden_size,
                               eye.dims.own[inner],
                               here.dims.hidden_size,
                               eye.dims.own[projector_bias] != 0,
                               eye.dims.hidden_act};
        const value features = t.leave(vision, t.call("merger", merger, tower_base(eye, t)));
        return scatter_counted(t, words, features);
    });
}

constexpr value finish(const site& here, trace& t, const value& scores) {
    return inkling2_detail::finish(here.text(), t, scores);
}

}  // namespace inkling2_vision_detail

// transformers/models/inkling2: patches of images of any shape, merged in squares, in front of its text model
inline constexpr architecture inkling2 = [](architecture a) {
    a.model_type = "inkling2", a.prefix = "Inkling2", a.base = inkling2_vision_detail::base;
    a.finish = inkling2_vision_detail::finish, a.media = inkling2_vision_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &inkling2_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &inkling2_vision_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
