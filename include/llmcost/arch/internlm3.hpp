// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Biases everywhere or nowhere (`validate_architecture`).
constexpr void read_internlm3(config_view config, sizes& s) {
    plan_one_mask(config, s);
    if (s.attention_bias != s.mlp_bias) fail_value(config, "bias", "the same as qkv_bias");
}

/// The original code can do both, the reference neither (`validate_architecture`).
constexpr void read_iquestcoder(config_view config, sizes& s) {
    plan_one_mask(config, s);
    if (config.optional_real("clip_qkv")) fail_value(config, "clip_qkv", "null");
    if (config.boolean("use_sliding_window", false)) fail_value(config, "use_sliding_window", "false");
}

// transformers/models/internlm3: Llama's classes under another type
inline constexpr architecture internlm3 = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "internlm3", a.read = read_internlm3;
    a.keys[0] = {"attention_bias", "qkv_bias"}, a.keys[1] = {"mlp_bias", "bias"};
    a.defaults.vocab_size = 128512, a.defaults.intermediate_size = 10240, a.defaults.num_hidden_layers = 48;
    a.defaults.num_key_value_heads = 2, a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 32768;
    return a;
}(llama);

// transformers/models/iquestcoder: the same
inline constexpr architecture iquestcoder = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "iquestcoder", a.read = read_iquestcoder;
    a.defaults.vocab_size = 76800, a.defaults.hidden_size = 5120, a.defaults.intermediate_size = 27648;
    a.defaults.num_hidden_layers = 80, a.defaults.num_attention_heads = 40, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072;
    return a;
}(llama);

}  // namespace llmcost::arch
