// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace stablelm_detail {

/// Self-attention with optional QK-norm, a separate norm module for each head.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (ctx.config.qk_norm) {
        const auto per_head = [&](literal name, const tensor& heads) {
            return t.call(name, norm_of_each_head{heads.dim(1), ctx.config.head_dim, ctx.class_of("LayerNormPerHead")},
                          heads);
        };
        qkv.query = per_head(n.q_norm, qkv.query);
        qkv.key = per_head(n.k_norm, qkv.key);
    }
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return ctx.config.parallel_residual ? parallel_residual_layer(ctx, t, x) : pre_norm_layer(ctx, t, x);
}

}  // namespace stablelm_detail

constexpr void parse_stablelm(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"num_attention_heads"});
    config.attention_bias = json.boolean("use_qkv_bias", false);
    config.output_bias = false;
    config.parallel_residual = json.boolean("use_parallel_residual", false);
    config.qk_norm = json.boolean("qk_layernorm", false);
    config.rotary_dim = static_cast<std::int64_t>(static_cast<double>(config.head_dim) *
                                                  detail::parse_partial_rotary_factor(json, 0.25));
}

// transformers/models/stablelm: layer norms, a quarter of each head rotated, dropout after the feed-forward block
inline constexpr model_spec stablelm = [](model_spec spec) {
    spec.supported_heads = decoder_heads;
    spec.model_type = "stablelm";
    spec.class_prefix = "StableLm";
    spec.parse_config = parse_stablelm;
    spec.norm = norm_kind::layer;
    spec.has_partial_rotary = true;
    spec.attention = stablelm_detail::attention;
    spec.decoder_layer = stablelm_detail::decoder_layer;
    spec.names.q_norm = "q_layernorm";
    spec.names.k_norm = "k_layernorm";
    spec.names.mlp_dropout = "dropout";
    spec.defaults.vocab_size = 50304;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 6912;
    spec.defaults.num_key_value_heads = 32;
    spec.defaults.max_position_embeddings = 4096;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.dropout_keys = hidden_and_attention_dropout;
    return spec;
}(llama);

}  // namespace llmcost::arch
