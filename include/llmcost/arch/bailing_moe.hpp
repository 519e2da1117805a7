// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/forward/multi_token_prediction.hpp>

namespace llmcost::arch {

namespace bailing_moe_detail {

/// Parses the keys of routed and shared experts. The first layers are dense.
constexpr void parse_moe_config(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    const std::int64_t shared = json.non_negative("num_shared_experts", 0);
    config.moe.shared_intermediate_size =
        checked_size(json, "num_shared_experts", shared, config.moe.intermediate_size);
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 0);
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, i >= dense}; });
    config.attention_bias = json.boolean("use_qkv_bias", false);
    config.output_bias = json.boolean("use_bias", false);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_moe_config(json, config);
    if (json.boolean("norm_head", false)) throw_unsupported(json, "norm_head", "a normalized head is not supported");
}

/// Parses Ling 2.0: sigmoid scores with expert groups, optional QK-norm and partial RoPE.
constexpr void parse_v2(config_view json, model_config& config) {
    parse_moe_config(json, config);
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

constexpr tensor attend_normed(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim;
    query_key_value qkv = project_fused_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (ctx.config.qk_norm) apply_qk_norm(ctx, t, qkv, d, d);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

}  // namespace bailing_moe_detail

// Ling. Derived from Llama, with one projection for queries, keys and values, and experts.
//
// Source: modeling_bailing_moe.py of inclusionAI/Ling-lite
inline constexpr model_spec bailing_moe = [](model_spec spec) {
    spec.model_type = "bailing_moe";
    spec.class_prefix = "BailingMoe";
    spec.is_remote_code = true;
    spec.dropout_keys = {};
    spec.parse_config = bailing_moe_detail::parse_config;
    spec.attention = fused_qkv_attention;
    spec.supported_heads = language_heads;
    spec.router = router_kind::softmax_top_k;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.embed_tokens = "word_embeddings";
    spec.names.attention = "attention";
    spec.names.q_proj = "query_key_value";
    spec.names.o_proj = "dense";
    spec.names.q_norm = "query_layernorm";
    spec.names.k_norm = "key_layernorm";
    spec.names.router_class = "Gate";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 30592;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 16384;
    spec.defaults.moe = {
        .num_experts = 16, .num_experts_per_tok = 2, .intermediate_size = 1024, .norm_topk_prob = true};
    return spec;
}(llama);

// Ling 2.0. Derived from Ling, with DeepSeek V3's router and QK-norm.
//
// Source: modeling_bailing_moe_v2.py of inclusionAI/Ling-mini-2.0
inline constexpr model_spec bailing_moe_v2 = [](model_spec spec) {
    spec.model_type = "bailing_moe_v2";
    spec.class_prefix = "BailingMoeV2";
    spec.parse_config = bailing_moe_detail::parse_v2;
    spec.attention = bailing_moe_detail::attend_normed;
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
