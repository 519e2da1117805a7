// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace pegasus_detail {

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layer_norm",
                                   .scale = word_scale::stack,
                                   .positions = frozen_positions};

}  // namespace pegasus_detail

/// Sines as positions, norms in front of blocks.
///
/// Source: transformers/models/pegasus/modeling_pegasus.py.
constexpr value describe_pegasus(const site& here, trace& t) { return describe_stacks(here, t, pegasus_detail::style); }

// transformers/models/pegasus: configuration_pegasus.py, modeling_pegasus.py
inline constexpr architecture pegasus = [](architecture a) {
    a.model_type = "pegasus", a.prefix = "Pegasus", a.describe = describe_pegasus;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation};
    a.defaults.num_labels = 2;
    return a;
}(bart);

}  // namespace llmcost::arch
