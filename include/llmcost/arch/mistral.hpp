// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// transformers/models/mistral: one mask, sliding where there is a window
inline constexpr model_spec mistral = [](model_spec spec) {
    spec.model_type = "mistral";
    spec.class_prefix = "Mistral";
    spec.parse_config = parse_window;
    spec.names.base_model_for_question_answering = "model";
    spec.defaults.intermediate_size = 14336;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 4096;
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
