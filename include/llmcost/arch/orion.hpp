// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// modeling_orion.py of OrionStarAI/Orion-14B-Base: Llama with layer norms
inline constexpr model_spec orion = [](model_spec spec) {
    spec.model_type = "orion";
    spec.class_prefix = "Orion";
    spec.is_remote_code = true;
    spec.supported_heads = classifying_decoder_heads;
    spec.dropout_keys = {};
    spec.norm = norm_kind::layer;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 84608;
    spec.defaults.hidden_size = 5120;
    spec.defaults.intermediate_size = 15360;
    spec.defaults.num_hidden_layers = 40;
    spec.defaults.num_attention_heads = 40;
    spec.defaults.num_key_value_heads = 40;
    spec.defaults.max_position_embeddings = 4096;
    return spec;
}(llama);

}  // namespace llmcost::arch
