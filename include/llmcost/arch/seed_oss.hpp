// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

constexpr void read_seed_oss(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.output_bias = config.boolean("attention_out_bias", false);
}

inline constexpr dropout_key seed_oss_dropout[]{{dropout_of::hidden, "residual_dropout", 0.1},
                                                {dropout_of::attention, "attention_dropout", 0.1},
                                                {dropout_of::classifier, "classifier_dropout", 0.1}};

// transformers/models/seed_oss: biases on q, k, v, a switch of its own for the one on o
inline constexpr architecture seed_oss = [](architecture a) {
    a.model_type = "seed_oss", a.prefix = "SeedOss", a.read = read_seed_oss;
    a.defaults.vocab_size = 155136, a.defaults.intermediate_size = 27648, a.defaults.num_hidden_layers = 64;
    a.defaults.num_attention_heads = 80, a.defaults.num_key_value_heads = 8, a.defaults.head_dim = 128;
    a.defaults.max_position_embeddings = 524288, a.defaults.attention_bias = true;
    a.drops = seed_oss_dropout, a.residual = add_dropped_residual;
    return a;
}(llama);

}  // namespace llmcost::arch
