// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace helium_detail {

/// Pairs of elements are rotated by tables of halves, which are spread anew in every layer.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const tensor cos = repeat_for_pairs(t, ctx.inputs->cos), sin = repeat_for_pairs(t, ctx.inputs->sin);
    for (tensor* const operand : {&qkv.query, &qkv.key})
        *operand = rotate<rotary_style::interleaved>(t, *operand, cos, sin);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.output_bias = false;
    if (config.num_attention_heads * config.head_dim != config.hidden_size)
        throw_unsupported(json, "hidden_size", "unsupported width; expected num_attention_heads * head_dim");
}

}  // namespace helium_detail

// transformers/models/helium: heads rotated in pairs by tables of halves, norms all in float32
inline constexpr model_spec helium = [](model_spec spec) {
    spec.supported_heads = decoder_heads;
    spec.model_type = "helium";
    spec.class_prefix = "Helium";
    spec.parse_config = helium_detail::parse_config;
    spec.attention = helium_detail::attention;
    spec.norm = norm_kind::rms_float_weight;
    spec.defaults.vocab_size = 48000;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 7040;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 20;
    spec.defaults.num_key_value_heads = 20;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 4096;
    return spec;
}(llama);

}  // namespace llmcost::arch
