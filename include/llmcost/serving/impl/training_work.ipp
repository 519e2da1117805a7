// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/training_work.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/rank_parameters.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/serving/training_pass.hpp>

namespace llmcost::detail {

/// Parameters of a rank. `parameters`: of the undivided model.
[[nodiscard]] LLMCOST_INLINE job_parameters parameters_of_job(const model& full_model,
                                                              const std::vector<rank_parameter>& parameters,
                                                              const training_parallelism& parallel) {
    job_parameters out;
    const auto tensor = static_cast<double>(parallel.tensor);
    const double experts_of_rank = 1 / static_cast<double>(parallel.expert * parallel.expert_tensor);
    for (const rank_parameter& p : parameters) {
        const auto elements = static_cast<double>(p.elements.to_64());
        out.total += elements;
        if (p.layer >= 0 && p.layer < full_model.config.num_hidden_layers) out.tensors += 1;
        if (p.is_routed)
            out.experts += elements * experts_of_rank;
        else
            (p.layer < 0                                      ? out.before
             : p.layer >= full_model.config.num_hidden_layers ? out.after
                                                              : out.dense) += elements / tensor;
    }
    return out;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::shared_ptr<const training_work> training_work_of(
    const model& full_model, const workload& load, const execution& execution_of_job, const device& target_device,
    kernel_source& kernels, const training_plan& plan, const training_job& job, training_work_cache& cache) {
    auto work = std::make_shared<training_work>();
    std::vector<model_kernel>& forward_kernels =
        cache.kernels[{load.batch, detail::tokens_of_context_rank(load.sequence, job.parallel.context)}];
    if (forward_kernels.empty())
        forward_kernels = detail::forward_kernels_of(full_model, load, execution_of_job, plan, job.parallel.context);
    work->passes = detail::training_passes_of(full_model, load, execution_of_job, target_device, kernels, plan, job,
                                              forward_kernels);
    if (cache.parameters.empty()) {
        model base = full_model;
        base.policy = nullptr;
        cache.parameters = rank_parameters_of(base, base, load);
    }
    work->parameters = detail::parameters_of_job(full_model, cache.parameters, job.parallel);
    if (!cache.memory) {
        constexpr std::int64_t short_sequence = 64;
        workload minimal_load = load;
        minimal_load.batch = 1;
        minimal_load.sequence = std::min(load.sequence, short_sequence);
        execution undivided = execution_of_job;
        undivided.parallel = {};
        cache.memory = training_memory_per_device(full_model, minimal_load, undivided, plan);
    }
    work->memory = *cache.memory;
    for (const model_kernel& k : update_kernels(*plan.schedule.optimizer, work->memory))
        work->update_seconds.push_back(
            cost_of(target_device, match_kernels({k}, execution_of_job, kernels).front()).seconds);
    work->launch_seconds = seconds_per_launch(execution_of_job, target_device, kernels);
    return work;
}

}  // namespace llmcost
