// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_moe.hpp>

namespace llmcost::arch {

/// Parses `config.json`. By default, all layers have full attention and experts. Each layer kind has its own RoPE
/// frequencies.
constexpr void parse_mellum(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    validate_experts(json, config);
    parse_load_balancing(json, config);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const sparse_layer_selection experts(json, config, 0);
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{listed ? listed_layers[i].token_mixer : token_mixer_kind::full_attention, experts.has(i)};
    });
    const auto check_rotary = [&](token_mixer_kind kind, literal key) {
        if (config.layers.contains(kind, config.num_hidden_layers) && !rotates_layers(json, key, true))
            throw_invalid_value(json, "rope_parameters", "parameters for each kind of layers");
        const auto rope = json.optional_object("rope_parameters");
        const auto of_kind = rope ? rope->optional_object(key) : maybe<config_view>{};
        if (of_kind && of_kind->real("partial_rotary_factor", 1) != 1)
            throw_unsupported(*of_kind, "partial_rotary_factor", "partial rotation in one layer type is not supported");
    };
    check_rotary(token_mixer_kind::full_attention, "full_attention");
    check_rotary(token_mixer_kind::sliding_attention, "sliding_attention");
}

// transformers/models/mellum: Qwen3's experts, masks and rotary tables for the kinds of layers that there are
inline constexpr model_spec mellum = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "mellum";
    spec.class_prefix = "Mellum";
    spec.parse_config = parse_mellum;
    spec.mask_policy = mask_kind::present;
    spec.has_rotary_per_token_mixer = true;
    spec.defaults.vocab_size = 98304;
    spec.defaults.hidden_size = 2304;
    spec.defaults.intermediate_size = 7168;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 1024;
    spec.defaults.moe = {.num_experts = 64, .num_experts_per_tok = 8, .intermediate_size = 896, .norm_topk_prob = true};
    return spec;
}(qwen3_moe);

}  // namespace llmcost::arch
