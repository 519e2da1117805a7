// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace qwen_detail {

enum family_config_index : std::uint8_t { seq_length, scales_long_queries };
inline constexpr family_key family_keys[]{{"seq_length", 2048}, {"use_logn_attn", 1, family_key_type::boolean}};

/// Queries of texts longer than those it learnt from are scaled by their positions.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const family_config& family = ctx.config.family;
    const workload& load = t.load();
    query_key_value qkv = project_fused_qkv(ctx, t, x);
    if (family[scales_long_queries] == 0) return output_projection(ctx, t, attention_from_qkv(ctx, t, qkv));
    t.add_region_edge(workload_axis::total, family[seq_length] + 1);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    if (load.past + load.sequence > family[seq_length])
        qkv.query = t.mul(qkv.query, trace::buffer({1, 1, load.sequence, 1}));
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Both projections of a block share its inner width.
constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    config.attention_bias = true;
    config.output_bias = config.mlp_bias = !json.boolean("no_bias", true);
    if (config.intermediate_size % 2 != 0) throw_invalid_value(json, "intermediate_size", "an even number");
    config.intermediate_size /= 2;
    const double part = json.real("rotary_pct", 1.0);
    if (part != 1.0) config.rotary_dim = round_rotary_dim(config.head_dim, part);
}

}  // namespace qwen_detail

// modeling_qwen.py of Qwen/Qwen-7B: Llama under GPT-2's names, one projection with biases for queries, keys and values
inline constexpr model_spec qwen = [](model_spec spec) {
    spec.model_type = "qwen";
    spec.class_prefix = "QWen";
    spec.is_remote_code = true;
    spec.parse_config = qwen_detail::parse_config;
    spec.family_keys = qwen_detail::family_keys;
    spec.attention = qwen_detail::attention;
    spec.supported_heads = language_heads;
    spec.dropout_keys = {};
    spec.names.causal_lm_class = "LMHeadModel";
    spec.names.base_model = "transformer";
    spec.names.layer_class = "Block";
    spec.names.embed_tokens = "wte";
    spec.names.layers = "h";
    spec.names.norm = "ln_f";
    spec.names.norm_class = "RMSNorm";
    spec.names.attention = "attn";
    spec.names.q_proj = "c_attn";
    spec.names.o_proj = "c_proj";
    spec.names.mlp_modules = {.gate = "w2", .up = "w1", .down = "c_proj", .act = ""};
    spec.names.pre_attention_norm = "ln_1";
    spec.names.pre_mlp_norm = "ln_2";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", "kv_channels", key_rule::family_name_first);
    spec.defaults.vocab_size = 151936;
    spec.defaults.intermediate_size = 22016;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.head_dim = 128;
    return spec;
}(llama);

}  // namespace llmcost::arch
