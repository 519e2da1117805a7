// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/modernvbert.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/arch/ultrabert.hpp>
#include <llmcost/forward/prediction_head.hpp>
#include <llmcost/forward/siglip_heads.hpp>
#include <llmcost/forward/vision_text_heads.hpp>

namespace llmcost::arch {

namespace ultravbert_detail {

using vision_text_heads::forward_with_heads, vision_text_heads::norms_images, vision_text_heads::parse_over;

/// Two projections through a width of their own (`UltraVBertPredictionHead`).
constexpr tensor transform_bottleneck(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    const module_info head{.name = name, .class_of_module = ctx.class_of("PredictionHead"), .module_role = role::head};
    t.enter(head);
    return t.leave(head, ultrabert_heads::transform(ctx, t, x));
}

constexpr tensor return_output(const layer_context&, trace& t, literal name, const tensor& x) {
    return t.call(name, identity{"Identity"}, x);
}

constexpr tensor forward_normed_model(const layer_context& ctx, trace& t) {
    return forward_with_heads(ctx, t, transform_bottleneck, return_output, false);
}

constexpr void parse_normed(config_view json, model& m) {
    parse_over(json, m, ultrabert);
    m.family[norms_images] = 1;
}

/// SigLIP without its pool, where UltraVBERT names no tower.
inline constexpr submodel_spec siglip_without_pool = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        siglip_heads::parse_config(json, config);
        config.family[siglip_heads::uses_head] = 0;
    };
    return spec;
}(siglip_vision_model);

}  // namespace ultravbert_detail

// transformers/models/ultravbert: the same over UltraBERT, with a norm of what the connector gives
inline constexpr model_spec ultravbert = [](model_spec spec) {
    spec.model_type = "ultravbert";
    spec.class_prefix = "UltraVBert";
    spec.forward = ultravbert_detail::forward_normed_model;
    spec.parse_composite_config = ultravbert_detail::parse_normed;
    spec.text_model.default_spec = &ultrabert;
    spec.components[0].spec_if_absent = &ultravbert_detail::siglip_without_pool;
    return spec;
}(modernvbert);

}  // namespace llmcost::arch
