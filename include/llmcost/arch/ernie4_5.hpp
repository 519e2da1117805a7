// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

// ERNIE 4.5. Derived from Llama, with these differences:
//  - interleaved RoPE in float32, with cosines and sines of half the head size;
//  - biases in all projections or in none.
//
// Source: transformers/models/ernie4_5

namespace llmcost::arch {

namespace ernie4_5_detail {

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const tensor cos = repeat_for_pairs(t, ctx.inputs->cos).unsqueeze(1);
    const tensor sin = repeat_for_pairs(t, ctx.inputs->sin).unsqueeze(1);
    for (tensor* const operand : {&qkv.query, &qkv.key}) *operand = apply_interleaved_rotary(t, *operand, cos, sin);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.attention_bias = config.output_bias = config.mlp_bias = json.boolean("use_bias", false);
}

}  // namespace ernie4_5_detail

inline constexpr model_spec ernie4_5 = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "ernie4_5";
    spec.class_prefix = "Ernie4_5";
    spec.parse_config = ernie4_5_detail::parse_config;
    spec.attention = ernie4_5_detail::attention;
    spec.rotary = rotary_style::rotate_half_float32;
    spec.defaults.vocab_size = 103424;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 18;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 2;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
