// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

constexpr void read_nemotron(config_view config, sizes& s) {
    plan_one_mask(config, s);
    if (const auto given = config.find("num_key_value_heads"); !given || given->is_null())
        fail_missing(config, "num_key_value_heads", "a positive integer");
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, 0.5));
}

// transformers/models/nemotron: layer norms of 1 + weight, half of each head rotated, no gate
inline constexpr architecture nemotron = [](architecture a) {
    a.model_type = "nemotron", a.prefix = "Nemotron", a.read = read_nemotron, a.norm = norm_kind::layer_plus_one;
    a.names.norm_type = "LayerNorm1P", a.joins_rotated = true, a.feed_forward = mlp_kind::plain;
    a.defaults.vocab_size = 256000, a.defaults.hidden_size = 6144, a.defaults.intermediate_size = 24576;
    a.defaults.num_attention_heads = 48, a.defaults.max_position_embeddings = 4096;
    a.defaults.hidden_act = activation::relu2;
    return a;
}(llama);

}  // namespace llmcost::arch
