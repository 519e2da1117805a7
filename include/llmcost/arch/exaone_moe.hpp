// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

// EXAONE MoE. Derived from Llama, with RoPE only in sliding-window layers and with DeepSeek V3's experts.
//
// Source: transformers/models/exaone_moe

namespace llmcost::arch {

namespace exaone_moe_detail {

/// Self-attention. In models with sliding windows, full-attention layers have no RoPE.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_qk_norm(ctx, t, qkv, d, d);
    if (ctx.config.sliding_window == 0 || ctx.layer.token_mixer == token_mixer_kind::sliding_attention)
        apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Parses `config.json`. Without `layer_types`, every n-th layer has full attention.
constexpr void parse_config(config_view json, model_config& config) {
    parse_grouped_experts(
        json, config,
        {.number = "num_experts", .number_too = "num_experts", .shared_key = "num_shared_experts", .shared = 1});
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 1);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const sparse_layer_selection experts(json, config, dense);
    const std::int64_t period = listed ? 1 : json.positive("sliding_window_pattern", 4);
    set_layers(json, config, [&](std::int64_t i) {
        const bool slides = (i + 1) % period != 0;
        const token_mixer_kind default_token_mixer =
            slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer, experts.has(i)};
    });
}

}  // namespace exaone_moe_detail

inline constexpr model_spec exaone_moe = [](model_spec spec) {
    spec.model_type = "exaone_moe";
    spec.class_prefix = "ExaoneMoe";
    spec.parse_config = exaone_moe_detail::parse_config;
    spec.mask_policy = mask_kind::present;
    spec.supported_heads = language_heads;
    spec.attention = exaone_moe_detail::attention;
    spec.router = router_kind::sigmoid_grouped;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.moe_class = "SparseMoEBlock";
    spec.names.router_class = "TopkRouter";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.defaults.vocab_size = 102400;
    spec.defaults.intermediate_size = 16384;
    spec.defaults.num_key_value_heads = 32;
    spec.defaults.sliding_window = 4096;
    spec.defaults.moe = {
        .num_experts = 64, .num_experts_per_tok = 8, .intermediate_size = 1024, .norm_topk_prob = true};
    return spec;
}(llama);

}  // namespace llmcost::arch
