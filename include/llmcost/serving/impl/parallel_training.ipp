// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/parallel_training.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/job_timer.hpp>
#include <llmcost/serving/pipeline_time.hpp>
#include <llmcost/serving/training_collectives.hpp>
#include <llmcost/serving/training_work.hpp>

namespace llmcost {

LLMCOST_INLINE double bubble_fraction(const training_parallelism& parallel) noexcept {
    return static_cast<double>(parallel.pipeline - 1) /
           static_cast<double>(parallel.stages_per_rank * parallel.microbatches);
}

LLMCOST_INLINE double minimum_step_seconds(const training_work& work, std::int64_t num_layers,
                                           const training_parallelism& parallel) {
    const std::vector<double> layers_of_stage = detail::layers_of_stages(num_layers, parallel);
    const auto ranks = static_cast<std::size_t>(parallel.pipeline);
    const double layer_seconds = work.passes.layers.seconds() / static_cast<double>(num_layers);
    const auto stage_seconds = [&](std::size_t s) {
        return layers_of_stage[s] * layer_seconds + (s == 0 ? work.passes.before.seconds() : 0) +
               (s + 1 == layers_of_stage.size() ? work.passes.after.seconds() : 0);
    };
    double largest = 0, earlier_stages = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        double seconds = 0;
        for (std::size_t s = rank; s < layers_of_stage.size(); s += ranks) seconds += stage_seconds(s);
        largest = std::max(largest, static_cast<double>(parallel.microbatches) * seconds + earlier_stages);
        earlier_stages += stage_seconds(rank);
    }
    return largest;
}

LLMCOST_INLINE parallel_training_cost time_parallel_training(const model& full_model, workload load,
                                                             const execution& execution_of_job, const device& device,
                                                             kernel_source& kernels, const training_plan& plan,
                                                             const training_job& job) {
    if (const std::string problem =
            parallelism_error(job.parallel, std::max<std::int64_t>(full_model.config.num_hidden_layers, 1),
                              full_model.config.moe.num_experts);
        !problem.empty())
        throw config_error(config_problem::unsupported, "", string_ref(problem.data(), problem.size()));
    training_work_cache cache;
    collective_times collectives(execution_of_job, device, kernels);
    return detail::time_job(full_model, load, plan, job,
                            *training_work_of(full_model, load, execution_of_job, device, kernels, plan, job, cache),
                            collectives, false);
}

LLMCOST_INLINE std::vector<std::string> assumptions_of(const training_job& job, const training_plan& plan,
                                                       const execution& execution) {
    const training_parallelism& parallel = job.parallel;
    std::vector<std::string> out;
    const auto hides = [](bool is_hidden) { return is_hidden ? "overlaps computation" : "is exposed"; };
    if (parallel.tensor > 1)
        out.push_back(std::string("tensor parallelism: communication ") + hides(job.overlap.tensor));
    if (parallel.context > 1)
        out.emplace_back("context parallelism: ring of keys and values, balanced causal attention");
    if (parallel.expert > 1)
        out.push_back(std::string("expert parallelism: balanced tokens, all-to-all ") + hides(job.overlap.expert));
    if (parallel.pipeline > 1) {
        const bool is_simulated = !detail::timed_schedule_of(parallel).order.empty();
        out.push_back("pipeline: " + parallel.schedule + ", " + std::to_string(parallel.microbatches) +
                      (is_simulated ? " microbatches, simulated" : " microbatches, bubble by its closed form"));
        out.push_back(std::string("pipeline: a message between stages ") + hides(job.overlap.pipeline));
    }
    if (parallel.num_replicas() * parallel.context > 1)
        out.push_back(std::string("data parallelism: communication ") + hides(job.overlap.data));
    if (plan.schedule.recompute == recompute_mode::selective && job.recomputed_modules.empty())
        out.emplace_back("selective recomputation: core_attn");
    out.push_back("node: " + std::to_string(execution.devices_per_node) + " devices");
    return out;
}

}  // namespace llmcost
