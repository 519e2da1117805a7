// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

constexpr void parse_seed_oss(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.output_bias = json.boolean("attention_out_bias", false);
}

inline constexpr dropout_key seed_oss_dropout[]{{dropout_position::hidden, "residual_dropout", 0.1},
                                                {dropout_position::attention, "attention_dropout", 0.1},
                                                {dropout_position::classifier, "classifier_dropout", 0.1}};

// transformers/models/seed_oss: biases on q, k, v, a switch of its own for the one on o
inline constexpr model_spec seed_oss = [](model_spec spec) {
    spec.model_type = "seed_oss";
    spec.class_prefix = "SeedOss";
    spec.parse_config = parse_seed_oss;
    spec.defaults.vocab_size = 155136;
    spec.defaults.intermediate_size = 27648;
    spec.defaults.num_hidden_layers = 64;
    spec.defaults.num_attention_heads = 80;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 524288;
    spec.defaults.attention_bias = true;
    spec.dropout_keys = seed_oss_dropout;
    spec.add_residual = add_residual_with_dropout;
    return spec;
}(llama);

}  // namespace llmcost::arch
