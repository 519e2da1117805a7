// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/internvl_layers.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/forward/vision_transformer.hpp>
#include <llmcost/layers/convolution.hpp>

namespace llmcost::arch {

namespace internvl_vision_detail {

using internvl_layers::attention, internvl_layers::embed, internvl_layers::mean_pooling, internvl_layers::rms;

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob"},
                                             {dropout_position::attention, "attention_dropout"}};

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

}  // namespace internvl_vision_detail

// transformers/models/internvl: `InternVLVisionModel`, BEiT's scaled blocks
inline constexpr model_spec internvl_vision = [](model_spec spec) {
    spec.model_type = "internvl_vision";
    spec.class_prefix = "InternVLVision";
    spec.parse_config = internvl_layers::parse_config;
    spec.forward = forward_without_head;
    spec.base_model = internvl_vision_detail::base;
    spec.family_keys = internvl_layers::family_keys;
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
