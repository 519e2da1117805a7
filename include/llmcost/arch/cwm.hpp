// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

// CWM. Derived from Llama, with one full-attention layer per three sliding-window layers.
//
// Source: transformers/models/cwm

namespace llmcost::arch {

/// Parses `config.json`. By default, the first and then every fourth layer has full attention.
constexpr void parse_cwm(config_view json, model_config& config) {
    if (config.sliding_window == 0)
        throw_invalid_value(json, "sliding_window", "a number of tokens, which the reference's mask requires");
    if (parse_layer_types(json, config)) return;
    set_layers(json, config, [](std::int64_t i) {
        return layer_spec{i % 4 == 0 ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention};
    });
}

inline constexpr model_spec cwm = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "cwm";
    spec.class_prefix = "Cwm";
    spec.parse_config = parse_cwm;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.defaults.vocab_size = 128256;
    spec.defaults.hidden_size = 6144;
    spec.defaults.intermediate_size = 21504;
    spec.defaults.num_hidden_layers = 64;
    spec.defaults.num_attention_heads = 48;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 8192;
    spec.config_keys.add("attention_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
