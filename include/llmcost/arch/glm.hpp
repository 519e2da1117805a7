// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace glm_detail {

/// Self-attention with partial interleaved RoPE. Every layer repeats the half-size tables again.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const tensor cos = repeat_for_pairs(t, ctx.inputs->cos), sin = repeat_for_pairs(t, ctx.inputs->sin);
    for (tensor* const operand : {&qkv.query, &qkv.key})
        *operand = rotate_partial(t, rotary_style::interleaved, *operand, ctx.config.rotary_dim, cos, sin, true);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

}  // namespace glm_detail

constexpr void parse_glm(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.output_bias = false;
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 0.5));
}

// GLM. Derived from Llama, with these differences:
//  - interleaved RoPE on half of each head;
//  - biases of queries, keys and values;
//  - one projection for gate and up.
//
// Source: transformers/models/glm
inline constexpr model_spec glm = [](model_spec spec) {
    spec.supported_heads = decoder_heads;
    spec.model_type = "glm";
    spec.class_prefix = "Glm";
    spec.parse_config = parse_glm;
    spec.attention = glm_detail::attention;
    spec.has_partial_rotary = true;
    spec.dense_mlp = mlp_kind::fused_gated;
    spec.names.mlp_modules = {.gate = "gate_up_proj", .act = "activation_fn"};
    spec.defaults.vocab_size = 151552;
    spec.defaults.intermediate_size = 13696;
    spec.defaults.num_hidden_layers = 40;
    spec.defaults.num_key_value_heads = 2;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.attention_bias = true;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
