// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/cohere.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace cohere2_moe_detail {

enum own : std::uint8_t { rms_norms, picks_by_sigmoid, averages };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // norms of the mean square, where the file has `rms_norm_eps`
    {.value = own_value::computed},  // experts are weighed by sigmoids
    {.value = own_value::computed},  // routed and shared experts are averaged
};

/// The word of layers whose attention knows of no positions.
inline constexpr std::uint8_t unrotated = 1;

constexpr value normed_by_either(const site& here, trace& t, literal name, const value& x) {
    const bool rms = here.dims.own[rms_norms] != 0;
    const class_name named = here.type(rms ? "RMSNorm" : "LayerNorm");
    return call_norm(t, name, rms ? norm_kind::rms : norm_kind::layer_spelled, here.dims.hidden_size, named, x);
}

/// Mixer and feed-forward side by side behind one norm.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value h = normed_by_either(here, t, "input_layernorm", x);
    const value a = mixed(here, t, h);
    return t.add(t.add(x, a), here.row.feed(here, t, h));
}

constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return normed_by_either(here, t, "norm", describe_layers(here, t, shared, x));
}

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    if (here.kind.own != unrotated) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// The largest logits, each through a sigmoid or all through a softmax.
constexpr two_values pick(const site& here, trace& t, const value& tokens) {
    const moe_sizes& m = here.dims.moe;
    const value logits = t.linear(tokens, t.param("weight", {m.num_experts, here.dims.hidden_size}));
    value best = t.top_k(logits, m.num_experts_per_tok);
    if (!here.dims.own[picks_by_sigmoid]) return {logits, t.to(t.softmax(t.to(best, dtype::float32)), tokens.type)};
    best = t.sigmoid(best);
    if (m.norm_topk_prob) best = t.div(best, t.sum(best, -1, true));
    return {logits, best};
}

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value tokens = x.view({-1, here.dims.hidden_size});
    const std::int64_t inner = here.dims.moe.shared_intermediate_size;
    value out = call_experts(here, t, tokens, call_own_router(here, t, pick, tokens));
    if (inner != 0) out = t.add(out, call_mlp(here, t, "shared_experts", inner, tokens));
    if (inner != 0 && here.dims.own[averages]) out = t.div(out);
    return out.view({x.dim(0), x.dim(1), here.dims.hidden_size});
}

constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

/// One of two words under a key, the first without it; says whether it is the second.
constexpr bool read_second(config_view config, literal key, literal first, literal second) {
    const string_ref word = config.string(key, first);
    if (word != first && word != second) fail_unsupported(config, key, "the reference has no such rule");
    return word == second;
}

/// Dense layers in front have windows by a pattern of their own, the others by one that begins behind them.
constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    check_experts(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    s.moe.shared_intermediate_size =
        checked_width(config, "num_shared_experts", config.non_negative("num_shared_experts", 0), s.intermediate_size);
    s.own[rms_norms] = config.optional_real("rms_norm_eps").has_value();
    s.own[picks_by_sigmoid] = read_second(config, "expert_selection_fn", "softmax", "sigmoid");
    s.own[averages] = !read_second(config, "shared_expert_combination_strategy", "average", "sum");
    const std::int64_t dense = config.non_negative("first_k_dense_replace", 0);
    const std::int64_t period = config.positive("sliding_window_pattern", 4);
    const std::int64_t dense_period = config.positive("prefix_dense_sliding_window_pattern", 1);
    const std::int64_t inner = config.optional_positive("prefix_dense_intermediate_size").value_or(s.intermediate_size);
    const bool listed = read_layer_types(config, s);
    if (!listed && dense > s.num_hidden_layers) fail_value(config, "first_k_dense_replace", "at most num_hidden_layers");
    const layer_plan given = s.layers;
    const sparse_places experts(config, s, dense);
    plan_layers(config, s, [&](std::int64_t i) {
        const bool by_rule = i < dense ? (i + 1) % dense_period != 0 : (i - dense + 1) % period != 0;
        const bool slides = listed ? given[i].mixer == mixer_kind::sliding_attention : by_rule;
        const bool turns = slides || (!experts.has(i) && dense_period == 1);
        return layer_kind{slides ? mixer_kind::sliding_attention : mixer_kind::full_attention, experts.has(i),
                          turns ? std::uint8_t{} : unrotated, experts.has(i) ? 0 : static_cast<std::int32_t>(inner)};
    });
}

}  // namespace cohere2_moe_detail

// transformers/models/cohere2_moe: Cohere's layers with experts; only windows and dense layers know positions
inline constexpr architecture cohere2_moe = [](architecture a) {
    a.model_type = "cohere2_moe", a.prefix = "Cohere2Moe", a.read = cohere2_moe_detail::read;
    a.own = cohere2_moe_detail::keys, a.kinds.own = cohere2_moe_detail::unrotated;
    a.masks = mask_rule::full_and_sliding, a.base = cohere2_moe_detail::base, a.layer = cohere2_moe_detail::layer;
    a.attend = cohere2_moe_detail::attend, a.feed = cohere2_moe_detail::feed;
    a.defaults.head_dim = 128, a.defaults.sliding_window = 4096;
    a.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2, .norm_topk_prob = true};
    return a;
}(cohere);

}  // namespace llmcost::arch
