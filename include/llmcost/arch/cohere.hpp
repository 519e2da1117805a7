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

/// Self-attention of Cohere 2: only sliding-window layers apply RoPE.
constexpr tensor attend_where_sliding_turns(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    if (ctx.layer.token_mixer == token_mixer_kind::sliding_attention) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

}  // namespace cohere_detail

constexpr void parse_cohere(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.qk_norm = json.boolean("use_qk_norm", false);
}

/// Parses Cohere 2. By default, every `sliding_window_pattern`-th layer has full attention.
constexpr void parse_cohere2(config_view json, model_config& config) {
    require_sliding_window(json);
    if (parse_layer_types(json, config)) return;
    const std::int64_t pattern = json.positive("sliding_window_pattern", 4);
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{(i + 1) % pattern != 0 ? token_mixer_kind::sliding_attention
                                                 : token_mixer_kind::full_attention};
    });
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

// Cohere 2. Derived from Cohere. Three sliding-window layers precede each full-attention layer, which has no RoPE.
//
// Source: transformers/models/cohere2
inline constexpr model_spec cohere2 = [](model_spec spec) {
    spec.model_type = "cohere2";
    spec.class_prefix = "Cohere2";
    spec.parse_config = parse_cohere2;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.attention = cohere_detail::attend_where_sliding_turns;
    spec.defaults.sliding_window = 4096;
    return spec;
}(cohere);

}  // namespace llmcost::arch
