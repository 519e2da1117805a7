// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

// modeling_xverse.py of xverse/XVERSE-13B: Llama's layers under another type
inline constexpr model_spec xverse = [](model_spec spec) {
    spec.model_type = "xverse";
    spec.class_prefix = "Xverse";
    spec.is_remote_code = true;
    spec.supported_heads = language_heads;
    spec.dropout_keys = {};
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 100278;
    spec.defaults.hidden_size = 5120;
    spec.defaults.intermediate_size = 13824;
    spec.defaults.num_hidden_layers = 40;
    spec.defaults.num_attention_heads = 40;
    spec.defaults.max_position_embeddings = 8192;
    return spec;
}(llama);

}  // namespace llmcost::arch
