// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gpt_neo.hpp>

// GPTBigCode. Derived from GPT-2, with multi-query attention.
//
// Source: transformers/models/gpt_bigcode: configuration_gpt_bigcode.py, modeling_gpt_bigcode.py

namespace llmcost::arch {

namespace gpt_bigcode_detail {

enum family_config_index : std::uint8_t { one_key };
inline constexpr family_key family_keys[]{{"multi_query", 1, family_key_type::boolean}};

/// Self-attention from a fused projection: multi-query (one key/value head), or queries, keys and values per head.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size, batch = x.dim(0), sequence = x.dim(1), d = config.head_dim;
    const tensor all = t.call("c_attn", linear{width, width + 2 * config.num_key_value_heads * d, true}, x);
    query_key_value qkv;
    if (config.family[one_key]) {
        const tensor first = all.unsqueeze(1);
        qkv.query = first.slice(-1, width).view({batch, sequence, -1, d}).transpose(1, 2);
        qkv.key = qkv.value = first.slice(-1, d);
    } else {
        qkv.query = qkv.key = qkv.value =
            all.view({batch, sequence, config.num_attention_heads, 3 * d}).transpose(1, 2).slice(-1, d);
    }
    update_kv_cache(ctx, t, qkv);
    const tensor flat = scaled_dot_product_attention(ctx, t, qkv);
    return dropout(t, "resid_dropout", t.call("c_proj", linear{width, width, true}, flat));
}

constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"n_head", "num_attention_heads"});
    if (config.intermediate_size == 0) config.intermediate_size = 4 * config.hidden_size;
    config.num_key_value_heads = config.family[one_key] ? 1 : config.num_attention_heads;
    if (json.boolean("add_cross_attention", false))
        throw_unsupported(json, "add_cross_attention", "cross-attention is not supported by this model type");
}

/// Registers the causal mask `bias`, one byte per pair of positions.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    t.register_buffer(count(ctx.config.max_position_embeddings) * count(ctx.config.max_position_embeddings));
    return gpt2.embed_tokens(ctx, t);
}

}  // namespace gpt_bigcode_detail

inline constexpr model_spec gpt_bigcode = [](model_spec spec) {
    spec.model_type = "gpt_bigcode";
    spec.class_prefix = "GPTBigCode";
    spec.parse_config = gpt_bigcode_detail::parse_config;
    spec.family_keys = gpt_bigcode_detail::family_keys;
    spec.embed_tokens = gpt_bigcode_detail::embed;
    spec.attention = gpt_bigcode_detail::attention;
    spec.mlp = gpt_neo.mlp;
    spec.supported_heads = decoder_heads;
    spec.names.causal_lm_class = "ForCausalLM";
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(gpt2);

}  // namespace llmcost::arch
