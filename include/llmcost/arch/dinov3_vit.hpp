// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/dinov2.hpp>
#include <llmcost/layers/rotary.hpp>

namespace llmcost::arch {

namespace dinov3_detail {

enum own : std::uint8_t { registers, query_bias, key_bias, value_bias, output_bias, gated, drops };
inline constexpr own_key keys[]{
    {"num_register_tokens", 0, own_value::non_negative},
    {"query_bias", 1, own_value::boolean},
    {"key_bias", 0, own_value::boolean},
    {"value_bias", 1, own_value::boolean},
    {"proj_bias", 1, own_value::boolean},
    {"use_gated_mlp", 0, own_value::boolean},
    {.value = own_value::computed},  // a module that drops paths in training
};

/// A class token, registers and patches, without positions.
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, more = here.dims.own[registers];
    const value pixels = images_of(here, t);
    const value token = t.param("cls_token", {1, 1, width});
    {
        const recorder::idle_guard nothing_is_masked{t};
        (void)t.param("mask_token", {1, 1, width});
    }
    const value register_tokens = t.param("register_tokens", {1, more, width});
    const convolution_2d cut{image.num_channels, width, image.patch_size, image.patch_size};
    const value patches = as_tokens(t.call("patch_embeddings", cut, pixels));
    const std::int64_t batch = pixels.dim(0);
    return t.cat({token.expand({batch, 1, width}), register_tokens.expand({batch, more, width}), patches}, 1);
}

/// Angles of the centers of patches, rows and columns sharing the frequencies of half a head: (1, patches, head) twice.
///
/// Source: modeling_dinov3_vit.py, `get_patches_center_coordinates`, which a process remembers for images of one size: each
/// pass counts as the first.
struct table {
    std::int64_t head_dim;
    class_name named;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr two_values describe(trace& t, const extents& grid) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t rows = grid.size[0], columns = grid.size[1], n = rows * columns;
        const value high = t.div(t.constant({rows})), wide = t.div(t.constant({columns}));
        const extents one{rows, columns, 1};
        const value both = t.cat({high.view({rows, 1, 1}).expand(one), wide.view({1, columns, 1}).expand(one)}, -1);
        const value centers = t.add(t.mul(both.view({n, 2})));
        const value angles = t.mul(t.mul(centers.unsqueeze(2)), trace::buffer({1, 1, head_dim / 4})).view({n, head_dim / 2});
        const value doubled = t.cat({angles, angles}, -1).view({1, n, head_dim});
        return {t.unary(op::cos, doubled), t.unary(op::sin, doubled)};
    }
};

/// Queries and keys of patches are turned, those of tokens in front of them are not.
struct attention {
    const site& here;
    const two_values& tables;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const own_sizes& biased = here.dims.own;
        const auto split = [&](literal name, std::size_t bias) {
            const value all = t.call(name, linear{width, width, biased[bias] != 0}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const value q = split("q_proj", query_bias), k = split("k_proj", key_bias), v = split("v_proj", value_bias);
        const context everything = all_positions(x.dim(1)).where;
        const value mixed = eager_attention(t, turned(t, q), turned(t, k), v, everything, {.float_softmax = false});
        const value joined = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
        return t.call("o_proj", linear{width, width, biased[output_bias] != 0}, joined);
    }
    constexpr value turned(trace& t, const value& x) const {
        const std::int64_t patches = tables.first.dim(1);
        const value ahead = t.slice(x, 2, x.dim(2) - patches), rest = t.slice(x, 2, patches);
        return t.cat({ahead, rotate(t, rotation::half, rest, tables.first, tables.second)}, 2);
    }
};

struct layer {
    const site& here;
    const two_values& tables;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const literal prefix = here.row.prefix;
        const std::int64_t width = here.dims.hidden_size;
        const norm<norm_kind::layer> layer_norm{width};
        const drop_path_module path{"Dinov3ViT", here.dims.own[drops] != 0};
        value h = t.call("attention", attention{here, tables}, t.call("norm1", layer_norm, x));
        h = t.call("drop_path", path, t.call("layer_scale1", dinov2_detail::layer_scale{width, prefix}, h));
        const value middle = t.add(h, x);
        h = t.call("mlp", feed_forward_of(here), t.call("norm2", layer_norm, middle));
        h = t.call("drop_path", path, t.call("layer_scale2", dinov2_detail::layer_scale{width, prefix}, h));
        return t.add(h, middle);
    }
    [[nodiscard]] static constexpr any_mlp feed_forward_of(const site& here) {
        const bool gates = here.dims.own[gated] != 0;
        return {gates ? mlp_kind::gated : mlp_kind::plain,     here.dims.hidden_size, here.dims.intermediate_size,
                here.dims.hidden_act,                          here.type(gates ? "GatedMLP" : "MLP"),
                here.dims.mlp_bias};
    }
};

constexpr value base(const site& here, trace& t) {
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info encoder{.name = "model", .type = here.type("Encoder")};
    t.enter(embeddings);
    value x = t.leave(embeddings, embed(here, t));
    const table of_patches{here.dims.head_dim, here.type("RopePositionEmbedding")};
    const two_values tables = t.call("rope_embeddings", of_patches, patch_grid(here, t));
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, layer{here, tables}, x);
    t.leave(encoder);
    return t.call("norm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

constexpr void read(config_view config, sizes& s) {
    read_vit(config, s);
    if (s.head_dim % 4 != 0) fail_value(config, "num_attention_heads", "heads of a width that 4 divides");
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
}

}  // namespace dinov3_detail

// transformers/models/dinov3_vit: configuration_dinov3_vit.py, modeling_dinov3_vit.py, patches turned by where they stand
inline constexpr architecture dinov3_vit = [](architecture a) {
    a.model_type = "dinov3_vit", a.prefix = "DINOv3ViT", a.read = dinov3_detail::read, a.base = dinov3_detail::base;
    a.describe = [](const site& here, trace& t) { return describe_image_model(here, t, "", here.row.base, nullptr); };
    a.own = dinov3_detail::keys, a.heads = {head_kind::none}, a.drops = {}, a.any_image = true;
    a.defaults.head = head_kind::none, a.defaults.hidden_size = 384, a.defaults.intermediate_size = 1536;
    a.defaults.num_attention_heads = 6, a.defaults.mlp_bias = true, a.defaults.hidden_act = activation::gelu;
    return a;
}(vit);

}  // namespace llmcost::arch
