// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/kimi_linear.hpp>

namespace llmcost::arch {

namespace bailing_hybrid_detail {

enum own : std::uint8_t { linear_head_dim, conv_kernel, bounds_gate, linear_heads };
inline constexpr own_key keys[]{
    {"head_dim", 128},
    {"short_conv_kernel_size", 4},
    {"kda_safe_gate", 1, own_value::boolean},
    {.value = own_value::computed},  // as many as other heads, unless a file that was written back says otherwise
};

/// How much of every element of a head is kept, by a softplus, or by a sigmoid times its lower bound.
struct forget_gate {
    std::int64_t width, heads, dim;
    bool bounded;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "ForgetGate"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value a_log = t.param("A_log", {heads}), bias = t.param("dt_bias", {heads * dim});
        const value f = t.to(t.call("f_proj", linear{width, heads * dim}, x), dtype::float32);
        const value g = t.add(f.view({x.dim(0), x.dim(1), heads, dim}), bias.view({1, 1, heads, dim}));
        const value rate = t.exp(a_log).view({1, 1, heads, 1});
        const value kept = bounded ? t.mul(t.sigmoid(t.mul(rate, g))) : t.mul(t.neg(rate), t.softplus(g));
        return t.to(kept, x.type);
    }
};

struct gates {
    std::int64_t width, heads, dim;
    bool bounded;
    literal prefix;

    constexpr value decay(trace& t, const value& x) const {
        return t.call("forget_gate", forget_gate{width, heads, dim, bounded, prefix}, x);
    }
    constexpr value output(trace& t, const value& x) const { return t.call("g_proj", linear{width, heads * dim}, x); }
};

constexpr value recur(const site& here, trace& t, const value& x) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, heads = own[linear_heads], dim = own[linear_head_dim];
    const kimi_delta_attention<gates> layer{width,
                                            heads,
                                            dim,
                                            own[conv_kernel],
                                            here.dims.hidden_act,
                                            here.row.prefix,
                                            {width, heads, dim, own[bounds_gate] != 0, here.row.prefix}};
    return t.call(here.row.names.recurrent, layer, x);
}

/// Latent attention whose heads are scaled by a gate each.
struct gated_attention {
    latent_attention base;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return base.type(); }
    constexpr value describe(trace& t, const value& x) const {
        const latent_attention::parts p = base.remembered(t, x, base.queries(t, x));
        const value found = base.attended(t, p, base.mask);
        const value gate =
            t.to(t.sigmoid(t.to(t.call("g_proj", linear{base.width, base.heads}, x), dtype::float32)), x.type);
        const value scaled = t.reshape(t.mul(found, gate.unsqueeze(-1)), {x.dim(0), x.dim(1), -1});
        return base.joined(t, t.contiguous(scaled));
    }
};

constexpr value mix(const site& here, trace& t, const value& x) {
    return t.call(here.row.names.attention, gated_attention{latent_attention_of(here)}, x);
}

/// Layers that attend in full, with experts (vllm/model_executor/models/bailing_moe_mtp.py).
constexpr void predict(const site& here, trace& t, const value& x) {
    predict_further(here, t, x, {{mixer_kind::full_attention, true}});
}

constexpr void read(config_view config, sizes& s) {
    read_latent_attention(config, s);
    s.mla.q_lora_rank = 0;  // queries have no such step, whatever a file says
    s.rope_interleave = true;
    s.tie_word_embeddings = false;  // `_tied_weights_keys` is empty
    kimi_linear_detail::read_mixture(config, s);
    // attributes that `__post_init__` makes of others, which files that were written back have, too
    s.own[linear_head_dim] = config.positive("linear_head_dim", s.own[linear_head_dim]);
    s.own[linear_heads] = config.positive("linear_num_heads", s.num_attention_heads);
    s.own[conv_kernel] = config.positive("linear_conv_kernel_dim", s.own[conv_kernel]);
    (void)checked_width(config, "head_dim", s.own[linear_heads], 3 * s.own[linear_head_dim]);
    const std::int64_t group = config.positive("layer_group_size", 6);
    kimi_linear_detail::plan(config, s, config.non_negative("first_k_dense_replace", 2),
                             [&](std::int64_t i) { return (i + 1) % group == 0; });
}

}  // namespace bailing_hybrid_detail

// transformers/models/bailing_hybrid: Kimi delta attention, latent attention with a gate per head, DeepSeek V3's experts
inline constexpr architecture bailing_hybrid = [](architecture a) {
    a.model_type = "bailing_hybrid", a.prefix = "BailingHybrid";
    a.read = bailing_hybrid_detail::read, a.own = bailing_hybrid_detail::keys;
    a.recur = bailing_hybrid_detail::recur, a.mix = bailing_hybrid_detail::mix;
    a.rotated = rotation::split_pairs, a.predict = bailing_hybrid_detail::predict;
    a.defaults.vocab_size = 157184, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 6144;
    a.defaults.num_hidden_layers = 42, a.defaults.max_position_embeddings = 262144;
    a.defaults.moe.num_experts = 512, a.defaults.moe.intermediate_size = 768;
    a.defaults.moe.n_group = 8, a.defaults.moe.topk_group = 4;
    return a;
}(kimi_linear);

}  // namespace llmcost::arch
