// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/training.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/vector_units.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

LLMCOST_INLINE double training_cost::model_flops_utilisation(const device& d,
                                                             const operand_type& products) const noexcept {
    const double peak = d.*products.unit * 1e12;
    const double flops = freezes ? forward.flops + backward.flops - recomputed.flops : 3 * forward.flops;
    return peak > 0 && total.seconds > 0 ? flops / (peak * total.seconds) : 0;
}

LLMCOST_INLINE std::vector<model_kernel> update_kernels(const optimizer_spec& optimizer,
                                                        const training_memory& memory) {
    constexpr std::int64_t width = 1024, bytes_of_float = 4;
    std::vector<model_kernel> out;
    const auto device_share = [&](double n) { return static_cast<std::int64_t>(memory.share * n); };
    if (memory.updated > 0) {
        double additions = 0;
        for (std::size_t i = 0; i < num_primitives; ++i)
            additions += vector_costs[i].additions * static_cast<double>(memory.update.*primitive_members<count>[i]);
        model_kernel k{.module_path = std::string(optimizer.name)};
        k.shape = {
            .type = find_operator_type("elementwise"), .operand = find_operand_type("float32"), .variant = "add"};
        k.shape.sizes[0] = (static_cast<std::int64_t>(memory.trained) + width - 1) / width;
        k.shape.sizes[1] = width;
        k.shape.sizes[2] = static_cast<std::int64_t>(memory.updated) / bytes_of_float;
        k.shape.sizes[3] = device_share(additions);
        out.push_back(std::move(k));
    }
    for (const optimizer_product& p : memory.products) {
        model_kernel k{.module_path = std::string(optimizer.name)};
        k.shape = {.type = find_operator_type("gemm"),
                   .operand = find_operand_type(p.is_bfloat16 ? "bfloat16" : "float32")};
        k.shape.sizes[0] = static_cast<std::int64_t>(p.rows);
        k.shape.sizes[1] = static_cast<std::int64_t>(p.columns);
        k.shape.sizes[2] = static_cast<std::int64_t>(p.inner);
        k.num_runs = static_cast<std::int64_t>(p.repetitions);
        out.push_back(std::move(k));
    }
    return out;
}

LLMCOST_INLINE std::vector<model_kernel> products_of_backward(const model_kernel& k, bool frozen) {
    model_kernel inputs = k, weight = k;
    const std::int64_t* const s = k.shape.sizes;
    inputs.shape.sizes[0] = s[0];
    inputs.shape.sizes[1] = s[2];
    inputs.shape.sizes[2] = s[1];
    if (frozen) return {std::move(inputs)};
    weight.shape.sizes[0] = s[1];
    weight.shape.sizes[1] = s[2];
    weight.shape.sizes[2] = s[0];
    return {std::move(inputs), std::move(weight)};
}

/// The all-reduce of gradients over data-parallel ranks. Each rank has all gradients.
[[nodiscard]] LLMCOST_INLINE std::vector<model_kernel> gradient_reduction_kernels(std::int64_t parameters,
                                                                                  const execution& execution) {
    std::vector<model_kernel> all = make_collective_kernels(
        "all_reduce", parameters, execution.parallel.data_parallel_size, execution.parallel.tensor_parallel_size,
        find_operand_type("float32"), execution.devices_per_node);
    for (model_kernel& k : all) k.module_path = "gradients";
    return all;
}

LLMCOST_INLINE step_cost gradient_reduction_cost(std::int64_t parameters, const execution& execution,
                                                 const device& device, kernel_source& kernels) {
    step_cost out;
    for (const known_kernel& k : match_kernels(gradient_reduction_kernels(parameters, execution), execution, kernels))
        out += cost_of(device, k);
    return out;
}

LLMCOST_INLINE void add_seconds(std::vector<module_training_seconds>& modules, const std::string& module_path,
                                double forward, double backward) {
    auto place = std::ranges::find(modules, module_path, &module_training_seconds::module_path);
    if (place == modules.end()) place = modules.insert(place, {.module_path = module_path});
    place->forward += forward;
    place->backward += backward;
}

LLMCOST_INLINE training_cost training_of(const model& full_model, workload load, const execution& execution,
                                         const device& device, kernel_source& kernels, const training_plan& plan) {
    load.past = 0;
    load.head = logits::all;
    training_cost t;
    summed_time all;
    const auto loss = [&](const model& part, trace& trace, const tensor& scores) {
        (void)compute_loss(part, trace, scores, plan.loss);
    };
    t.freezes = full_model.policy != nullptr;
    for (const known_kernel& k : match_kernels(kernels_of(full_model, load, execution, loss), execution, kernels)) {
        const bool frozen = t.freezes && !k.kernel.is_adapter;
        const step_cost forward_cost = cost_of(device, k);
        const auto times = static_cast<double>(k.kernel.num_runs);
        t.forward += forward_cost;
        step_cost backward_cost;
        double recomputed_seconds = 0;
        if (plan.schedule.recompute == recompute_mode::full && k.kernel.module_path.find('*') != std::string::npos) {
            t.recomputed += forward_cost;
            recomputed_seconds = forward_cost.seconds;
            all.add(estimate(device, k), times);
        }
        const backward_rule rule = k.kernel.shape.type->backward;
        if (rule == backward_rule::products) {
            all.add(estimate(device, k), times);
            for (const known_kernel& backward_kernel :
                 match_kernels(products_of_backward(k.kernel, frozen), execution, kernels)) {
                backward_cost += cost_of(device, backward_kernel);
                all.add(estimate(device, backward_kernel), times);
            }
        } else {
            const bool through_experts = frozen && k.kernel.shape.type == find_operator_type("moe");
            const double factor = through_experts ? 1 : backward_factor(rule);
            const double launches = rule == backward_rule::two_times_forward && !through_experts ? 2 : 1;
            backward_cost = forward_cost * factor;
            backward_cost.launches = launches * forward_cost.launches;
            all.add(estimate(device, k), times * (1 + factor));
        }
        t.backward += backward_cost;
        add_seconds(t.modules, k.kernel.module_path, forward_cost.seconds, backward_cost.seconds + recomputed_seconds);
    }
    t.backward += t.recomputed;
    const auto add_kernel = [&](const model_kernel& k) {
        const known_kernel known = match_kernels({k}, execution, kernels).front();
        all.add(estimate(device, known), static_cast<double>(k.num_runs));
        return cost_of(device, known);
    };
    t.memory = training_memory_per_device(full_model, load, execution, plan);
    if (execution.parallel.data_parallel_size > 1)
        for (const model_kernel& k : gradient_reduction_kernels(static_cast<std::int64_t>(t.memory.trained), execution))
            t.reduction += add_kernel(k);
    for (const model_kernel& k : update_kernels(*plan.schedule.optimizer, t.memory)) t.optimizer += add_kernel(k);
    const double launches = t.forward.launches + t.backward.launches + t.reduction.launches + t.optimizer.launches;
    t.total = all.issued_in(launches * seconds_per_launch(execution, device, kernels));
    return t;
}

}  // namespace llmcost
