// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// transformers/models/jais2: layer norms, biases, no gate
inline constexpr architecture jais2 = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "jais2", a.prefix = "Jais2", a.norm = norm_kind::layer, a.feed_forward = mlp_kind::plain;
    a.defaults.vocab_size = 150272, a.defaults.hidden_size = 3328, a.defaults.intermediate_size = 26624;
    a.defaults.num_attention_heads = 26, a.defaults.max_position_embeddings = 8192;
    a.defaults.hidden_act = activation::relu2, a.defaults.attention_bias = a.defaults.mlp_bias = true;
    return a;
}(llama);

}  // namespace llmcost::arch
