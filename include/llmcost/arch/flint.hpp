// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace flint_detail {

enum own : std::uint8_t { weighs_balance };
inline constexpr own_key keys[]{
    {"output_router_logits", 0, own_value::boolean},
};

/// Scores and their softmax stay in float32; every head has one logit more, which takes part in it.
constexpr value look_up_beside_sinks(const site& here, trace& t, const qkv& of, const value& sinks) {
    const shared_values& s = *here.shared;
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), s.where, of.k.dim(2))};
    const std::int64_t batch = of.q.dim(0), heads = of.q.dim(1), sequence = of.q.dim(2), groups = heads / of.k.dim(1);
    const value keys = repeat_kv(t, of.k, groups), values = repeat_kv(t, of.v, groups);
    const bool sparse = t.load().attention == attention_scores::causal;
    const value q = t.to(of.q, dtype::float32), k = t.to(keys, dtype::float32);
    value scores = t.mul(t.matmul(q, k.transpose(2, 3), sparse ? s.where.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, s.mask);
    const value column = sinks.view({1, heads, 1, 1}).expand({batch, heads, sequence, 1});
    value seen = t.slice(t.softmax(t.cat({scores, column}, -1)), -1, s.where.length());
    if (scores.visible != 0) trace::see(seen, scores.visible);
    seen = drop(t, t.to(seen, of.v.type), dropout_of::attention);
    return t.contiguous(t.matmul(seen, values).transpose(1, 2));
}

/// Layers that slide rotate queries and keys, full ones know of no positions.
constexpr value attend(const site& here, trace& t, const value& x) {
    const value sinks = t.param("sinks", {here.dims.num_attention_heads});
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    norm_queries_and_keys(here, t, of, here.dims.head_dim, here.dims.head_dim);
    heads_first(of);
    if (here.kind.mixer == mixer_kind::sliding_attention) turn(here, t, of);
    remember(here, t, of);
    const value found = look_up_beside_sinks(here, t, of, sinks);
    return join(here, t, t.reshape(found, {x.dim(0), x.dim(1), -1}));
}

/// Sigmoids of logits in float32, the largest k, perhaps divided by their sum: (tokens, k).
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("TopKRouter"); }
    constexpr two_values describe(trace& t, const value& tokens) const {
        const moe_sizes& m = here.dims.moe;
        const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
        const value logits = t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32));
        const value largest = t.top_k(t.sigmoid(logits), m.num_experts_per_tok);
        return {logits, m.norm_topk_prob ? t.div(largest, t.sum(largest, -1, true)) : largest};
    }
};

/// Routed experts, and a shared one without a gate.
struct mixture {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SparseMoeBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const value tokens = x.view({-1, here.dims.hidden_size});
        const value weights = t.call("gate", router{here}, tokens).second;
        const value routed = call_experts(here, t, tokens, weights);
        const value shared = call_mlp(here, t, "shared_expert", here.dims.moe.shared_intermediate_size, tokens);
        return t.reshape(t.add(routed, shared), {x.dim(0), x.dim(1), here.dims.hidden_size});
    }
};

constexpr value feed(const site& here, trace& t, const value& x) {
    return here.kind.experts ? t.call("mlp", mixture{here}, x) : feed_forward(here, t, x);
}

/// How evenly the routers pick is weighed by logits in float32, beside a loss over labels.
constexpr value finish(const site& here, trace& t, const value& logits) {
    const recorder::off_loss_guard unread{t};
    const std::int64_t routers = here.dims.layers.with_experts(here.dims.num_hidden_layers);
    if (here.dims.own[weighs_balance] != 0 && routers > 0)
        weigh_balance(t, routers, t.load().batch * t.load().sequence, here.dims.moe, dtype::float32);
    return logits;
}

/// The first two layers, every fourth one and the last are full; the first two have no experts.
constexpr void read(config_view config, sizes& s) {
    check_window_is_given(config);
    read_experts(config, s, "num_experts");
    s.moe.shared_intermediate_size = config.positive("shared_expert_intermediate_size", 1024);
    const std::int64_t step = config.positive("decoder_sparse_step", 1);
    const auto list = config.optional_array("mlp_only_layers");
    const layer_set dense = list ? layer_set(*list) : layer_set{};
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool full = i < 2 || i % 4 == 1 || i == s.num_hidden_layers - 1;
        const mixer_kind by_rule = full ? mixer_kind::full_attention : mixer_kind::sliding_attention;
        const bool sparse = s.moe.num_experts > 0 && (i + 1) % step == 0 && !(list ? dense.has(i) : i < 2);
        return layer_kind{listed ? given[i].mixer : by_rule, sparse};
    });
}

}  // namespace flint_detail

// transformers/models/flint: sinks, full layers without positions, a sigmoid router beside a shared expert
inline constexpr architecture flint = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "flint", a.prefix = "Flint", a.read = flint_detail::read, a.attend = flint_detail::attend;
    a.feed = flint_detail::feed, a.finish = flint_detail::finish, a.own = flint_detail::keys;
    a.norm = norm_kind::rms_cast_last, a.masks = mask_rule::full_and_sliding;
    a.defaults.vocab_size = 150144, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 6144;
    a.defaults.num_hidden_layers = 49, a.defaults.num_key_value_heads = 4, a.defaults.head_dim = 128;
    a.defaults.max_position_embeddings = 262144, a.defaults.sliding_window = 513;
    a.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 6, .intermediate_size = 512, .norm_topk_prob = true};
    a.keys[0] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
