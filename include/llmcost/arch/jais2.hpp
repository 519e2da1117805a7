// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// transformers/models/jais2: layer norms, biases, no gate
inline constexpr model_spec jais2 = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "jais2";
    spec.class_prefix = "Jais2";
    spec.norm = norm_kind::layer;
    spec.dense_mlp = mlp_kind::plain;
    spec.defaults.vocab_size = 150272;
    spec.defaults.hidden_size = 3328;
    spec.defaults.intermediate_size = 26624;
    spec.defaults.num_attention_heads = 26;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.hidden_act = activation::relu2;
    spec.defaults.attention_bias = spec.defaults.mlp_bias = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
