// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

// dots.llm1. Derived from Llama, with Qwen3's attention and DeepSeek V3's experts.
//
// Source: transformers/models/dots1

namespace llmcost::arch {

/// Parses `config.json`. Layers from `max_window_layers` have sliding windows; layers after the dense ones have
/// experts.
constexpr void parse_dots1(config_view json, model_config& config) {
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 0);
    if (dense < config.num_hidden_layers) parse_grouped_experts(json, config, {});
    const std::int64_t first = json.non_negative("max_window_layers", 62);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const bool slides = config.sliding_window > 0 && i >= first;
        const token_mixer_kind default_token_mixer =
            slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, i >= dense};
    });
}

inline constexpr model_spec dots1 = [](model_spec spec) {
    spec.model_type = "dots1";
    spec.class_prefix = "Dots1";
    spec.parse_config = parse_dots1;
    spec.supported_heads = language_heads;
    spec.qk_norm = qk_norm_kind::per_head;
    spec.mask_policy = mask_kind::present;
    spec.router = router_kind::sigmoid_grouped;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.moe_class = "MoE";
    spec.names.router_class = "TopkRouter";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 152064;
    spec.defaults.hidden_size = 4608;
    spec.defaults.intermediate_size = 10944;
    spec.defaults.num_hidden_layers = 62;
    spec.defaults.num_key_value_heads = 32;
    spec.defaults.sliding_window = 4096;
    spec.defaults.moe.intermediate_size = 1408;
    return spec;
}(llama);

}  // namespace llmcost::arch
