// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

constexpr void read_qwen_window(config_view config, sizes& s) { plan_qwen_window(config, s, 28); }

constexpr void read_qwen2(config_view config, sizes& s) {
    read_qwen_window(config, s);
    s.attention_bias = true;
    s.output_bias = false;
}

// transformers/models/qwen2: biases on q, k, v, none on o; masks per kind of layer
inline constexpr architecture qwen2 = [](architecture a) {
    a.model_type = "qwen2", a.prefix = "Qwen2", a.read = read_qwen2, a.masks = mask_rule::full_and_present;
    a.defaults.vocab_size = 151936, a.defaults.intermediate_size = 22016, a.defaults.num_key_value_heads = 32;
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 4096;
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
