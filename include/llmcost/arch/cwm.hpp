// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

/// Every fourth layer is full, the first one too.
constexpr void read_cwm(config_view config, sizes& s) {
    if (s.sliding_window == 0) fail_value(config, "sliding_window", "a number of tokens, as a mask is made of it");
    if (read_layer_types(config, s)) return;
    plan_layers(config, s, [](std::int64_t i) {
        return layer_kind{i % 4 == 0 ? mixer_kind::full_attention : mixer_kind::sliding_attention};
    });
}

// transformers/models/cwm: one full layer to three sliding ones
inline constexpr architecture cwm = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "cwm", a.prefix = "Cwm", a.read = read_cwm, a.masks = mask_rule::full_and_sliding;
    a.defaults.vocab_size = 128256, a.defaults.hidden_size = 6144, a.defaults.intermediate_size = 21504;
    a.defaults.num_hidden_layers = 64, a.defaults.num_attention_heads = 48, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 8192;
    a.keys[0] = no_attention_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
