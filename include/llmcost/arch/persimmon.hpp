// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace persimmon_detail {

/// One projection, query, key and value of each head side by side; layer norms of queries and keys, if any.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim, width = ctx.config.hidden_size;
    const tensor all =
        t.call("query_key_value", linear{width, 3 * width, true}, x).view({x.dim(0), x.dim(1), heads, 3, d});
    query_key_value qkv{t.select(all, 3), t.select(all, 3), t.select(all, 3)};
    if (ctx.config.qk_norm) apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor found = scaled_dot_product_attention(ctx, t, qkv);
    return t.call("dense", linear{width, width, true}, found);
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor middle = t.add(x, mix_tokens(ctx, t, apply_norm(ctx, t, "input_layernorm", x)));
    const tensor h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, "post_attention_layernorm", middle));
    return t.add(dropout(t, "dropout", h), middle);
}

constexpr void parse_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_attention_heads"});
    config.num_key_value_heads = config.num_attention_heads;
    config.rotary_dim = static_cast<std::int64_t>(static_cast<double>(config.head_dim) *
                                                  detail::parse_partial_rotary_factor(json, 0.5));
    config.mlp_bias = true;
    config.qk_norm = json.boolean("qk_layernorm", true);
    set_single_mask(json, config);
}

}  // namespace persimmon_detail

// transformers/models/persimmon: configuration_persimmon.py, modeling_persimmon.py; half of each head rotated, squared
// ReLU
inline constexpr model_spec persimmon = [](model_spec spec) {
    spec.model_type = "persimmon";
    spec.class_prefix = "Persimmon";
    spec.parse_config = persimmon_detail::parse_config;
    spec.supported_heads = decoder_heads;
    spec.decoder_layer = persimmon_detail::decoder_layer;
    spec.attention = persimmon_detail::attention;
    spec.norm = norm_kind::layer;
    spec.dense_mlp = mlp_kind::plain;
    spec.has_partial_rotary = true;
    spec.names.norm = "final_layernorm";
    spec.names.q_norm = "q_layernorm";
    spec.names.k_norm = "k_layernorm";
    spec.names.mlp_modules = {.up = "dense_h_to_4h", .down = "dense_4h_to_h", .act = "act"};
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.defaults = model_config{.vocab_size = 262144,
                                 .hidden_size = 4096,
                                 .intermediate_size = 16384,
                                 .num_hidden_layers = 36,
                                 .num_attention_heads = 64,
                                 .max_position_embeddings = 16384,
                                 .hidden_act = activation::relu2};
    spec.dropout_keys = hidden_and_attention_dropout;
    return spec;
}(llama);

}  // namespace llmcost::arch
