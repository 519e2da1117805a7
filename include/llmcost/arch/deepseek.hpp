// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

// DeepSeek MoE. Derived from Llama, with DeepSeek V2's experts and a plain softmax router.
//
// Source: modeling_deepseek.py of deepseek-ai/deepseek-moe-16b-base

namespace llmcost::arch {

/// Parses `config.json`. After the first dense layers, one in every `moe_layer_freq` layers has experts.
///
/// Without `n_routed_experts`, no layer has experts.
constexpr void parse_deepseek_moe(config_view json, model_config& config) {
    set_single_mask(json, config);
    const auto number = json.find("n_routed_experts");
    if (!number || number->is_null()) return;
    parse_experts(json, config, "n_routed_experts");
    const auto shared = json.find("n_shared_experts");
    if (shared && !shared->is_null())
        config.moe.shared_intermediate_size =
            checked_size(json, "n_shared_experts", json.positive("n_shared_experts"), config.moe.intermediate_size);
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 0), step = json.positive("moe_layer_freq", 1);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, i >= dense && i % step == 0}; });
}

inline constexpr model_spec deepseek_moe = [](model_spec spec) {
    spec.model_type = "deepseek";
    spec.class_prefix = "Deepseek";
    spec.is_remote_code = true;
    spec.parse_config = parse_deepseek_moe;
    spec.dropout_keys = {};
    spec.supported_heads = classifying_decoder_heads;
    spec.router = router_kind::softmax_top_k;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.moe_class = "MoE";
    spec.names.router_class = "MoEGate";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 102400;
    spec.defaults.moe.intermediate_size = 1407;
    return spec;
}(llama);

}  // namespace llmcost::arch
