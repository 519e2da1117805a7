// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mt5.hpp>
#include <llmcost/forward/t5_stacks.hpp>

namespace llmcost::arch {

namespace umt5_detail {

inline constexpr family_key family_keys[]{t5_stacks::family_keys[0],
                                          t5_stacks::family_keys[1],
                                          t5_stacks::family_keys[2],
                                          {.default_value = 1, .type = family_key_type::computed}};

}  // namespace umt5_detail

/// Outputs are scaled where embeddings are tied, which they always are (configuration_umt5.py, `__post_init__`).
constexpr void parse_umt5(config_view json, model_config& config) {
    parse_mt5(json, config);
    config.family[t5_stacks::scales_output] = true;
}

// transformers/models/umt5: a bias of relative positions in each layer
inline constexpr model_spec umt5 = [](model_spec spec) {
    spec.model_type = "umt5";
    spec.class_prefix = "UMT5";
    spec.parse_config = parse_umt5;
    spec.family_keys = umt5_detail::family_keys;
    return spec;
}(mt5);

}  // namespace llmcost::arch
