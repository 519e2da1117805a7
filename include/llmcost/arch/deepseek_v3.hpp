// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v2.hpp>
#include <llmcost/forward/multi_token_prediction.hpp>

namespace llmcost::arch {

constexpr void parse_deepseek_v3(config_view json, model_config& config) {
    parse_deepseek(json, config, 3, 1, "num_local_experts");
    config.moe.has_group_limit = true;
    check_groups(json, config);
    config.rope_interleave = json.boolean("rope_interleave", true);
    if (config.moe.num_experts / config.moe.n_group < 2)
        throw_invalid_value(json, "n_group", "at most half the number of experts");
}

// DeepSeek V3. Derived from DeepSeek V2, with a sigmoid router with expert groups, and interleaved RoPE on two tensors.
//
// Source: transformers/models/deepseek_v3
inline constexpr model_spec deepseek_v3 = [](model_spec spec) {
    spec.supported_heads = decoder_heads;
    spec.model_type = "deepseek_v3";
    spec.class_prefix = "DeepseekV3";
    spec.parse_config = parse_deepseek_v3;
    spec.rotary = rotary_style::interleaved_split;
    spec.router = router_kind::sigmoid_grouped;
    spec.multi_token_prediction = mtp_with_last_layer_spec;
    spec.names.moe_class = "MoE";
    spec.defaults.vocab_size = 129280;
    spec.defaults.hidden_size = 7168;
    spec.defaults.intermediate_size = 18432;
    spec.defaults.num_hidden_layers = 61;
    spec.defaults.num_attention_heads = 128;
    spec.defaults.num_key_value_heads = 128;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.moe.num_experts = 256;
    spec.defaults.moe.num_experts_per_tok = 8;
    spec.defaults.moe.intermediate_size = 2048;
    spec.defaults.moe.n_group = 8;
    spec.defaults.moe.topk_group = 4;
    spec.defaults.moe.norm_topk_prob = true;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(deepseek_v2);

}  // namespace llmcost::arch
