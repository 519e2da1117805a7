// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma.hpp>

namespace llmcost::arch {

/// Parses the layers of Gemma 2 and 3: soft caps unless null, and full attention in every `pattern`-th layer.
constexpr void parse_gemma_layers(config_view json, model_config& config, bool attention_cap, bool logits_cap,
                                  std::int64_t pattern) {
    const auto capped = [&](literal key, bool default_value) {
        return json.contains(key) ? json.optional_real(key).has_value() : default_value;
    };
    config.attention_soft_cap = capped("attn_logit_softcapping", attention_cap);
    config.logits_soft_cap = capped("final_logit_softcapping", logits_cap);
    if (parse_layer_types(json, config)) return;
    set_layers(json, config, [&](std::int64_t i) {
        const bool full = (i + 1) % pattern == 0;
        return layer_spec{full ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention};
    });
}

constexpr void parse_gemma2(config_view json, model_config& config) { parse_gemma_layers(json, config, true, true, 2); }

// Gemma 2. Derived from Gemma, with these differences:
//  - norms before and after each block;
//  - soft caps, and alternating sliding-window and full-attention layers.
//
// Source: transformers/models/gemma2
inline constexpr model_spec gemma2 = [](model_spec spec) {
    spec.model_type = "gemma2";
    spec.class_prefix = "Gemma2";
    spec.parse_config = parse_gemma2;
    spec.decoder_layer = sandwich_norm_layer;
    spec.names.pre_mlp_norm = "pre_feedforward_layernorm";
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.defaults.hidden_size = 2304;
    spec.defaults.intermediate_size = 9216;
    spec.defaults.num_hidden_layers = 26;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.sliding_window = 4096;
    return spec;
}(gemma);

}  // namespace llmcost::arch
