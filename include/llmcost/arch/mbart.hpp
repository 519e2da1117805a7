// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

/// Traces mBART: pre-norm layers and a final norm.
///
/// Source: transformers/models/mbart/modeling_mbart.py.
constexpr tensor forward_mbart(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, mbart_stack_style);
}

constexpr tensor forward_mbart_encoder_decoder(const layer_context& ctx, trace& t) {
    return forward_encoder_decoder(ctx, t, mbart_stack_style);
}

// mBART. Derived from BART, with pre-norm layers.
//
// Source: transformers/models/mbart
inline constexpr model_spec mbart = [](model_spec spec) {
    spec.model_type = "mbart";
    spec.class_prefix = "MBart";
    spec.forward = forward_mbart;
    spec.base_model = forward_mbart_encoder_decoder;
    spec.defaults.num_labels = 2;
    return spec;
}(bart);

}  // namespace llmcost::arch
