// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/t5.hpp>
#include <llmcost/forward/t5_stacks.hpp>

namespace llmcost::arch {

/// As T5, but outputs are never scaled, and gated blocks are what a file leaves out (configuration_mt5.py).
constexpr void parse_mt5(config_view json, model_config& config) {
    parse_t5_stacks(json, config, 8, "gated-gelu");
    config.family[t5_stacks::scales_output] = false;
}

// transformers/models/mt5: configuration_mt5.py, modeling_mt5.py
inline constexpr model_spec mt5 = [](model_spec spec) {
    spec.model_type = "mt5";
    spec.class_prefix = "MT5";
    spec.parse_config = parse_mt5;
    spec.defaults.vocab_size = 250112;
    spec.defaults.intermediate_size = 1024;
    spec.defaults.num_hidden_layers = 8;
    spec.defaults.num_attention_heads = 6;
    return spec;
}(t5);

}  // namespace llmcost::arch
