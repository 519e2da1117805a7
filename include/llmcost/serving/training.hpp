// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// What a training step of one device takes: forward with its loss, backward, the sum of gradients over replicas, and AdamW
/// over all parameters.
struct training_cost {
    step_cost forward{};
    step_cost backward{};
    step_cost recomputed{};  ///< of backward: layers that are made again
    step_cost reduction{};   ///< gradients, behind backward
    step_cost optimizer{};

    step_time whole{};  ///< of all, or of the host that issues them
    training_memory memory{};

    /// Model FLOPs utilisation (PaLM, arXiv 2204.02311, appendix B): three times the forward pass's, of what the device's
    /// peak would do in the time; 0 where the datasheet has no such peak.
    [[nodiscard]] double model_flops_utilisation(const device& d, const operand_row& products) const noexcept {
        const double peak = d.*products.unit * 1e12;
        return peak > 0 && whole.seconds > 0 ? 3 * forward.flops / (peak * whole.seconds) : 0;
    }
};

/// Bytes that AdamW moves for a parameter in 32 bits: its gradient, and the weight and both moments read and written
/// (4 + 2·3·4).
inline constexpr std::int64_t adamw_bytes = 28;

/// AdamW's update of so many parameters, which streams them as a sum of tensors in 32 bits does.
[[nodiscard]] inline model_kernel adamw_update(std::int64_t parameters) {
    constexpr std::int64_t width = 1024;
    model_kernel k{.name = "adamw"};
    k.shape = {.family = find_family("elementwise"), .operand = find_operand("float32"), .variant = "add"};
    k.shape.sizes[0] = (parameters + width - 1) / width, k.shape.sizes[1] = width;
    k.shape.sizes[2] = parameters * (adamw_bytes / 4);
    return k;
}

/// The products behind a product (m, k) x (k, n): the gradient of what came in, (m, n) x (n, k), and of the weight,
/// (n, m) x (m, k).
[[nodiscard]] inline std::vector<model_kernel> products_of_backward(const model_kernel& k) {
    model_kernel inputs = k, weight = k;
    const std::int64_t* const s = k.shape.sizes;
    inputs.shape.sizes[0] = s[0], inputs.shape.sizes[1] = s[2], inputs.shape.sizes[2] = s[1];
    weight.shape.sizes[0] = s[1], weight.shape.sizes[1] = s[2], weight.shape.sizes[2] = s[0];
    return {std::move(inputs), std::move(weight)};
}

/// What goes back of a kernel that no other shapes describe, in forward's work.
[[nodiscard]] constexpr double backward_factor(backward_rule rule) noexcept {
    return rule == backward_rule::attention ? 2.5 : rule == backward_rule::same ? 1 : 2;
}

/// Gradients summed over so many replicas, each of which holds all of them.
[[nodiscard]] inline model_kernel gradients_summed(std::int64_t parameters, std::int64_t replicas) {
    model_kernel k{.name = "gradients"};
    k.shape = {.family = find_family("nccl"), .operand = find_operand("float32"), .variant = "all_reduce"};
    k.shape.sizes[0] = parameters, k.shape.sizes[1] = replicas;
    return k;
}

/// A training step, every kernel behind the other.
///
/// Families say what goes back (`backward_rule`): a product as two, fused attention with 2.5 times the FLOPs, experts and
/// chains twice, sums over devices once. What is recomputed are kernels of layers.
[[nodiscard]] inline training_cost training_of(const model& whole, workload load, const execution& how, const device& on,
                                               kernel_source& from, const training_plan& plan = {}) {
    load.past = 0, load.head = logits::all;
    training_cost t;
    summed_time all;
    const auto loss = [&](const model& part, trace& walk, const value& scores) {
        (void)loss_behind(part, walk, scores, plan.loss);
    };
    for (const known_kernel& k : with_measurements(kernels_of(whole, load, how, loss), how, from)) {
        const step_cost once = cost_of(on, k);
        const auto times = static_cast<double>(k.what.times);
        t.forward += once;
        if (plan.step.recompute == recomputation::full && k.what.name.find('*') != std::string::npos)
            t.recomputed += once, all.add(estimate(on, k), times);
        const backward_rule rule = k.what.shape.family->backward;
        if (rule == backward_rule::products) {
            all.add(estimate(on, k), times);
            for (const known_kernel& back : with_measurements(products_of_backward(k.what), how, from))
                t.backward += cost_of(on, back), all.add(estimate(on, back), times);
            continue;
        }
        const double factor = backward_factor(rule);
        const double launches = rule == backward_rule::twice ? 2 : 1;
        t.backward += {factor * once.seconds, factor * once.flops, factor * once.bytes, launches * once.launches};
        all.add(estimate(on, k), times * (1 + factor));
    }
    t.backward += t.recomputed;
    const auto parameters = static_cast<std::int64_t>(parameters_of(whole, how).all());
    const auto behind = [&](const model_kernel& k) {
        const known_kernel known = with_measurements({k}, how, from).front();
        all.add(estimate(on, known), 1);
        return cost_of(on, known);
    };
    if (how.shards.data > 1) t.reduction = behind(gradients_summed(parameters, how.shards.data));
    t.optimizer = behind(adamw_update(parameters));
    const double launches = t.forward.launches + t.backward.launches + t.reduction.launches + t.optimizer.launches;
    t.whole = all.issued_in(launches * seconds_per_launch(how, on, from));
    t.memory = memory_of_training(whole, load, how, plan);
    return t;
}

}  // namespace llmcost
