// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/linear.hpp>
#include <llmcost/model/architecture.hpp>

// The words that feed-forward blocks are made of, dense and with experts.
namespace llmcost {

/// A dense feed-forward block of a row, under this name and with this inner width.
constexpr value call_mlp(const site& here, trace& t, literal name, std::int64_t inner, const value& x) {
    const decoder_names& n = here.row.names;
    const literal prefix = is_empty(n.mlp_prefix) ? here.row.prefix : n.mlp_prefix;
    const any_mlp block{here.row.feed_forward, here.dims.hidden_size, inner, here.dims.hidden_act,
                        {prefix, n.mlp_type},  here.dims.mlp_bias,    n.mlp};
    return t.call(name, block, x);
}

/// The row's router over tokens (n, width): weights (n, k).
constexpr value call_router(const site& here, trace& t, const value& tokens) {
    const moe_sizes& m = here.dims.moe;
    const router_sizes r{
        here.dims.hidden_size, m.num_experts,   m.num_experts_per_tok, m.n_group,
        m.topk_group,          m.limits_groups, m.norm_topk_prob,      here.row.router == router_kind::top_k_softmax};
    return t.call(here.row.names.router, any_router{here.row.router, r, here.type(here.row.names.router_type)}, tokens)
        .second;
}

/// The row's routed experts over tokens (n, width) and weights (n, k).
constexpr value call_experts(const site& here, trace& t, const value& tokens, const value& weights) {
    const moe_sizes& m = here.dims.moe;
    const routed_rows all{here.dims.hidden_size, m.intermediate_size,  m.num_experts,
                          m.num_experts_per_tok, here.dims.hidden_act, here.type(here.row.names.experts_type)};
    if (here.row.expert == expert_kind::gated) return t.call("experts", experts<expert_kind::gated>{all}, tokens, weights);
    return t.call("experts", experts<expert_kind::clamped_swiglu>{all}, tokens, weights);
}

/// Router, routed experts and what stands beside them.
struct moe_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(here.row.names.moe_type); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.moe.shared_intermediate_size;
        const shared_expert_kind shared = here.row.shared_experts;
        const value tokens = x.view({-1, width});
        value beside;
        if (shared == shared_expert_kind::gated) beside = call_mlp(here, t, "shared_expert", inner, tokens);
        const value weights = call_router(here, t, tokens);
        const value routed = call_experts(here, t, tokens, weights);
        if (shared == shared_expert_kind::gated) {
            const value gate = t.sigmoid(t.call("shared_expert_gate", linear{width, 1}, tokens));
            return t.add(routed, t.mul(gate, beside)).view({x.dim(0), x.dim(1), width});
        }
        const value out = routed.view({x.dim(0), x.dim(1), width});
        if (shared == shared_expert_kind::none || inner == 0) return out;
        return t.add(out, call_mlp(here, t, "shared_experts", inner, x));
    }
};

/// What a router of a family's own makes of tokens (n, width): logits (n, experts) and weights (n, k).
using router_part = two_values (*)(const site&, trace&, const value&);

/// The module around one.
struct router_module {
    site here;
    router_part rule;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type(here.row.names.router_type); }
    constexpr two_values describe(trace& t, const value& tokens) const { return rule(here, t, tokens); }
};
constexpr value call_own_router(const site& here, trace& t, router_part rule, const value& tokens) {
    return t.call(here.row.names.router, router_module{here, rule}, tokens).second;
}

/// The module around a mixture of experts of a family's own.
struct mixture_module {
    site here;
    layer_part mixture;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type(here.row.names.moe_type); }
    constexpr value describe(trace& t, const value& x) const { return mixture(here, t, x); }
};

/// A mixture of a family's own in layers that have experts, else a dense block.
constexpr value feed_by_mixture(const site& here, trace& t, layer_part mixture, const value& x) {
    const literal name = here.row.names.feed_forward;
    if (here.kind.experts) return t.call(name, mixture_module{here, mixture}, x);
    return call_mlp(here, t, name, here.kind.inner != 0 ? here.kind.inner : here.dims.intermediate_size, x);
}

/// How evenly routers pick that cast their logits to float32: for rows whose `finish` says it, where a file asks for it.
constexpr void weigh_float_balance(const site& here, trace& t, bool asked) {
    if (!asked) return;
    const recorder::off_loss_guard unread{t};
    const std::int64_t routers = here.dims.layers.with_experts(here.dims.num_hidden_layers);
    weigh_balance(t, routers, t.load().batch * t.load().sequence, here.dims.moe, dtype::float32);
}

/// The feed-forward block of a layer: experts where the layer has them, else a dense one.
constexpr value feed_forward(const site& here, trace& t, const value& x) {
    const literal name = here.row.names.feed_forward;
    if (here.kind.experts) return t.call(name, moe_block{here}, x);
    return call_mlp(here, t, name, here.kind.inner != 0 ? here.kind.inner : here.dims.intermediate_size, x);
}

}  // namespace llmcost
