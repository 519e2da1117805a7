// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

constexpr void parse_qwen_window(config_view json, model_config& config) { set_qwen_sliding_window(json, config, 28); }

constexpr void parse_qwen2(config_view json, model_config& config) {
    parse_qwen_window(json, config);
    config.attention_bias = true;
    config.output_bias = false;
}

// transformers/models/qwen2: biases on q, k, v, none on o; masks per kind of layer
inline constexpr model_spec qwen2 = [](model_spec spec) {
    spec.model_type = "qwen2";
    spec.class_prefix = "Qwen2";
    spec.parse_config = parse_qwen2;
    spec.mask_policy = mask_kind::full_and_present;
    spec.defaults.vocab_size = 151936;
    spec.defaults.intermediate_size = 22016;
    spec.defaults.num_key_value_heads = 32;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.sliding_window = 4096;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
