// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace minimax_m2_detail {

/// Sigmoids in float32; experts are picked by corrected ones, and weighed by their own, normed to one.
constexpr two_values pick(const site& here, trace& t, const value& tokens) {
    const moe_sizes& m = here.dims.moe;
    const value logits = t.linear(tokens, t.param("weight", {m.num_experts, here.dims.hidden_size}));
    const value scores = t.sigmoid(t.to(logits, dtype::float32));
    value weights = pick_corrected(t, scores, trace::buffer({m.num_experts}), m.num_experts_per_tok);
    t.in_place(op::div, weights, t.sum(weights, -1, true));
    return {logits, weights};
}

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value tokens = x.view({-1, here.dims.hidden_size});
    return call_experts(here, t, tokens, call_own_router(here, t, pick, tokens)).view({x.dim(0), x.dim(1), -1});
}

constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

/// Old files write the rotated part of a head as `rotary_dim` elements.
constexpr void read(config_view config, sizes& s) {
    const std::int64_t rotated = config.positive("rotary_dim", s.head_dim);
    if (rotated > s.head_dim) fail_value(config, "rotary_dim", "at most head_dim");
    const double part = static_cast<double>(rotated) / static_cast<double>(s.head_dim);
    s.rotary_dim = whole_pairs(s.head_dim, detail::read_partial_rotary_factor(config, part));
    read_experts(config, s, config.contains("num_experts") ? "num_experts" : "num_local_experts");
    read_balance(config, s);
    check_experts(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

}  // namespace minimax_m2_detail

// transformers/models/minimax_m2: norms over all queries and keys, a part of each head rotated, a router with sigmoids
inline constexpr architecture minimax_m2 = [](architecture a) {
    a.model_type = "minimax_m2", a.prefix = "MiniMaxM2", a.read = minimax_m2_detail::read, a.heads = language_heads;
    a.feed = minimax_m2_detail::feed, a.qk_norm = qk_norm_kind::whole, a.joins_rotated = true;
    a.keys[0] = no_mlp_bias, a.keys[1] = no_attention_bias;
    a.defaults.vocab_size = 200064, a.defaults.hidden_size = 3072, a.defaults.intermediate_size = 1536;
    a.defaults.num_hidden_layers = 62, a.defaults.num_attention_heads = 48, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 196608;
    a.defaults.moe.num_experts = 256, a.defaults.moe.num_experts_per_tok = 8;
    a.drops = noisy_router_dropout;
    return a;
}(llama);

}  // namespace llmcost::arch
