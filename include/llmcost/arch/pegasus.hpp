// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace pegasus_detail {

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layer_norm",
                                   .scale = embedding_scaling::stack,
                                   .positions = frozen_positions};

}  // namespace pegasus_detail

/// Sines as positions, norms before blocks.
///
/// Source: transformers/models/pegasus/modeling_pegasus.py.
constexpr tensor forward_pegasus(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, pegasus_detail::style);
}

// transformers/models/pegasus: configuration_pegasus.py, modeling_pegasus.py
inline constexpr model_spec pegasus = [](model_spec spec) {
    spec.model_type = "pegasus";
    spec.class_prefix = "Pegasus";
    spec.forward = forward_pegasus;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation};
    spec.defaults.num_labels = 2;
    return spec;
}(bart);

}  // namespace llmcost::arch
