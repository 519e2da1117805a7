// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bailing_moe.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/forward/multi_token_prediction.hpp>

namespace llmcost::arch {

namespace bailing_moe_v2_detail {

/// Parses Ling 2.0: sigmoid scores with expert groups, optional QK-norm and partial RoPE.
constexpr void parse_config(config_view json, model_config& config) {
    parse_bailing_experts(json, config);
    config.moe.has_group_limit = true;
    config.moe.norm_topk_prob = config.moe.num_experts_per_tok > 1;
    config.moe.n_group = json.positive("n_group", 8);
    config.moe.topk_group = json.positive("topk_group", 4);
    if (config.moe.num_experts % config.moe.n_group != 0)
        throw_invalid_value(json, "n_group", "a divisor of the number of experts");
    if (config.moe.topk_group > config.moe.n_group) throw_invalid_value(json, "topk_group", "at most n_group");
    config.qk_norm = json.boolean("use_qk_norm", true);
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 1.0));
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return attention_with_transposed_norm(ctx, t, project_fused_qkv(ctx, t, x));
}

}  // namespace bailing_moe_v2_detail

// Ling 2.0. Derived from Ling, with DeepSeek V3's router and QK-norm.
//
// Source: modeling_bailing_moe_v2.py of inclusionAI/Ling-mini-2.0
inline constexpr model_spec bailing_moe_v2 = [](model_spec spec) {
    spec.model_type = "bailing_moe_v2";
    spec.class_prefix = "BailingMoeV2";
    spec.parse_config = bailing_moe_v2_detail::parse_config;
    spec.attention = bailing_moe_v2_detail::attention;
    spec.has_partial_rotary = true;
    spec.router = router_kind::sigmoid_grouped;
    spec.multi_token_prediction = mtp_with_last_layer_spec;
    spec.defaults.vocab_size = 157184;
    spec.defaults.hidden_size = 2048;
    spec.defaults.intermediate_size = 5120;
    spec.defaults.num_hidden_layers = 20;
    spec.defaults.num_key_value_heads = 4;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.moe.num_experts = 256;
    spec.defaults.moe.num_experts_per_tok = 8;
    spec.defaults.moe.intermediate_size = 512;
    spec.defaults.moe.norm_topk_prob = false;  // the router normalizes when `num_experts_per_tok` is above 1
    return spec;
}(bailing_moe);

}  // namespace llmcost::arch
