// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

// Aquila. Llama's layers under another model type.
//
// Source: BAAI/Aquila-7B, modeling_aquila.py

namespace llmcost::arch {

inline constexpr model_spec aquila = [](model_spec spec) {
    spec.model_type = "aquila";
    spec.class_prefix = "Aquila";
    spec.is_remote_code = true;
    spec.supported_heads = classifying_decoder_heads;
    spec.dropout_keys = {};
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 100008;
    return spec;
}(llama);

}  // namespace llmcost::arch
