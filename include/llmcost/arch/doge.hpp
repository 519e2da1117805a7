// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace doge_detail {

enum own : std::uint8_t { keeps_keys, retrieves_experts };
inline constexpr own_key keys[]{
    {"keep_window_size", 2048},         // a query sees at most so many keys, those with the largest values in its mask
    {"is_moe", 0, own_value::boolean},  // experts that are rows of two tables, beside the feed-forward block
};

/// The mask that values make: what is masked, and where there are too many keys all but the largest, is filled.
constexpr value dynamic_mask(const site& here, trace& t, const value& of_keys) {
    const std::int64_t sequence = here.shared->where.sequence, length = of_keys.dim(2), kept = here.dims.own[keeps_keys];
    const value wide = of_keys.unsqueeze(2).expand({of_keys.dim(0), of_keys.dim(1), sequence, length});
    value mask = t.where(wide);
    t.edge(axis::total, kept + 1);
    const std::int64_t window = here.shared->where.window;  // once the cache is full, keys are as many more than new tokens
    if (window > 0 && kept + 2 > window) t.edge(axis::sequence, kept + 2 - window);
    if (length <= kept) return mask;
    const value none = t.zeros_like(mask);
    {
        const recorder::off_loss_guard indices{t};
        (void)t.top_k(mask, kept);
    }
    (void)t.unary(op::scatter, none);
    return t.where(mask);
}

/// Keys are masked by what their values say: exp(A · softplus(values · weight)).
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t heads = here.dims.num_attention_heads, groups = here.dims.num_key_value_heads;
    const std::int64_t d = here.dims.head_dim, batch = x.dim(0);
    const value a = t.param("A", {groups});
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    const value values = t.reshape(of.v.transpose(1, 2), {batch, of.v.dim(2), -1});
    const value steps = t.call("dt_proj", linear{groups * d, groups, here.dims.attention_bias}, values);
    const value of_keys = t.exp(t.mul(a, t.softplus(steps))).transpose(-1, -2);
    const value mask = repeat_kv(t, dynamic_mask(here, t, of_keys), heads / groups);
    const value found = eager_attention(t, of.q, of.k, of.v, here.shared->where, {.mask = &mask});
    return join(here, t, t.contiguous(t.reshape(found, {batch, x.dim(1), -1})));
}

/// A table of experts, one row each, of which every token picks so many: (tokens, k, width).
struct expert_rows {
    const moe_sizes& m;
    std::int64_t width;

    static constexpr role what = role::experts;
    static constexpr bool leaf = true;
    [[nodiscard]] static constexpr class_name type() { return {"", "Embedding"}; }
    constexpr value describe(trace& t, std::int64_t tokens) const {
        const value table = t.param("weight", {m.num_experts, width}, m.num_experts_per_tok, m.num_experts);
        return t.gather(table, {tokens, m.num_experts_per_tok, width});
    }
};

/// A feed-forward block, and experts of one feature each whose scores are sums of two logits.
struct retrieval {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("CDMoE"); }
    constexpr value describe(trace& t, const value& x) const {
        const moe_sizes& m = here.dims.moe;
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const std::int64_t tokens = x.dim(0) * x.dim(1), sides = m.n_group;
        const activation_module act{here.dims.hidden_act};
        const value logits = t.call("router_gate", linear{width, 2 * sides}, x).view({2, tokens, sides});
        const value both = t.top_k(logits, sides);
        const value sums = t.add(both.select(0).unsqueeze(-1), both.select(0).unsqueeze(-2));
        value weights = t.softmax(t.top_k(sums.view({tokens, sides * sides}), m.num_experts_per_tok));
        if (m.norm_topk_prob) t.in_place(op::div, weights, t.sum(weights, -1, true));
        const value down = t.call("down_embed", expert_rows{m, width}, tokens);
        const value up = t.call("up_embed", expert_rows{m, width}, tokens);
        const value found = t.matmul(down, x.view({tokens, width, 1})).view({tokens, m.num_experts_per_tok});
        const value scaled = t.mul(t.call("act_fn", act, found), weights).view({tokens, 1, m.num_experts_per_tok});
        const value routed = t.matmul(scaled, up).view({x.dim(0), x.dim(1), width});
        const value gate = t.call("act_fn", act, t.call("gate_proj", linear{width, inner, here.dims.mlp_bias}, x));
        const value wide = t.mul(gate, t.call("up_proj", linear{width, inner, here.dims.mlp_bias}, x));
        return t.add(t.call("down_proj", linear{inner, width, here.dims.mlp_bias}, wide), routed);
    }
};

constexpr value feed(const site& here, trace& t, const value& x) {
    return here.dims.own[retrieves_experts] != 0 ? t.call("mlp", retrieval{here}, x) : feed_forward(here, t, x);
}

/// What goes around a block is scaled feature by feature.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value around = t.param("input_residual", {here.dims.hidden_size});
    const value later = t.param("post_attention_residual", {here.dims.hidden_size});
    value h = mixed(here, t, normed(here, t, "input_layernorm", x));
    const value middle = t.add(t.mul(around, x), drop(t, h, dropout_of::hidden));
    h = here.row.feed(here, t, normed(here, t, "post_attention_layernorm", middle));
    return t.add(t.mul(later, middle), drop(t, h, dropout_of::hidden));
}

constexpr void read(config_view config, sizes& s) {
    read_window(config, s);
    if (s.own[retrieves_experts] == 0) return;
    if (config.boolean("output_router_logits", false))
        fail_unsupported(config, "output_router_logits", "no row describes how evenly pairs of keys are picked");
    s.moe.num_experts = config.positive("num_experts", 16384);
    s.moe.num_experts_per_tok = config.positive("num_experts_per_tok", 64);
    s.moe.norm_topk_prob = config.boolean("norm_topk_prob", false);
    s.moe.n_group = 1;  // keys on each of two sides: the whole part of the root of how many experts there are
    while ((s.moe.n_group + 1) * (s.moe.n_group + 1) <= s.moe.num_experts) ++s.moe.n_group;
    if (s.moe.num_experts_per_tok > s.moe.n_group * s.moe.n_group)
        fail_value(config, "num_experts_per_tok", "at most the number of pairs of keys");
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout"},
                                             {dropout_of::attention, "attention_dropout"}};

}  // namespace doge_detail

// transformers/models/doge: a mask made of values, residuals scaled by parameters, experts found by pairs of keys
inline constexpr architecture doge = [](architecture a) {
    a.heads = classifying_decoder_heads;
    a.model_type = "doge", a.prefix = "Doge", a.read = doge_detail::read, a.own = doge_detail::keys;
    a.layer = doge_detail::layer, a.attend = doge_detail::attend, a.feed = doge_detail::feed;
    a.defaults.vocab_size = 32768, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 2048;
    a.defaults.num_attention_heads = 8;
    a.drops = doge_detail::dropout_rates;
    return a;
}(llama);

}  // namespace llmcost::arch
