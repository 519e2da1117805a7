// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/llama.hpp>

// Baichuan. Derived from Llama, with these differences:
//  - one projection for queries, keys and values;
//  - ALiBi in the larger models.
//
// Source: modeling_baichuan.py of baichuan-inc/Baichuan-7B, Baichuan-13B-Base and Baichuan2

namespace llmcost::arch {

namespace baichuan_detail {

enum family_config_index : std::uint8_t { by_distance };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // 1 = ALiBi instead of RoPE
};

/// Attention with ALiBi. The biases are part of the mask; scores are clamped to the lowest number of their type.
constexpr tensor alibi_attention(const layer_context& ctx, trace& t, const query_key_value& qkv) {
    const attention_inputs& s = *ctx.inputs;
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), s.pattern, qkv.key.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    tensor scores = t.div_scalar(t.matmul(qkv.query, qkv.key.transpose(2, 3), sparse ? s.pattern.visible_pairs() : 0));
    scores = t.add(scores, s.mask);
    scores = t.maximum(scores, t.full({}));
    const tensor mixed = t.matmul(t.softmax(scores), qkv.value).transpose(1, 2);
    return t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1});
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const query_key_value packed = project_fused_qkv(ctx, t, x);
    if (ctx.config.family[by_distance] == 0) return output_projection(ctx, t, attention_from_qkv(ctx, t, packed));
    query_key_value qkv = packed;
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, alibi_attention(ctx, t, qkv));
}

/// Prepares the decoder inputs. ALiBi biases and the mask are one tensor, computed once for all layers.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    if (ctx.config.family[by_distance] == 0) return prepare_decoder_inputs(ctx, t);
    decoder_inputs c;
    c.full.pattern = attention_pattern_of(t, 0);
    c.full.mask =
        trace::buffer({ctx.config.num_attention_heads, c.full.pattern.query_length, c.full.pattern.key_length()});
    c.sliding = c.full;
    return c;
}

/// Parses `config.json`. A file with `model_max_length` and without `max_position_embeddings` belongs to a larger model
/// with ALiBi.
constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.family[by_distance] = json.contains("model_max_length") && !json.contains("max_position_embeddings");
    if (config.family[by_distance] != 0) config.max_position_embeddings = json.positive("model_max_length");
}

}  // namespace baichuan_detail

inline constexpr model_spec baichuan = [](model_spec spec) {
    spec.model_type = "baichuan";
    spec.class_prefix = "Baichuan";
    spec.is_remote_code = true;
    spec.parse_config = baichuan_detail::parse_config;
    spec.family_keys = baichuan_detail::family_keys;
    spec.attention = baichuan_detail::attention;
    spec.prepare_inputs = baichuan_detail::prepare_inputs;
    spec.supported_heads = language_heads;
    spec.names.q_proj = "W_pack";
    spec.dropout_keys = {};
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.defaults.vocab_size = 125696;
    spec.defaults.max_position_embeddings = 4096;
    return spec;
}(llama);

}  // namespace llmcost::arch
