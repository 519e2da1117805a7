// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/latency/vector_units.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// What a training step of one device takes: forward with its loss, backward, the sum of gradients over replicas, and the
/// optimizer's update of all parameters.
struct training_cost {
    step_cost forward{};
    step_cost backward{};
    step_cost recomputed{};  ///< of backward: layers that are made again
    step_cost reduction{};   ///< gradients, behind backward
    step_cost optimizer{};

    step_time whole{};  ///< of all, or of the host that issues them
    training_memory memory{};
    bool freezes = false;  ///< an adapter's matrices alone are trained

    /// Model FLOPs utilisation (PaLM, arXiv 2204.02311, appendix B): three times the forward pass's, under an adapter those
    /// of both passes, of what the device's peak would do in the time; 0 where the datasheet has no such peak.
    [[nodiscard]] double model_flops_utilisation(const device& d, const operand_row& products) const noexcept {
        const double peak = d.*products.unit * 1e12;
        const double flops = freezes ? forward.flops + backward.flops - recomputed.flops : 3 * forward.flops;
        return peak > 0 && whole.seconds > 0 ? flops / (peak * whole.seconds) : 0;
    }
};

/// What an optimizer's step runs: one kernel that streams what it reads and writes, each tensor once as fused kernels do,
/// and its products.
[[nodiscard]] inline std::vector<model_kernel> update_kernels(const optimizer_row& optimizer, const training_memory& held) {
    constexpr std::int64_t width = 1024, bytes_of_float = 4;
    std::vector<model_kernel> out;
    const auto here = [&](double n) { return static_cast<std::int64_t>(held.share * n); };
    if (held.updated > 0) {
        double additions = 0;
        for (std::size_t i = 0; i < primitive_kinds; ++i)
            additions += vector_costs[i].additions * static_cast<double>(held.update.*primitive_members<count>[i]);
        model_kernel k{.name = std::string(optimizer.name)};
        k.shape = {.family = find_family("elementwise"), .operand = find_operand("float32"), .variant = "add"};
        k.shape.sizes[0] = (static_cast<std::int64_t>(held.trained) + width - 1) / width, k.shape.sizes[1] = width;
        k.shape.sizes[2] = static_cast<std::int64_t>(held.updated) / bytes_of_float;
        k.shape.sizes[3] = here(additions);
        out.push_back(std::move(k));
    }
    for (const optimizer_product& p : held.products) {
        model_kernel k{.name = std::string(optimizer.name)};
        k.shape = {.family = find_family("gemm"), .operand = find_operand(p.in_half ? "bfloat16" : "float32")};
        k.shape.sizes[0] = static_cast<std::int64_t>(p.rows), k.shape.sizes[1] = static_cast<std::int64_t>(p.columns);
        k.shape.sizes[2] = static_cast<std::int64_t>(p.inner), k.times = static_cast<std::int64_t>(p.times);
        out.push_back(std::move(k));
    }
    return out;
}

/// The products behind a product (m, k) x (k, n): the gradient of what came in, (m, n) x (n, k), and of the weight,
/// (n, m) x (m, k), unless that is frozen.
[[nodiscard]] inline std::vector<model_kernel> products_of_backward(const model_kernel& k, bool frozen = false) {
    model_kernel inputs = k, weight = k;
    const std::int64_t* const s = k.shape.sizes;
    inputs.shape.sizes[0] = s[0], inputs.shape.sizes[1] = s[2], inputs.shape.sizes[2] = s[1];
    if (frozen) return {std::move(inputs)};
    weight.shape.sizes[0] = s[1], weight.shape.sizes[1] = s[2], weight.shape.sizes[2] = s[0];
    return {std::move(inputs), std::move(weight)};
}

/// What goes back of a kernel that no other shapes describe, in forward's work.
[[nodiscard]] constexpr double backward_factor(backward_rule rule) noexcept {
    return rule == backward_rule::attention ? 2.5 : rule == backward_rule::same ? 1 : 2;
}

/// Gradients summed over the groups of devices, each of which holds all of them.
[[nodiscard]] inline std::vector<model_kernel> gradients_summed(std::int64_t parameters, const execution& how) {
    std::vector<model_kernel> all =
        collective_of("all_reduce", parameters, how.shards.data, how.shards.tensor, find_operand("float32"), how.node);
    for (model_kernel& k : all) k.name = "gradients";
    return all;
}

/// A training step, every kernel behind the other.
///
/// Families say what goes back (`backward_rule`): a product as two, fused attention with 2.5 times the FLOPs, experts and
/// chains twice, sums over devices once. What is recomputed are kernels of layers. Under an adapter the weights of layers are
/// frozen: nothing goes back to them, only through them.
[[nodiscard]] inline training_cost training_of(const model& whole, workload load, const execution& how, const device& on,
                                               kernel_source& from, const training_plan& plan = {}) {
    load.past = 0, load.head = logits::all;
    training_cost t;
    summed_time all;
    const auto loss = [&](const model& part, trace& walk, const value& scores) {
        (void)loss_behind(part, walk, scores, plan.loss);
    };
    t.freezes = whole.policy != nullptr;
    for (const known_kernel& k : with_measurements(kernels_of(whole, load, how, loss), how, from)) {
        const bool frozen = t.freezes && !k.what.of_adapter;
        const step_cost once = cost_of(on, k);
        const auto times = static_cast<double>(k.what.times);
        t.forward += once;
        if (plan.step.recompute == recomputation::full && k.what.name.find('*') != std::string::npos)
            t.recomputed += once, all.add(estimate(on, k), times);
        const backward_rule rule = k.what.shape.family->backward;
        if (rule == backward_rule::products) {
            all.add(estimate(on, k), times);
            for (const known_kernel& back : with_measurements(products_of_backward(k.what, frozen), how, from))
                t.backward += cost_of(on, back), all.add(estimate(on, back), times);
            continue;
        }
        const bool through_experts = frozen && k.what.shape.family == find_family("moe");
        const double factor = through_experts ? 1 : backward_factor(rule);
        const double launches = rule == backward_rule::twice && !through_experts ? 2 : 1;
        step_cost back = once * factor;
        back.launches = launches * once.launches;
        t.backward += back;
        all.add(estimate(on, k), times * (1 + factor));
    }
    t.backward += t.recomputed;
    const auto behind = [&](const model_kernel& k) {
        const known_kernel known = with_measurements({k}, how, from).front();
        all.add(estimate(on, known), static_cast<double>(k.times));
        return cost_of(on, known);
    };
    t.memory = memory_of_training(whole, load, how, plan);
    if (how.shards.data > 1)
        for (const model_kernel& k : gradients_summed(static_cast<std::int64_t>(t.memory.trained), how))
            t.reduction += behind(k);
    for (const model_kernel& k : update_kernels(*plan.step.optimizer, t.memory)) t.optimizer += behind(k);
    const double launches = t.forward.launches + t.backward.launches + t.reduction.launches + t.optimizer.launches;
    t.whole = all.issued_in(launches * seconds_per_launch(how, on, from));
    return t;
}

}  // namespace llmcost
