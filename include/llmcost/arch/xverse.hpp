// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// modeling_xverse.py of xverse/XVERSE-13B: Llama's layers under another type
inline constexpr architecture xverse = [](architecture a) {
    a.model_type = "xverse", a.prefix = "Xverse", a.remote_code = true, a.heads = language_heads, a.drops = {};
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 100278, a.defaults.hidden_size = 5120, a.defaults.intermediate_size = 13824;
    a.defaults.num_hidden_layers = 40, a.defaults.num_attention_heads = 40, a.defaults.max_position_embeddings = 8192;
    return a;
}(llama);

}  // namespace llmcost::arch
