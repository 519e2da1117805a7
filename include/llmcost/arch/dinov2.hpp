// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/dinov2_layers.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_transformer.hpp>
#include <llmcost/layers/convolution.hpp>

// DINOv2. Derived from ViT, with layer scale.
//
// Source: transformers/models/dinov2: configuration_dinov2.py, modeling_dinov2.py

namespace llmcost::arch {

namespace dinov2_detail {

using dinov2_layers::drops, dinov2_layers::gated, dinov2_layers::layer_scale, dinov2_layers::masked,
    dinov2_layers::registered, dinov2_layers::registers;

/// Class token, optional registers, patches and learned positions, which are interpolated to the image's patches.
struct embeddings {
    const layer_context& ctx;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Embeddings"); }
    constexpr tensor forward(trace& t, const tensor& pixels) const {
        const vision_config& image = ctx.config.vision;
        const std::int64_t width = ctx.config.hidden_size, batch = pixels.dim(0),
                           num_registers = ctx.config.family[registers];
        const std::int64_t side = image.image_height / image.patch_size;
        const tensor token = t.param("cls_token", {1, 1, width});
        if (ctx.config.family[masked] != 0) {
            const recorder::not_executed_guard mask_token_not_executed{t};
            (void)t.param("mask_token", {1, width});
        }
        tensor places = t.param("position_embeddings", {1, side * side + 1, width});
        const bool holds_registers = ctx.config.family[registered] != 0;
        const tensor register_tokens =
            holds_registers ? t.param("register_tokens", {1, num_registers, width}) : tensor{};
        const module_info patch_embeddings{.name = "patch_embeddings",
                                           .class_of_module = ctx.class_of("PatchEmbeddings")};
        t.enter(patch_embeddings);
        const tensor projected = t.call("projection", patch_convolution{image, width}, pixels);
        const tensor tokens = t.leave(patch_embeddings, as_tokens(projected));
        places = resample_position_embeddings(ctx, t, places, 1);
        const tensor x = t.add(t.cat({token.expand({batch, 1, width}), tokens}, 1), places);
        if (!holds_registers) return dropout(t, "dropout", x);
        const tensor tokens_with_registers = t.cat(
            {t.slice(x, 1, 1), register_tokens.expand({batch, num_registers, width}), t.slice(x, 1, tokens.dim(1))}, 1);
        return dropout(t, "dropout", tokens_with_registers);
    }
};

struct layer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const literal prefix = ctx.spec.class_prefix;
        const std::int64_t width = ctx.config.hidden_size;
        const norm_module layer_norm{norm_kind::layer, width};
        const drop_path_module path{prefix, ctx.config.family[drops] != 0};
        const auto drop = [&](const tensor& h) { return t.call("drop_path", path, h); };
        tensor h = t.call("attention", vit_attention{ctx.config, prefix, false}, t.call("norm1", layer_norm, x));
        const tensor middle = t.add(drop(t.call("layer_scale1", layer_scale{width, prefix}, h)), x);
        h = mlp(t, t.call("norm2", layer_norm, middle));
        return t.add(drop(t.call("layer_scale2", layer_scale{width, prefix}, h)), middle);
    }
    constexpr tensor mlp(trace& t, const tensor& h) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        if (ctx.config.family[gated]) {
            const mlp_module block{mlp_kind::gated, width, inner, activation::silu, ctx.class_of("SwiGLUFFN"), true};
            return t.call("mlp", block, h);
        }
        return t.call("mlp", vit_mlp(ctx.config, ctx.spec.class_prefix), h);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    tensor x = t.call("embeddings", embeddings{ctx}, image_input(ctx, t));
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, layer{ctx}, x);
    t.leave(encoder);
    return t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

/// A linear classifier over the class token concatenated with the mean of the patches.
constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor first = t.select(x, 1);
    const tensor patches = t.slice(x, 1, x.dim(1) - 1 - ctx.config.family[registers]);
    return classify_linear(ctx, t, t.cat({first, t.mean(patches, 1)}, 1));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, ctx.spec.names.base_model, base, classify);
}

}  // namespace dinov2_detail

inline constexpr model_spec dinov2 = [](model_spec spec) {
    spec.model_type = "dinov2";
    spec.class_prefix = "Dinov2";
    spec.forward = dinov2_detail::forward;
    spec.parse_config = [](config_view json, model_config& config) {
        dinov2_layers::parse_config(json, config);
        if (!json.contains("patch_size")) config.vision.patch_size = 14;
    };
    spec.base_model = dinov2_detail::base;
    spec.family_keys = dinov2_layers::family_keys;
    spec.num_prefix_tokens = 1;
    spec.accepts_any_image_size = true;
    spec.supported_heads = {head_kind::none, head_kind::image_classification};
    spec.names.base_model = "dinov2";
    return spec;
}(vit);

}  // namespace llmcost::arch
