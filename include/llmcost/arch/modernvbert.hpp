// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/modernbert.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/prediction_head.hpp>
#include <llmcost/forward/vision_text_heads.hpp>

namespace llmcost::arch {

namespace modernvbert_detail {

using vision_text_heads::forward_with_heads, vision_text_heads::norms_images, vision_text_heads::parse_over,
    vision_text_heads::shuffle_factor;

inline constexpr family_key family_keys[]{
    {"pixel_shuffle_factor", 4},
    {.type = family_key_type::computed},  // `classifier_pooling`
    {.type = family_key_type::computed},  // norm after the connector's projection
};

/// Squares of patches side by side, projected to the width of the text; UltraVBERT norms them.
struct connector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Connector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t square = ctx.model.family[shuffle_factor] * ctx.model.family[shuffle_factor];
        const tensor squares = t.full({x.dim(0), x.dim(1) / square, x.dim(2) * square}, x.type);
        const tensor h = t.call("modality_projection", linear{x.dim(2) * square, ctx.config.hidden_size}, squares);
        if (ctx.model.family[norms_images] == 0) return h;
        return call_norm(t, "norm", norm_kind::rms, ctx.config.hidden_size, ctx.class_of("RMSNorm"), h);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    {
        const recorder::not_executed_guard no_pixels{t};
        (void)t.call("connector", connector{ctx}, forward_encoder_component(ctx, t, 0, "vision_model", role::vision));
    }
    return forward_text_model(ctx, t, "text_model");
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_with_heads(ctx, t, modernbert_heads::transform, modernbert_heads::transform,
                              ctx.config.family[modernbert_heads::decoder_bias] != 0);
}

constexpr void parse_config(config_view json, model& m) { parse_over(json, m, modernbert); }

}  // namespace modernvbert_detail

// transformers/models/modernvbert: SigLIP before ModernBERT, squares of patches
inline constexpr model_spec modernvbert = [](model_spec spec) {
    spec.model_type = "modernvbert";
    spec.class_prefix = "ModernVBert";
    spec.forward = modernvbert_detail::forward;
    spec.base_model = modernvbert_detail::base;
    spec.parse_composite_config = modernvbert_detail::parse_config;
    spec.family_keys = modernvbert_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                            head_kind::token_classification};
    spec.defaults.head = head_kind::masked_lm;
    spec.text_model = {.key = "text_config", .default_spec = &modernbert};
    spec.components[0] = {.key = "vision_config", .default_spec = &siglip_vision_model};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
