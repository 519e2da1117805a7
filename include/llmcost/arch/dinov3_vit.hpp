// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/forward/dinov2_layers.hpp>
#include <llmcost/layers/rotary.hpp>

// DINOv3 ViT. Derived from ViT, with two-dimensional RoPE for patches.
//
// Source: transformers/models/dinov3_vit: configuration_dinov3_vit.py, modeling_dinov3_vit.py

namespace llmcost::arch {

namespace dinov3_vit_detail {

enum family_config_index : std::uint8_t { registers, query_bias, key_bias, value_bias, output_bias, gated, drops };

inline constexpr family_key family_keys[]{
    {"num_register_tokens", 0, family_key_type::non_negative},
    {"query_bias", 1, family_key_type::boolean},
    {"key_bias", 0, family_key_type::boolean},
    {"value_bias", 1, family_key_type::boolean},
    {"proj_bias", 1, family_key_type::boolean},
    {"use_gated_mlp", 0, family_key_type::boolean},
    {.type = family_key_type::computed},  // 1 = a drop path module in training
};

/// Class token, registers and patches, without position embeddings.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, num_registers = ctx.config.family[registers];
    const tensor pixels = image_input(ctx, t);
    const tensor token = t.param("cls_token", {1, 1, width});
    {
        const recorder::not_executed_guard mask_token_not_executed{t};
        (void)t.param("mask_token", {1, 1, width});
    }
    const tensor register_tokens = t.param("register_tokens", {1, num_registers, width});
    const convolution_2d cut{image.num_channels, width, image.patch_size, image.patch_size};
    const tensor patches = as_tokens(t.call("patch_embeddings", cut, pixels));
    const std::int64_t batch = pixels.dim(0);
    return t.cat({token.expand({batch, 1, width}), register_tokens.expand({batch, num_registers, width}), patches}, 1);
}

/// Rotary cosines and sines of the patch centers: (1, patches, head) each.
///
/// Rows and columns share the frequencies of half a head. The reference caches the coordinates per image size; here
/// every pass computes them.
/// Source: transformers, modeling_dinov3_vit.py, `get_patches_center_coordinates`.
struct table {
    std::int64_t head_dim;
    class_name named;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor_pair forward(trace& t, const shape& grid) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer({head_dim / 4}, dtype::float32);  // `inv_freq`
        const std::int64_t rows = grid.size[0], columns = grid.size[1], n = rows * columns;
        const tensor high = t.div_scalar(t.full({rows})), x_coordinates = t.div_scalar(t.full({columns}));
        const shape one{rows, columns, 1};
        const tensor coordinates =
            t.cat({high.view({rows, 1, 1}).expand(one), x_coordinates.view({1, columns, 1}).expand(one)}, -1);
        const tensor centers = t.add_scalar(t.mul_scalar(coordinates.view({n, 2})));
        const tensor angles =
            t.mul(t.mul_scalar(centers.unsqueeze(2)), trace::buffer({1, 1, head_dim / 4})).view({n, head_dim / 2});
        const tensor doubled = t.cat({angles, angles}, -1).view({1, n, head_dim});
        return {t.cos(doubled), t.sin(doubled)};
    }
};

/// Self-attention with RoPE for patches, but not for class token and registers.
struct attention {
    const layer_context& ctx;
    const tensor_pair& tables;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const family_config& biased = ctx.config.family;
        const auto split = [&](literal name, std::size_t bias) {
            const tensor all = t.call(name, linear{width, width, biased[bias] != 0}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const tensor q = split("q_proj", query_bias), k = split("k_proj", key_bias), v = split("v_proj", value_bias);
        const attention_pattern pattern = full_pattern(x.dim(1)).pattern;
        const tensor rotated_q = apply_rotary(t, q), rotated_k = apply_rotary(t, k);
        const tensor mixed = attention_forward(t, rotated_q, rotated_k, v, pattern, {.has_float32_softmax = false});
        const tensor attention_output = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
        return t.call("o_proj", linear{width, width, biased[output_bias] != 0}, attention_output);
    }
    constexpr tensor apply_rotary(trace& t, const tensor& x) const {
        const std::int64_t patches = tables.first.dim(1);
        const tensor ahead = t.slice(x, 2, x.dim(2) - patches), rest = t.slice(x, 2, patches);
        return t.cat({ahead, rotate(t, rotary_style::rotate_half, rest, tables.first, tables.second)}, 2);
    }
};

struct layer {
    const layer_context& ctx;
    const tensor_pair& tables;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const literal prefix = ctx.spec.class_prefix;
        const std::int64_t width = ctx.config.hidden_size;
        const norm_module layer_norm{norm_kind::layer, width};
        const drop_path_module path{"Dinov3ViT", ctx.config.family[drops] != 0};
        tensor h = t.call("attention", attention{ctx, tables}, t.call("norm1", layer_norm, x));
        h = t.call("drop_path", path, t.call("layer_scale1", dinov2_layers::layer_scale{width, prefix}, h));
        const tensor middle = t.add(h, x);
        h = t.call("mlp", make_mlp(ctx), t.call("norm2", layer_norm, middle));
        h = t.call("drop_path", path, t.call("layer_scale2", dinov2_layers::layer_scale{width, prefix}, h));
        return t.add(h, middle);
    }
    [[nodiscard]] static constexpr mlp_module make_mlp(const layer_context& ctx) {
        const bool gates = ctx.config.family[gated] != 0;
        return {gates ? mlp_kind::gated : mlp_kind::plain,
                ctx.config.hidden_size,
                ctx.config.intermediate_size,
                ctx.config.hidden_act,
                ctx.class_of(gates ? "GatedMLP" : "MLP"),
                ctx.config.mlp_bias};
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "model", .class_of_module = ctx.class_of("Encoder")};
    t.enter(embeddings);
    tensor x = t.leave(embeddings, embed(ctx, t));
    const table of_patches{ctx.config.head_dim, ctx.class_of("RopePositionEmbedding")};
    const tensor_pair tables = t.call("rope_embeddings", of_patches, patch_grid(ctx, t));
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, layer{ctx, tables}, x);
    t.leave(encoder);
    return t.call("norm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_vit(json, config);
    if (config.head_dim % 4 != 0)
        throw_invalid_value(json, "num_attention_heads", "a number of heads that makes the head size a multiple of 4");
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
}

}  // namespace dinov3_vit_detail

inline constexpr model_spec dinov3_vit = [](model_spec spec) {
    spec.model_type = "dinov3_vit";
    spec.class_prefix = "DINOv3ViT";
    spec.parse_config = dinov3_vit_detail::parse_config;
    spec.base_model = dinov3_vit_detail::base;
    spec.forward = [](const layer_context& ctx, trace& t) {
        return forward_image_model(ctx, t, "", ctx.spec.base_model, nullptr);
    };
    spec.family_keys = dinov3_vit_detail::family_keys;
    spec.supported_heads = {head_kind::none};
    spec.dropout_keys = {};
    spec.accepts_any_image_size = true;
    spec.defaults.head = head_kind::none;
    spec.defaults.hidden_size = 384;
    spec.defaults.intermediate_size = 1536;
    spec.defaults.num_attention_heads = 6;
    spec.defaults.mlp_bias = true;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(vit);

}  // namespace llmcost::arch
