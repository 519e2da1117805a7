// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/kimi_linear.hpp>
#include <llmcost/config/linear_attention.hpp>

// Bailing hybrid. Derived from Kimi Linear, with these differences:
//  - Kimi delta attention and latent attention with a gate per head;
//  - DeepSeek V3's experts.
//
// Source: transformers/models/bailing_hybrid

namespace llmcost::arch {

namespace bailing_hybrid_detail {

enum family_config_index : std::uint8_t { linear_head_dim, conv_kernel, bounds_gate, linear_heads };
inline constexpr family_key family_keys[]{
    {"head_dim", 128},
    {"short_conv_kernel_size", 4},
    {"kda_safe_gate", 1, family_key_type::boolean},
    {.type = family_key_type::computed},  // default: num_attention_heads
};

/// Forget gate for every element of a head: a softplus, or a sigmoid times its lower bound.
struct forget_gate {
    std::int64_t width, heads, dim;
    bool bounded;
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "ForgetGate"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor a_log = t.float32_param("A_log", {heads}), bias = t.float32_param("dt_bias", {heads * dim});
        const tensor f = t.to(t.call("f_proj", linear{width, heads * dim}, x), dtype::float32);
        const tensor g = t.add(f.view({x.dim(0), x.dim(1), heads, dim}), bias.view({1, 1, heads, dim}));
        const tensor rate = t.exp(a_log).view({1, 1, heads, 1});
        if (bounded) return t.to(t.mul_scalar(t.sigmoid(t.mul(rate, g))), x.type);
        const tensor negative_rate = t.neg(rate);
        return t.to(t.mul(negative_rate, t.softplus(g)), x.type);
    }
};

struct gates {
    std::int64_t width, heads, dim;
    bool bounded;
    literal prefix;

    constexpr tensor decay(trace& t, const tensor& x) const {
        return t.call("forget_gate", forget_gate{width, heads, dim, bounded, prefix}, x);
    }
    constexpr tensor output(trace& t, const tensor& x) const { return t.call("g_proj", linear{width, heads * dim}, x); }
};

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size, heads = family[linear_heads], dim = family[linear_head_dim];
    const kimi_delta_attention<gates> layer{width,
                                            heads,
                                            dim,
                                            family[conv_kernel],
                                            ctx.config.hidden_act,
                                            ctx.spec.class_prefix,
                                            {width, heads, dim, family[bounds_gate] != 0, ctx.spec.class_prefix},
                                            true};
    return t.call(ctx.spec.names.recurrent_block, layer, x);
}

/// Latent attention with one output gate per head.
struct gated_attention {
    latent_attention base;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return base.type_name(); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const latent_attention::projected_states p = base.update_latent_cache(t, x, base.project_queries(t, x));
        const tensor found = base.attended(t, p, base.mask);
        const tensor gate =
            t.to(t.sigmoid(t.to(t.call("g_proj", linear{base.width, base.heads}, x), dtype::float32)), x.type);
        const tensor scaled = t.reshape(t.mul(found, gate.unsqueeze(-1)), {x.dim(0), x.dim(1), -1});
        return base.output_projection(t, t.contiguous(scaled));
    }
};

constexpr tensor token_mixer(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call(ctx.spec.names.attention, gated_attention{make_latent_attention(ctx)}, x);
}

/// Multi-token prediction with full attention and experts.
///
/// Source: vllm/model_executor/models/bailing_moe_mtp.py.
constexpr void multi_token_prediction(const layer_context& ctx, trace& t, const tensor& x) {
    trace_mtp_layers(ctx, t, x, {{token_mixer_kind::full_attention, true}});
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_latent_attention(json, config);
    config.mla.q_lora_rank = 0;  // queries have no low-rank projection, independent of the file
    config.rope_interleave = true;
    config.tie_word_embeddings = false;  // `_tied_weights_keys` is empty
    parse_kimi_experts(json, config);
    // `__post_init__` derives these attributes from others; serialized configurations contain them, too
    config.family[linear_head_dim] = json.positive("linear_head_dim", config.family[linear_head_dim]);
    config.family[linear_heads] = json.positive("linear_num_heads", config.num_attention_heads);
    config.family[conv_kernel] = json.positive("linear_conv_kernel_dim", config.family[conv_kernel]);
    (void)checked_size(json, "head_dim", config.family[linear_heads], 3 * config.family[linear_head_dim]);
    const std::int64_t group = json.positive("layer_group_size", 6);
    set_linear_attention_layers(json, config, json.non_negative("first_k_dense_replace", 2),
                                [&](std::int64_t i) { return (i + 1) % group == 0; });
}

}  // namespace bailing_hybrid_detail

inline constexpr model_spec bailing_hybrid = [](model_spec spec) {
    spec.model_type = "bailing_hybrid";
    spec.class_prefix = "BailingHybrid";
    spec.parse_config = bailing_hybrid_detail::parse_config;
    spec.family_keys = bailing_hybrid_detail::family_keys;
    spec.recurrent_block = bailing_hybrid_detail::recurrent_block;
    spec.token_mixer = bailing_hybrid_detail::token_mixer;
    spec.rotary = rotary_style::interleaved_split;
    spec.multi_token_prediction = bailing_hybrid_detail::multi_token_prediction;
    spec.defaults.vocab_size = 157184;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_hidden_layers = 42;
    spec.defaults.max_position_embeddings = 262144;
    spec.defaults.moe.num_experts = 512;
    spec.defaults.moe.intermediate_size = 768;
    spec.defaults.moe.n_group = 8;
    spec.defaults.moe.topk_group = 4;
    return spec;
}(kimi_linear);

}  // namespace llmcost::arch
