// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/glm4_moe.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace solar_open_detail {

/// Parses Solar Open, which has experts in every layer.
constexpr void parse_config(config_view json, model_config& config) {
    parse_grouped_experts(json, config, {.shared = 1});
    config.output_bias = false;
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 1.0));
    set_single_mask(json, config);
    config.layers.fill({config.layers[0].token_mixer, true});
}

}  // namespace solar_open_detail

// Solar Open. Derived from GLM-4 MoE, with experts in every layer and Llama's RoPE.
//
// Source: transformers/models/solar_open
inline constexpr model_spec solar_open = [](model_spec spec) {
    spec.model_type = "solar_open";
    spec.class_prefix = "SolarOpen";
    spec.parse_config = solar_open_detail::parse_config;
    spec.attention = attention;
    spec.has_partial_rotary = false;
    spec.multi_token_prediction = nullptr;
    spec.defaults.vocab_size = 196608;
    spec.defaults.num_hidden_layers = 48;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.head_dim = 128;
    spec.defaults.moe.intermediate_size = 1280;
    return spec;
}(glm4_moe);

}  // namespace llmcost::arch
