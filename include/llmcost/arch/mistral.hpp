// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Every layer slides where the configuration has a window (Mistral, Phi-3, StarCoder2).
constexpr void read_window(config_view config, sizes& s) { plan_one_mask(config, s); }

// transformers/models/mistral: one mask, sliding where there is a window
inline constexpr architecture mistral = [](architecture a) {
    a.model_type = "mistral", a.prefix = "Mistral", a.read = read_window;
    a.names.base_under_answers = "model";
    a.defaults.intermediate_size = 14336, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 4096;
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
