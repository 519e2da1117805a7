// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/mlp.hpp>
#include <llmcost/layers/model_config.hpp>

namespace llmcost {

/// Computation of expert weights from router logits.
enum class router_kind : std::uint8_t {
    none,
    softmax_top_k,        ///< softmax over all experts, top k, optionally normalized (Qwen, OLMoE)
    softmax_top_k_float,  ///< softmax over all experts, top k; the weights remain float32 (Mixtral)
    top_k_softmax,        ///< top k logits, then softmax over these (gpt-oss)
    softmax_grouped,      ///< float32: softmax, optional group limit, weights · constant (DeepSeek V2)
    sigmoid_grouped  ///< float32: sigmoid with correction, group limit, weights normalized · constant (DeepSeek V3)
};

/// Sizes of a router.
struct router_config {
    std::int64_t hidden_size;
    std::int64_t num_experts;
    std::int64_t num_experts_per_tok;
    std::int64_t n_group = 1;
    std::int64_t topk_group = 1;
    bool has_group_limit = false;
    bool normalizes_weights = false;  ///< weights of the selected experts are divided by their sum
    bool has_bias = false;
    bool has_float32_correction = false;  ///< the correction bias is in float32, whatever the type of the weights
};

/// The buffer with which a router corrects the scores of `n` experts to select them (`e_score_correction_bias`).
constexpr tensor correction_bias(const trace& t, std::int64_t n, bool is_float32 = false) {
    t.register_buffer({n}, is_float32 ? dtype::float32 : t.activation_type());
    return trace::buffer({n});
}

/// Top-k router: x (…, hidden_size) -> logits (tokens, experts) and weights (tokens, k).
///
/// Cost: MULT tokens·hidden_size·experts, and the scoring function. The selection has no cost.
struct moe_router {
    router_kind kind;
    router_config config;
    class_name reference_class;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return reference_class; }
    constexpr tensor_pair forward(trace& t, const tensor& x) const {
        const std::int64_t k = config.num_experts_per_tok;
        const tensor tokens = t.reshape(x, {-1, config.hidden_size});
        const tensor weight = t.param("weight", {config.num_experts, config.hidden_size});
        tensor bias;
        if (config.has_bias) bias = t.param("bias", {config.num_experts});
        const bool in_float = kind == router_kind::softmax_grouped || kind == router_kind::sigmoid_grouped;
        const tensor float_tokens = in_float ? t.to(tokens, dtype::float32) : tokens;
        const tensor logits = in_float ? t.linear(float_tokens, t.to(weight, dtype::float32))
                                       : t.linear(tokens, weight, config.has_bias ? &bias : nullptr);
        if (kind == router_kind::top_k_softmax) return {logits, t.softmax(t.topk(logits, k))};
        if (kind == router_kind::softmax_grouped) {
            tensor scores = t.softmax_method(logits);
            if (config.has_group_limit) {
                make_group_mask(t, scores, false);
                scores = t.masked_fill(scores);
            }
            return {logits, t.mul_scalar(t.topk(scores, k))};
        }
        if (kind == router_kind::sigmoid_grouped) {
            const tensor scores = t.sigmoid(logits);
            select_experts(t, scores);
            tensor weights = t.gather(scores, {tokens.dim(0), k});
            if (config.normalizes_weights) t.div_(weights, t.add_scalar(t.sum(weights, -1, true)));
            return {logits, t.mul_scalar(weights)};
        }
        tensor weights = t.topk(t.softmax(t.to(logits, dtype::float32)), k);
        if (config.normalizes_weights) t.div_(weights, t.sum(weights, -1, true));
        return {logits, kind == router_kind::softmax_top_k_float ? weights : t.to(weights, logits.type)};
    }

    /// Selects the best experts of the best groups by corrected scores. Only indices result, without gradients.
    constexpr void select_experts(trace& t, const tensor& scores) const {
        const recorder::detach_guard indices{t};
        const tensor choice = t.add(scores, correction_bias(t, config.num_experts, config.has_float32_correction));
        make_group_mask(t, choice, true);
        (void)t.topk(t.masked_fill(choice), config.num_experts_per_tok);
    }

    /// Mask of the best groups, expanded to experts.
    ///
    /// A group is rated by its best expert, or by the sum of its two best.
    constexpr void make_group_mask(trace& t, const tensor& scores, bool uses_two_best_experts) const {
        const recorder::detach_guard indices{t};
        const tensor in_groups = scores.view({-1, config.n_group, config.num_experts / config.n_group});
        const tensor of_groups = uses_two_best_experts ? t.sum(t.topk(in_groups, 2), -1) : t.amax(in_groups, -1);
        (void)t.topk(of_groups, config.topk_group);
        const tensor mask = t.full({of_groups.dim(0), config.n_group, 1});
        const tensor spread = mask.expand({of_groups.dim(0), config.n_group, config.num_experts / config.n_group});
        (void)t.reshape(spread, {-1, config.num_experts});
    }
};

/// Scores of the k experts with the highest corrected scores: (n, experts) -> (n, k).
constexpr tensor select_with_correction(trace& t, const tensor& scores, const tensor& correction, std::int64_t k) {
    {
        const recorder::detach_guard indices{t};
        (void)t.topk(t.add(scores, correction), k);
    }
    return t.gather(scores, {scores.dim(0), k});
}

/// Weight layout and activation of an expert.
enum class expert_kind : std::uint8_t {
    gated,          ///< linear layers with fused gate and up: down(act(gate) · up)
    clamped_swiglu  ///< transposed weights with biases, clamped gate and up: (up + 1) · gate · σ(α gate) (gpt-oss)
};

/// Sizes and token routing that all kinds of experts share.
struct routed_experts_base {
    std::int64_t hidden_size;
    std::int64_t intermediate_size;
    std::int64_t num_experts;
    std::int64_t num_experts_per_tok;
    activation act;
    class_name named;

    static constexpr role module_role = role::experts;
    [[nodiscard]] constexpr class_name type_name() const { return named; }

protected:
    [[nodiscard]] constexpr fused_kernel make_fused_kernel(std::int64_t tokens) const {
        return {.kind = fused_kernel_kind::experts,
                .num_tokens = tokens,
                .hidden_size = hidden_size,
                .intermediate_size = intermediate_size,
                .num_experts = num_experts,
                .num_experts_per_tok = num_experts_per_tok};
    }
    /// The workload inside the experts: autocast on a CUDA device does not convert the operands of `torch._grouped_mm`.
    ///
    /// Source: transformers/integrations/moe.py, `grouped_mm_experts_forward`; aten/src/ATen/autocast_mode.h,
    /// `AT_FORALL_LOWER_PRECISION_FP`, which lacks `_grouped_mm`.
    [[nodiscard]] static constexpr workload grouped_product_workload(const trace& t) {
        workload load = t.load();
        load.autocast = load.autocast && !load.has_cuda_autocast();
        return load;
    }
    constexpr tensor param(trace& t, literal name, const shape& sizes) const {
        return t.param(name, sizes, num_experts_per_tok, num_experts);
    }
    /// The tokens and the weights of the experts that this rank computes, if a policy distributes them.
    static constexpr tensor_pair adapt_inputs(trace& t, const tensor& x, const tensor& weights) {
        return t.policy() == nullptr ? tensor_pair{x, weights} : t.policy()->transform_expert_inputs(t, x, weights);
    }
    /// Inputs of the experts, grouped by expert: (tokens, hidden_size) -> (tokens · k, hidden_size). A copy.
    constexpr tensor dispatch_tokens(trace& t, const tensor& x) const {
        return t.gather(x, {checked_product(x.dim(0), num_experts_per_tok), hidden_size});
    }
    /// Weighted sum of the expert outputs per token: (tokens · k, hidden_size) -> (tokens, hidden_size).
    constexpr tensor combine_expert_outputs(trace& t, const tensor& x, const tensor& weights, tensor h) const {
        const std::int64_t tokens = x.dim(0);
        h = t.mul(h, t.gather(weights, {h.dim(0), 1}));
        tensor sum = t.full({tokens, hidden_size}, x.type);
        t.index_add(sum, t.to(h, x.type));
        return t.policy() == nullptr ? sum : t.policy()->transform_expert_output(t, sum);
    }
    /// Experts with stacked weights of gate and up.
    ///
    /// `gate(gate_up)` maps (tokens · k, 2 · intermediate_size) to (tokens · k, intermediate_size).
    template <class Gate>
    constexpr tensor forward_gated(trace& t, const tensor& inputs, const tensor& routing, const Gate& gate) const {
        const auto [x, weights] = adapt_inputs(t, inputs, routing);
        const recorder::fused_kernel_guard fused{t, make_fused_kernel(x.dim(0))};
        const recorder::workload_guard products{t, grouped_product_workload(t)};
        const tensor rows = dispatch_tokens(t, x),
                     up = param(t, "gate_up_proj", {num_experts, 2 * intermediate_size, hidden_size}),
                     down = param(t, "down_proj", {num_experts, hidden_size, intermediate_size});
        const tensor gate_up = t.linear(rows, t.select(up, 0));
        return combine_expert_outputs(t, x, weights, t.linear(gate(gate_up), t.select(down, 0)));
    }
};

/// The routed experts of a layer: x (tokens, hidden_size), weights (tokens, k) -> (tokens, hidden_size).
///
/// Every token is processed by exactly k experts. Cost: MULT tokens·k·3·hidden_size·intermediate_size, and the gating.
template <expert_kind Kind>
struct experts;

template <>
struct experts<expert_kind::gated> : routed_experts_base {
    static constexpr bool is_leaf = false;
    constexpr tensor forward(trace& t, const tensor& x, const tensor& weights) const {
        return forward_gated(t, x, weights, [&](const tensor& gate_up) {
            const tensor half = gate_up.slice(-1, intermediate_size);
            return t.mul(t.call("act_fn", activation_module{act}, half), half);
        });
    }
};

template <>
struct experts<expert_kind::clamped_swiglu> : routed_experts_base {
    static constexpr bool is_leaf = true;
    constexpr tensor forward(trace& t, const tensor& inputs, const tensor& routing) const {
        const auto [x, weights] = adapt_inputs(t, inputs, routing);
        const recorder::fused_kernel_guard fused{t, make_fused_kernel(x.dim(0))};
        const recorder::workload_guard products{t, grouped_product_workload(t)};
        const tensor rows = dispatch_tokens(t, x),
                     up = param(t, "gate_up_proj", {num_experts, hidden_size, 2 * intermediate_size}),
                     up_bias = param(t, "gate_up_proj_bias", {num_experts, 2 * intermediate_size}),
                     down = param(t, "down_proj", {num_experts, intermediate_size, hidden_size}),
                     down_bias = param(t, "down_proj_bias", {num_experts, hidden_size});
        const tensor unbiased = t.matmul_operator(rows, t.select(up, 0));
        const tensor gate_up = t.add(unbiased, t.select(up_bias, 0));
        const tensor gate = t.clamp_max(t.slice(gate_up, -1, intermediate_size, 2));
        const tensor limited = t.clamp(t.slice(gate_up, -1, intermediate_size, 2));
        const tensor glu = t.mul(gate, t.sigmoid(t.mul_scalar(gate)));
        const tensor h = t.mul(t.add_scalar(limited), glu);
        const tensor unbiased_output = t.matmul_operator(h, t.select(down, 0));
        return combine_expert_outputs(t, x, weights, t.add(unbiased_output, t.select(down_bias, 0)));
    }
};

/// Routed experts with a custom gate: `gate(t, gate_up)` maps (tokens · k, 2 · intermediate_size) to (tokens · k,
/// intermediate_size). `IsLeaf` is true if the gate calls no modules.
template <bool IsLeaf, class Gate>
struct custom_gated_experts : routed_experts_base {
    Gate gate;

    static constexpr bool is_leaf = IsLeaf;
    constexpr tensor forward(trace& t, const tensor& x, const tensor& weights) const {
        return forward_gated(t, x, weights, [&](const tensor& gate_up) { return gate(t, gate_up); });
    }
};

/// Adds a custom gate to the sizes of routed experts.
template <bool IsLeaf, class Gate>
constexpr custom_gated_experts<IsLeaf, Gate> with_custom_gate(const routed_experts_base& sizes, Gate gate) {
    return {sizes, gate};
}

/// Load-balancing loss: a softmax of the logits of every router, summed over tokens.
///
/// The loss is returned in addition to the logits. Counts of selected experts are integers. In a training step with
/// labels, the loss is a part of the loss over labels (`memory/label_loss.hpp`).
/// `type`: element type of the router logits. Default: the activation type.
/// Source: transformers/models/mixtral/modeling_mixtral.py, `load_balancing_loss_func`.
constexpr void load_balancing_loss(trace& t, std::int64_t num_routers, std::int64_t tokens, const moe_config& moe,
                                   dtype type = dtype::unspecified) {
    const recorder& accounting = t;
    if (accounting.defers_load_balancing_loss({num_routers, tokens, moe.num_experts, moe.num_experts_per_tok})) return;
    const shape per_expert{moe.num_experts};
    tensor picks = t.full(per_expert), sums = t.full(per_expert);
    tensor logits = trace::buffer({tokens, moe.num_experts});
    logits.type = type == dtype::unspecified ? t.activation_type() : type;
    logits.requires_grad = t.is_training();
    for (loop layer = t.loop_time_steps(num_routers, sums); layer.next();) {
        const tensor probabilities = t.softmax(logits);
        (void)t.topk(probabilities, moe.num_experts_per_tok);
        (void)t.add_scalar(picks);
        sums = t.add(sums, t.sum(probabilities, 0));
    }
    const tensor mean_picks = t.div_scalar(picks), mean_probabilities = t.div_scalar(sums);
    const tensor product = t.mul(mean_picks, mean_probabilities.unsqueeze(0));
    (void)t.mul_scalar(t.sum(product.view({moe.num_experts}), 0));
}

}  // namespace llmcost
