// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_transformer.hpp>

namespace llmcost::arch {

namespace ijepa_detail {

inline constexpr family_key family_keys[]{
    vit_config::family_keys[0], vit_config::family_keys[1], {.type = family_key_type::computed}};

constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.mean(x, 1));
}

}  // namespace ijepa_detail

/// A vision transformer of patches alone, bare or under a classifier of their mean.
///
/// Source: transformers/models/ijepa/modeling_ijepa.py.
constexpr tensor forward_ijepa(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, ctx.spec.names.base_model, forward_vit_base, ijepa_detail::classify);
}

// transformers/models/ijepa: configuration_ijepa.py, modeling_ijepa.py
inline constexpr model_spec ijepa = [](model_spec spec) {
    spec.model_type = "ijepa";
    spec.class_prefix = "IJepa";
    spec.forward = forward_ijepa;
    spec.family_keys = ijepa_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::image_classification};
    spec.names.base_model = "ijepa";
    return spec;
}(vit);

}  // namespace llmcost::arch
