// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// The original code can do both, the reference neither (`validate_architecture`).
constexpr void parse_iquestcoder(config_view json, model_config& config) {
    set_single_mask(json, config);
    if (json.optional_real("clip_qkv")) throw_invalid_value(json, "clip_qkv", "null");
    if (json.boolean("use_sliding_window", false)) throw_invalid_value(json, "use_sliding_window", "false");
}

// transformers/models/iquestcoder: Llama's classes under another type
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
