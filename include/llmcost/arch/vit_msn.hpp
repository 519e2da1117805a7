// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_transformer.hpp>

namespace llmcost::arch {

namespace vit_msn_detail {

constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.select(x, 1));
}

}  // namespace vit_msn_detail

// transformers/models/vit_msn: configuration_vit_msn.py, modeling_vit_msn.py, a vision transformer without a pooler
inline constexpr model_spec vit_msn = [](model_spec spec) {
    spec.model_type = "vit_msn";
    spec.class_prefix = "ViTMSN";
    spec.forward = [](const layer_context& ctx, trace& t) {
        return forward_image_model(ctx, t, ctx.spec.names.base_model, forward_vit_states, vit_msn_detail::classify);
    };
    spec.supported_heads = {head_kind::none, head_kind::image_classification};
    return spec;
}(vit);

}  // namespace llmcost::arch
