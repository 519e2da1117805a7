// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/forward/multi_token_prediction.hpp>

namespace llmcost::arch {

namespace glm4_moe_detail {

/// Self-attention with optional QK-norm per head.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    if (ctx.config.qk_norm) apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_grouped_experts(json, config, {.shared = 1});
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 1);
    config.qk_norm = json.boolean("use_qk_norm", false);
    config.output_bias = false;
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 0.5));
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, i >= dense}; });
}

}  // namespace glm4_moe_detail

// GLM-4 MoE. Derived from Llama, with these differences:
//  - DeepSeek V3's experts;
//  - RoPE on half of each head, and optional QK-norm.
//
// Source: transformers/models/glm4_moe
inline constexpr model_spec glm4_moe = [](model_spec spec) {
    spec.model_type = "glm4_moe";
    spec.class_prefix = "Glm4Moe";
    spec.parse_config = glm4_moe_detail::parse_config;
    spec.supported_heads = language_heads;
    spec.attention = glm4_moe_detail::attention;
    spec.has_partial_rotary = true;
    spec.multi_token_prediction = mtp_with_last_layer_spec;
    spec.router = router_kind::sigmoid_grouped;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.moe_class = "MoE";
    spec.names.router_class = "TopkRouter";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 151552;
    spec.defaults.intermediate_size = 10944;
    spec.defaults.num_hidden_layers = 46;
    spec.defaults.num_attention_heads = 96;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.moe = {
        .num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 1408, .norm_topk_prob = true};
    spec.defaults.moe.has_float32_correction = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
