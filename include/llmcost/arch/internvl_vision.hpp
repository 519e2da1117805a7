// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/convolution.hpp>

namespace llmcost::arch {

namespace internvl_vision_detail {

enum family_config_index : std::uint8_t { mask_token, absolute, mean_pooling, norms_heads, rms, drops_projection };
inline constexpr family_key family_keys[]{
    {"use_mask_token", 0, family_key_type::boolean},
    {"use_absolute_position_embeddings", 1, family_key_type::boolean},
    {"use_mean_pooling", 1, family_key_type::boolean},
    {"use_qk_norm", 0, family_key_type::boolean},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob"},
                                             {dropout_position::attention, "attention_dropout"}};

struct attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const linear projection{width, width, ctx.config.attention_bias};
        const auto split = [&](const tensor& all) {
            return t.reshape(all, {x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        tensor q = t.call("q_proj", projection, x), k = t.call("k_proj", projection, x);
        const tensor v = t.call("v_proj", projection, x);
        q = normed(t, "q_norm", q);
        k = normed(t, "k_norm", k);
        const attention_pattern pattern = full_pattern(x.dim(1)).pattern;
        const tensor mixed =
            attention_forward(t, split(q), split(k), split(v), pattern, {.has_float32_softmax = false});
        const tensor attention_output = t.reshape(mixed, {x.dim(0), x.dim(1), width});
        const tensor out = t.call("projection_layer", linear{width, width, true}, attention_output);
        if (ctx.config.family[drops_projection] != 0)
            return dropout(t, "projection_dropout", out, dropout_position::unconditional);
        return t.call("projection_dropout", identity{"Identity"}, out);
    }
    constexpr tensor normed(trace& t, literal name, const tensor& x) const {
        if (ctx.config.family[norms_heads] == 0) return t.call(name, identity{"Identity"}, x);
        return t.call(name, norm_module{norm_kind::rms, x.dim(-1), ctx.class_of("RMSNorm")}, x);
    }
};

/// Each block's sum is scaled by a learned factor for each feature.
struct layer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const norm_kind kind = ctx.config.family[rms] != 0 ? norm_kind::rms : norm_kind::layer;
        const auto normed = [&](literal name, const tensor& h) {
            return call_norm(t, name, kind, width, ctx.class_of("RMSNorm"), h);
        };
        const tensor first = t.param("lambda_1", {width}), second = t.param("lambda_2", {width});
        tensor h = t.call("attention", attention{ctx}, normed("layernorm_before", x));
        const tensor middle = t.add(t.mul(first, h), x);
        h = t.call("mlp", vision_encoder_layer::vision_mlp_of(ctx), normed("layernorm_after", middle));
        return t.add(t.mul(second, dropout(t, "dropout", h)), middle);
    }
};

/// Embeds patches after a class token, with positions for the image size.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size;
    const std::int64_t patches = (image.image_height / image.patch_size) * (image.image_width / image.patch_size);
    const tensor pixels = image_input(ctx, t);
    const tensor token = t.param("cls_token", {1, 1, width});
    if (ctx.config.family[mask_token] != 0) {
        const recorder::not_executed_guard mask_token_not_executed{t};
        (void)t.param("mask_token", {1, 1, width});
    }
    tensor places;
    if (ctx.config.family[absolute] != 0) places = t.param("position_embeddings", {1, patches + 1, width});
    const module_info patch_embeddings{.name = "patch_embeddings", .class_of_module = ctx.class_of("PatchEmbeddings")};
    t.enter(patch_embeddings);
    const tensor tokens =
        t.leave(patch_embeddings, as_tokens(t.call("projection", patch_convolution{image, width}, pixels)));
    tensor x = t.cat({token.expand({pixels.dim(0), 1, width}), tokens}, 1);
    if (ctx.config.family[absolute] != 0) x = t.add(x, resample_position_embeddings(ctx, t, places, 1));
    return dropout(t, "dropout", x);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(embeddings);
    tensor x = t.leave(embeddings, embed(ctx, t));
    t.enter(encoder);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layer", layer_loop.index()}, layer{ctx}, x);
    t.leave(encoder);
    if (ctx.config.family[mean_pooling] != 0) return t.call("layernorm", identity{"Identity"}, x);
    return t.call("layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_vit(json, config);
    if (!json.contains("image_size")) config.vision.image_height = config.vision.image_width = 448;
    if (!json.contains("patch_size")) config.vision.patch_size = 14;
    if (config.family[absolute] != 0 && config.vision.image_height != config.vision.image_width)
        throw_unsupported(json, "image_size", "interpolated positions of non-square images are not supported");
    config.attention_bias = json.boolean("attention_bias", false);
    const string_ref kind = json.string("norm_type", "layer_norm");
    if (kind != "layer_norm" && kind != "rms_norm") throw_invalid_value(json, "norm_type", "layer_norm or rms_norm");
    config.family[rms] = kind == "rms_norm";
    config.family[drops_projection] = json.real("projection_dropout", 0.0) > 0.0;
}

}  // namespace internvl_vision_detail

// transformers/models/internvl: `InternVLVisionModel`, BEiT's scaled blocks
inline constexpr model_spec internvl_vision = [](model_spec spec) {
    spec.model_type = "internvl_vision";
    spec.class_prefix = "InternVLVision";
    spec.parse_config = internvl_vision_detail::parse_config;
    spec.forward = forward_without_head;
    spec.base_model = internvl_vision_detail::base;
    spec.family_keys = internvl_vision_detail::family_keys;
    spec.supported_heads = {head_kind::none};
    spec.dropout_keys = internvl_vision_detail::dropout_rates;
    spec.accepts_any_image_size = true;
    spec.num_prefix_tokens = 1;
    spec.defaults.head = head_kind::none;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    return spec;
}(vit);

}  // namespace llmcost::arch
