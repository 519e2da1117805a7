// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Biases everywhere or nowhere (`validate_architecture`).
constexpr void parse_internlm3(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (config.attention_bias != config.mlp_bias) throw_invalid_value(json, "bias", "the same as qkv_bias");
}

// transformers/models/internlm3: Llama's classes under another type
inline constexpr model_spec internlm3 = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "internlm3";
    spec.parse_config = parse_internlm3;
    spec.config_keys.add("attention_bias", "qkv_bias", key_rule::family_name_first);
    spec.config_keys.add("mlp_bias", "bias", key_rule::family_name_first);
    spec.defaults.vocab_size = 128512;
    spec.defaults.intermediate_size = 10240;
    spec.defaults.num_hidden_layers = 48;
    spec.defaults.num_key_value_heads = 2;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 32768;
    return spec;
}(llama);

}  // namespace llmcost::arch
