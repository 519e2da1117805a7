// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/rank_parameters.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training_job.hpp>
#include <llmcost/serving/training_pass.hpp>

// What a rank of a training job computes for a microbatch.
namespace llmcost {

namespace detail {

/// Parameters of a tensor-parallel rank with all layers, by part.
struct job_parameters {
    double before = 0, after = 0;  ///< embedding; final norm and head
    double dense = 0;              ///< of all layers, without routed experts
    double experts = 0;            ///< routed experts of an expert-parallel rank, of all layers
    double total = 0;              ///< of the model
    double tensors = 0;            ///< parameter tensors of all layers
};

}  // namespace detail

/// What a rank computes for a microbatch, and the parameters of the model.
struct training_work {
    detail::training_passes passes;
    detail::job_parameters parameters;
    training_memory memory;              ///< of a short step: the parameters and the optimizer state
    std::vector<double> update_seconds;  ///< of each kernel of the optimizer, if a device updated all parameters
    double launch_seconds = 0;           ///< of the host, for a kernel
};

/// What the works of several jobs of a model have in common: forward kernels, parameters and optimizer state.
class training_work_cache {
public:
    /// The kernels of a microbatch before they are divided over ranks, by the batch and the tokens of a rank.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<model_kernel>> kernels{};
    std::vector<rank_parameter> parameters{};
    std::optional<training_memory> memory{};
};

/// The work of a rank. Jobs share it if they differ in pipeline, data parallelism, sharding, microbatches or overlap
/// only. `cache`: of jobs with an equal model, device, optimizer and loss.
[[nodiscard]] std::shared_ptr<const training_work> training_work_of(const model& full_model, const workload& load,
                                                                    const execution& execution, const device& device,
                                                                    kernel_source& kernels, const training_plan& plan,
                                                                    const training_job& job,
                                                                    training_work_cache& cache);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/training_work.ipp>  // IWYU pragma: export
#endif
