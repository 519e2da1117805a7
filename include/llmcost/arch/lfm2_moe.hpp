// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/lfm2.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace lfm2_moe_detail {

enum own : std::uint8_t { corrects };
inline constexpr own_key keys[]{{"use_expert_bias", 1, own_value::boolean}};

/// Experts whose activation is a function, no module.
struct experts_without_modules : routed_rows {
    static constexpr bool leaf = true;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, 2 * inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value half = t.linear(rows, t.select(up, 0)).slice(-1, inner);
        return summed(t, x, weights, t.linear(t.mul(activate(t, act, half), half), t.select(down, 0)));
    }
};

constexpr two_values pick(const site& here, trace& t, const value& tokens) {
    const moe_sizes& m = here.dims.moe;
    const std::int64_t k = m.num_experts_per_tok;
    const value logits = t.linear(tokens, t.param("weight", {m.num_experts, here.dims.hidden_size}));
    const value scores = t.sigmoid(logits);
    value best = here.dims.own[corrects] ? pick_corrected(t, scores, trace::buffer({m.num_experts}), k) : t.top_k(scores, k);
    if (m.norm_topk_prob) best = t.div(best, t.add(t.sum(best, -1, true)));
    return {logits, t.mul(best)};
}

constexpr value mixture(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const value tokens = x.view({-1, here.dims.hidden_size});
    const value weights = call_own_router(here, t, pick, tokens);
    const routed_rows all{here.dims.hidden_size, m.intermediate_size, m.num_experts,
                          m.num_experts_per_tok, activation::silu,    here.type("Experts")};
    return t.call("experts", experts_without_modules{all}, tokens, weights).view({x.dim(0), x.dim(1), -1});
}

constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

/// Experts behind the dense layers; the file lists which layers convolve.
constexpr void read(config_view config, sizes& s) {
    s.tie_word_embeddings = config.boolean("tie_embedding", s.tie_word_embeddings);
    read_experts(config, s, "num_experts");
    check_experts(config, s);
    s.hidden_act = activation::silu;
    s.ssm.conv_kernel = config.positive("conv_L_cache", 3);
    s.ssm.use_bias = config.boolean("conv_bias", false);
    if (!read_layer_types(config, s, mixer_kind::recurrent))
        fail_missing(config, "layer_types", "a list with one kind per hidden layer");
    const std::int64_t dense = config.non_negative("num_dense_layers", 2);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{given[i].mixer, i >= dense}; });
}

}  // namespace lfm2_moe_detail

// transformers/models/lfm2_moe: LFM2 with experts that a router with sigmoids picks
inline constexpr architecture lfm2_moe = [](architecture a) {
    a.model_type = "lfm2_moe", a.prefix = "Lfm2Moe", a.read = lfm2_moe_detail::read, a.own = lfm2_moe_detail::keys;
    a.feed = lfm2_moe_detail::feed;
    a.names.rotary = "pos_emb";
    a.keys[0] = no_mlp_bias, a.keys[1] = no_attention_bias;
    a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 7168;
    a.defaults.moe = {.num_experts = 32, .num_experts_per_tok = 4, .intermediate_size = 1792, .norm_topk_prob = true};
    return a;
}(lfm2);

}  // namespace llmcost::arch
