// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/model/sizes.hpp>

namespace llmcost {

/// How a router turns logits into weights of the experts it picks.
enum class router_kind : std::uint8_t {
    none,
    softmax_top_k,        ///< softmax over all experts, the largest k, perhaps normed to one (Qwen, OLMoE)
    softmax_top_k_float,  ///< the same, but the weights stay float32 (Mixtral)
    top_k_softmax,        ///< the largest k logits, softmax over those (gpt-oss)
    softmax_grouped,      ///< in float32: softmax, groups perhaps limited, weights times a constant (DeepSeek V2)
    sigmoid_grouped       ///< in float32: sigmoid and a correction, groups limited, normed, times a constant (DeepSeek V3)
};

/// Sizes of a router.
struct router_sizes {
    std::int64_t width;
    std::int64_t num_experts;
    std::int64_t num_experts_per_tok;
    std::int64_t n_group = 1;
    std::int64_t topk_group = 1;
    bool limits_groups = false;
    bool norms = false;  ///< weights of the picked experts divided by their sum
    bool bias = false;
};

/// Picks experts by a rule of any kind: x (…, width) -> logits (tokens, experts) and weights (tokens, k).
///
/// MULT tokens·width·experts and what the scoring costs; picking itself is free.
struct any_router {
    router_kind kind;
    router_sizes dims;
    class_name named;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr two_values describe(trace& t, const value& x) const {
        const std::int64_t k = dims.num_experts_per_tok;
        const value tokens = t.reshape(x, {-1, dims.width});
        const value weight = t.param("weight", {dims.num_experts, dims.width});
        value bias;
        if (dims.bias) bias = t.param("bias", {dims.num_experts});
        const bool in_float = kind == router_kind::softmax_grouped || kind == router_kind::sigmoid_grouped;
        const value logits = in_float ? t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32))
                                      : t.linear(tokens, weight, dims.bias ? &bias : nullptr);
        if (kind == router_kind::top_k_softmax) return {logits, t.softmax(t.top_k(logits, k))};
        if (kind == router_kind::softmax_grouped) {
            value scores = t.softmax_method(logits);
            if (dims.limits_groups) {
                pick_groups(t, scores, false);
                scores = t.where(scores);
            }
            return {logits, t.mul(t.top_k(scores, k))};
        }
        if (kind == router_kind::sigmoid_grouped) {
            const value scores = t.sigmoid(logits);
            pick(t, scores);
            value weights = t.gather(scores, {tokens.dim(0), k});
            if (dims.norms) t.in_place(op::div, weights, t.add(t.sum(weights, -1, true)));
            return {logits, t.mul(weights)};
        }
        value weights = t.top_k(t.softmax(t.to(logits, dtype::float32)), k);
        if (dims.norms) t.in_place(op::div, weights, t.sum(weights, -1, true));
        return {logits, kind == router_kind::softmax_top_k_float ? weights : t.to(weights, logits.type)};
    }

    /// The indices of the best experts of the best groups, by corrected scores.
    constexpr void pick(trace& t, const value& scores) const {
        const recorder::off_loss_guard indices{t};
        const value choice = t.add(scores, trace::buffer({dims.num_experts}));
        pick_groups(t, choice, true);
        (void)t.top_k(t.where(choice), dims.num_experts_per_tok);
    }

    /// A mask of the groups that are worth most, by their best expert or their two best, spread over experts.
    constexpr void pick_groups(trace& t, const value& scores, bool by_two) const {
        const recorder::off_loss_guard indices{t};
        const value in_groups = scores.view({-1, dims.n_group, dims.num_experts / dims.n_group});
        const value of_groups = by_two ? t.sum(t.top_k(in_groups, 2), -1) : t.max_over(in_groups, -1);
        (void)t.top_k(of_groups, dims.topk_group);
        const value mask = t.constant({of_groups.dim(0), dims.n_group, 1});
        const value spread = mask.expand({of_groups.dim(0), dims.n_group, dims.num_experts / dims.n_group});
        (void)t.reshape(spread, {-1, dims.num_experts});
    }
};

/// Scores of the k experts that are best by scores with a correction added: (n, experts) -> (n, k).
constexpr value pick_corrected(trace& t, const value& scores, const value& correction, std::int64_t k) {
    {
        const recorder::off_loss_guard indices{t};
        (void)t.top_k(t.add(scores, correction), k);
    }
    return t.gather(scores, {scores.dim(0), k});
}

/// Picks experts by a rule of one kind: `router<router_kind::softmax_top_k>{dims, named}`.
template <router_kind Kind>
struct router : any_router {
    constexpr router(const router_sizes& sizes, class_name called) : any_router{Kind, sizes, called} {}
};

/// How an expert's weights are stored and its gate applied.
enum class expert_kind : std::uint8_t {
    gated,          ///< linear layers, gate and up in one, down(act(gate) · up)
    clamped_swiglu  ///< transposed weights with biases, clamped gate and up, (up + 1) · gate · σ(α gate) (gpt-oss)
};

/// What routed experts of every kind have in common: sizes, and the ways in and out of them.
struct routed_rows {
    std::int64_t width;
    std::int64_t inner;
    std::int64_t num_experts;
    std::int64_t num_experts_per_tok;
    activation act;
    class_name named;

    static constexpr role what = role::experts;
    [[nodiscard]] constexpr class_name type() const { return named; }

protected:
    [[nodiscard]] constexpr fused_part part(std::int64_t tokens) const {
        return {.kind = fused_kind::experts,
                .tokens = tokens,
                .width = width,
                .inner = inner,
                .num_experts = num_experts,
                .num_experts_per_tok = num_experts_per_tok};
    }
    constexpr value param(trace& t, literal name, const extents& sizes) const {
        return t.param(name, sizes, num_experts_per_tok, num_experts);
    }
    /// What the experts are given: the rows of all tokens, one after the other for each expert.
    constexpr value picked(trace& t, const value& x) const {
        return t.gather(x, {checked_product(x.dim(0), num_experts_per_tok), width});
    }
    /// The experts' outputs, weighted, added up by token.
    constexpr value summed(trace& t, const value& x, const value& weights, value h) const {
        const std::int64_t tokens = x.dim(0);
        h = t.mul(h, t.gather(weights, {h.dim(0), 1}));
        value sum = t.constant({tokens, width}, x.type);
        t.index_add(sum, t.to(h, x.type));
        return sum;
    }
};

/// All routed experts of a layer; every token meets exactly k of them.
///
/// x (tokens, width), weights (tokens, k) -> (tokens, width); MULT tokens·k·3·width·inner and the gating.
template <expert_kind Kind>
struct experts;

template <>
struct experts<expert_kind::gated> : routed_rows {
    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, 2 * inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value half = t.linear(rows, t.select(up, 0)).slice(-1, inner);
        const value h = t.linear(t.mul(t.call("act_fn", activation_module{act}, half), half), t.select(down, 0));
        return summed(t, x, weights, h);
    }
};

template <>
struct experts<expert_kind::clamped_swiglu> : routed_rows {
    static constexpr bool leaf = true;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, width, 2 * inner}),
                    up_bias = param(t, "gate_up_proj_bias", {num_experts, 2 * inner}),
                    down = param(t, "down_proj", {num_experts, inner, width}),
                    down_bias = param(t, "down_proj_bias", {num_experts, width});
        const value both = t.add(t.matmul_operator(rows, t.select(up, 0)), t.select(up_bias, 0));
        const value gate = t.unary(op::compare, t.slice(both, -1, inner, 2));
        const value limited = t.unary(op::clamp, t.slice(both, -1, inner, 2));
        const value glu = t.mul(gate, t.sigmoid(t.mul(gate)));
        return summed(t, x, weights,
                      t.add(t.matmul_operator(t.mul(t.add(limited), glu), t.select(down, 0)), t.select(down_bias, 0)));
    }
};

/// How evenly the routers of all layers pick: a softmax of each one's logits again, summed over tokens.
///
/// Source: transformers/models/mixtral/modeling_mixtral.py, `load_balancing_loss_func`. The result is returned beside the
/// logits; counts of picks are integers. `type` is that of the routers' logits, the activations' where nothing is said.
constexpr void weigh_balance(trace& t, std::int64_t routers, std::int64_t tokens, const moe_sizes& m,
                             dtype type = dtype::unspecified) {
    const extents per_expert{m.num_experts};
    value picks = t.constant(per_expert), sums = t.constant(per_expert);
    value logits = trace::buffer({tokens, m.num_experts});
    logits.type = type == dtype::unspecified ? t.activation_type() : type;
    logits.requires_grad = t.training();
    for (repetition layer = t.steps(routers, sums); layer.next();) {
        const value probabilities = t.softmax(logits);
        (void)t.top_k(probabilities, m.num_experts_per_tok);
        (void)t.add(picks);
        sums = t.add(sums, t.sum(probabilities, 0));
    }
    const value product = t.mul(t.div(picks), t.div(sums).unsqueeze(0));
    (void)t.mul(t.sum(product.view({m.num_experts}), 0));
}

}  // namespace llmcost
