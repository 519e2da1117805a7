// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// modeling_yi.py of the first files of 01-ai/Yi-6B: Llama with other names of norms
inline constexpr model_spec yi = [](model_spec spec) {
    spec.model_type = "Yi";
    spec.class_prefix = "Yi";
    spec.is_remote_code = true;
    spec.supported_heads = classifying_decoder_heads;
    spec.dropout_keys = {};
    spec.names.pre_attention_norm = "ln1";
    spec.names.pre_mlp_norm = "ln2";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 64000;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 4096;
    return spec;
}(llama);

}  // namespace llmcost::arch
