// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace cohere_detail {

/// Self-attention with optional QK-norm. Each head has its own row of the norm's weight.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    if (ctx.config.qk_norm) {
        const auto per_head = [&](literal name, const tensor& heads) {
            const class_name named = ctx.class_of(n.norm_class);
            return call_norm(t, name, ctx.spec.norm, ctx.config.head_dim, named, heads, true, heads.dim(2));
        };
        qkv.query = per_head(n.q_norm, qkv.query);
        qkv.key = per_head(n.k_norm, qkv.key);
    }
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

}  // namespace cohere_detail

constexpr void parse_cohere(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.qk_norm = json.boolean("use_qk_norm", false);
}

// Cohere. Derived from Llama, with these differences:
//  - one norm before both blocks;
//  - interleaved RoPE and scaled logits.
//
// Source: transformers/models/cohere
inline constexpr model_spec cohere = [](model_spec spec) {
    spec.supported_heads = language_heads;
    spec.model_type = "cohere";
    spec.class_prefix = "Cohere";
    spec.parse_config = parse_cohere;
    spec.attention = cohere_detail::attention;
    spec.norm = norm_kind::layer_spelled;
    spec.decoder_layer = parallel_residual_layer;
    spec.rotary = rotary_style::interleaved;
    spec.process_logits = scale_logits;
    spec.names.norm_class = "LayerNorm";
    spec.defaults.vocab_size = 256000;
    spec.defaults.hidden_size = 8192;
    spec.defaults.intermediate_size = 22528;
    spec.defaults.num_hidden_layers = 40;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("mlp_bias", key_rule::absent);
    return spec;
}(llama);

}  // namespace llmcost::arch
