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

/// The original code can do both, the reference neither (`validate_architecture`).
constexpr void parse_iquestcoder(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (json.optional_real("clip_qkv")) throw_invalid_value(json, "clip_qkv", "null");
    if (json.boolean("use_sliding_window", false)) throw_invalid_value(json, "use_sliding_window", "false");
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

// transformers/models/iquestcoder: the same
inline constexpr model_spec iquestcoder = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "iquestcoder";
    spec.parse_config = parse_iquestcoder;
    spec.defaults.vocab_size = 76800;
    spec.defaults.hidden_size = 5120;
    spec.defaults.intermediate_size = 27648;
    spec.defaults.num_hidden_layers = 80;
    spec.defaults.num_attention_heads = 40;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(llama);

}  // namespace llmcost::arch
