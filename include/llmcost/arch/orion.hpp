// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// modeling_orion.py of OrionStarAI/Orion-14B-Base: Llama with layer norms
inline constexpr architecture orion = [](architecture a) {
    a.model_type = "orion", a.prefix = "Orion", a.remote_code = true, a.heads = classifying_decoder_heads, a.drops = {};
    a.norm = norm_kind::layer;
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 84608, a.defaults.hidden_size = 5120, a.defaults.intermediate_size = 15360;
    a.defaults.num_hidden_layers = 40, a.defaults.num_attention_heads = 40, a.defaults.num_key_value_heads = 40;
    a.defaults.max_position_embeddings = 4096;
    return a;
}(llama);

}  // namespace llmcost::arch
