// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/least_workload.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/serving/model_kernel.hpp>

// What each device of a split model holds.
namespace llmcost {

/// Parameters on each device.
[[nodiscard]] inline weight_parts parameters_of(const model& whole, const execution& how) {
    const model part = sharded(whole, how.shards);
    const workload any = least_workload(part);
    const auto parameters = [&](scope_query asked) {
        return static_cast<double>(count_model(part, any, asked).params.to_64());
    };
    const double kept = parameters(scope_query{role::embedding}) + parameters(scope_query{role::head});
    const double routed = parameters(scope_query{role::experts});
    const std::int64_t experts = whole.dims.moe.num_experts;
    const double copies = experts > 1 ? static_cast<double>(how.shards.places(experts)) / static_cast<double>(experts) : 1;
    return {kept, routed * copies / static_cast<double>(how.shards.expert * how.shards.expert_tensor),
            parameters({}) - kept - routed};
}

/// Bytes of weights on each device; an adapter's are in 16 bits, whatever the model's.
[[nodiscard]] inline double weight_bytes(const model& whole, const execution& how) {
    if (whole.policy != nullptr) {
        model alone = whole;
        alone.policy = nullptr;
        return weight_bytes(alone, how) +
               how.unquantised()->weight_bytes * (parameters_of(whole, how).all() - parameters_of(alone, how).all());
    }
    const weight_parts n = parameters_of(whole, how);
    if (how.stored.all() > 0) {
        execution alone = how;
        alone.shards = {};
        const weight_parts all = parameters_of(whole, alone);
        const auto share = [](double bytes, double part, double of) { return of > 0 ? bytes * (part / of) : 0; };
        const double bytes = share(how.stored.kept, n.kept, all.kept) + share(how.stored.routed, n.routed, all.routed) +
                             share(how.stored.others, n.others, all.others);
        return static_cast<double>(static_cast<std::uint64_t>(bytes + 0.5));
    }
    return how.unquantised()->weight_bytes * n.kept + how.products->weight_bytes * n.others +
           how.experts->weight_bytes * n.routed;
}

/// Bytes of a workload's cache on each device, at its end.
[[nodiscard]] inline double cache_bytes(const model& whole, const workload& load, const execution& how) {
    return how.cache->weight_bytes * static_cast<double>(count_model(sharded(whole, how.shards), load).cache.to_64());
}

/// Memory of a step on each device, whose groups of sequences are computed together, `weights` bytes of weights beside them.
[[nodiscard]] inline inference_memory memory_of_step(const model& whole, const std::vector<workload>& groups,
                                                     const execution& how, const engine_memory& by, double weights) {
    inference_memory all;
    const model part = sharded(whole, how.shards);
    for (workload load : groups) {
        load.weights = load.activations = dtype_from(how.unquantised()->name);
        load.cache = how.cache->weight_bytes == 1 ? dtype::float8_e4m3fn : dtype_from(how.cache->name);
        const inference_memory one = inference_memory_of(part, load, by, maybe<count>{count{}});
        all.cache += one.cache, all.cache_allocated += one.cache_allocated;
        all.activations_peak += one.activations_peak, all.runtime = one.runtime;
    }
    all.weights = count(static_cast<std::uint64_t>(weights));
    return all;
}

/// What backward begins at where a step is trained: labels of a model with a head, else the sum of what it returns.
[[nodiscard]] constexpr training_loss usual_loss(const model& m) noexcept {
    return m.dims.head == head_kind::none ? training_loss::sum : training_loss::labels;
}

/// What training holds on each device.
struct training_memory {
    memory_bytes peak{};
    std::uint64_t states = 0;  ///< bytes of weights, their gradients, and what the optimizer keeps from step to step
    std::uint64_t saved = 0;   ///< bytes that autograd keeps until backward

    std::uint64_t trained = 0;   ///< parameters
    std::uint64_t updated = 0;   ///< bytes that the optimizer reads and writes in a step, each tensor once
    primitives<count> update{};  ///< what it executes beside products
    std::vector<optimizer_product> products{};
    double share = 1;  ///< of all this that is on a device, where devices share experts
};

/// Memory of a training step: weights in 32 bits, computed in 16, as autocast trains them; attention in one call unless each
/// operation is executed by itself. Where devices share experts, each holds its part of the states.
[[nodiscard]] inline training_memory memory_of_training(const model& whole, workload load, const execution& how,
                                                        const training_plan& plan) {
    using category = memory_category;
    model alone = whole;
    alone.policy = nullptr;  // an adapter is the plan's
    const model part = sharded(alone, how.shards);
    load.autocast = true, load.on_cpu = true;
    load.weights = load.activations = dtype::float32;
    const auto played = [&](attention_implementation as) {
        load.implementation = as;
        return train(part, load, plan).memory;
    };
    memory_timeline all;
    try {
        all = played(how.issued == issue::eager ? attention_implementation::eager : attention_implementation::sdpa);
    } catch (const description_error&) {  // no such call in this model
        all = played(attention_implementation::eager);
    }
    const double here = parameters_of(alone, how).all() / parameters_of(part, execution{}).all();
    training_memory out{.peak = all.peak.bytes, .saved = all.saved_bytes, .share = std::min(here, 1.0)};
    const auto shared = [&](std::uint64_t bytes) {
        return here < 1 ? static_cast<std::uint64_t>(here * static_cast<double>(bytes)) : bytes;
    };
    for (const category c : {category::parameters, category::gradients, category::optimizer}) {
        const std::uint64_t bytes = out.peak[c];
        out.peak.take(c, bytes - shared(bytes));
        out.states += shared(all.own_peaks[c]);
    }
    const std::uint64_t passing = all.own_peaks[category::optimizer] - all.after_step[category::optimizer];
    out.states -= shared(passing);
    // a gradient is read, a weight and what is kept of it are read and written; steps are counted by the host
    // (torch/optim/adam.py, `_init_group`)
    const std::uint64_t weights = 4 * all.trainable, kept = all.after_step[category::optimizer] - all.counts_of_steps;
    if (plan.step.optimizer != find_optimizer("none")) out.updated = shared(3 * weights + 2 * kept);
    out.trained = shared(all.trainable);
    out.products = all.optimizer_products, out.update = all.optimizer_step;
    const primitives<count> in_products = llmcost::detail::primitives_of(out.products);
    out.update.mult -= in_products.mult, out.update.add -= in_products.add;
    return out;
}

}  // namespace llmcost
