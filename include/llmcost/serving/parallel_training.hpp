// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training_job.hpp>
#include <llmcost/trace/collective.hpp>

// The time of a training step of a job on many devices.
namespace llmcost {

/// The communication of one group of ranks in a step, on the slowest rank.
struct training_communication {
    mesh_axis axis{};
    std::int64_t size = 1;       ///< ranks of the group
    bool crosses_nodes = false;  ///< whether a network connects ranks of the group
    double seconds = 0;
    double exposed_seconds = 0;  ///< seconds that no computation hides
    double bytes_sent = 0;       ///< by a device
    double bytes_received = 0;   ///< by a device
};

/// The time of a training step of a job, on the pipeline rank that takes the longest.
///
/// `step` = `forward` + `backward` + `recomputed` + exposed communication + `bubble` + `host` + `optimizer`.
struct parallel_training_cost {
    step_cost forward{};   ///< of all microbatches
    step_cost backward{};  ///< without recomputation
    step_cost recomputed{};
    double optimizer_seconds = 0;  ///< update and gradient norm
    double bubble_seconds = 0;     ///< the rank waits for other pipeline stages
    double host_seconds = 0;       ///< the device waits for the host to launch kernels
    std::vector<training_communication> communication{};
    step_time total{};
    double model_flops = 0;     ///< of a device: 3 · forward FLOPs, without recomputation
    double hardware_flops = 0;  ///< of a device, with recomputation
    double tokens_per_second_per_device = 0;
    double recomputed_share = 0;  ///< repeated forward FLOPs / forward FLOPs of layers
    double parameters = 0;        ///< of the pipeline rank, before data-parallel sharding

    [[nodiscard]] double exposed_seconds() const noexcept;
    /// Model FLOPs / (peak · seconds). Source: PaLM, arXiv 2204.02311, appendix B.
    [[nodiscard]] double model_flops_utilization(double peak) const noexcept;
    /// FLOPs with recomputation / (peak · seconds). Source: PaLM, arXiv 2204.02311, appendix B.
    [[nodiscard]] double hardware_flops_utilization(double peak) const noexcept;
};

/// The fraction of the time of all microbatches that a pipeline rank waits with GPipe or 1F1B: (p − 1) / (v · m).
///
/// p: pipeline ranks, v: stages per rank (interleaved 1F1B), m: microbatches. Stages take equal times.
/// Source: Megatron-LM, arXiv 2104.04473, section 2.2.
[[nodiscard]] double bubble_fraction(const training_parallelism& parallel) noexcept;

/// The time of a training step of a job.
///
/// `load`: a microbatch of one data-parallel rank. Microbatches: `job.parallel.microbatches`.
/// Throws: `config_error` for sizes that contradict each other.
[[nodiscard]] parallel_training_cost time_parallel_training(const model& full_model, workload load,
                                                            const execution& execution, const device& device,
                                                            kernel_source& kernels, const training_plan& plan,
                                                            const training_job& job);

struct training_work;

/// A lower bound of the step time of a job, in seconds: no communication, no host time and no optimizer.
///
/// m: microbatches, p: pipeline ranks, c(s): forward and backward seconds of stage s. Pipeline rank r computes
///
///     m · Σ c(s), over the stages s of the rank,
///
/// after the stages before r, and before their backward: + Σ c(s) for s < r. The bound is the largest of all ranks.
/// Stages are placed in a loop: stage s is on rank s mod p.
[[nodiscard]] double minimum_step_seconds(const training_work& work, std::int64_t num_layers,
                                          const training_parallelism& parallel);

/// What the time of a job assumes: one line each.
[[nodiscard]] std::vector<std::string> assumptions_of(const training_job& job, const training_plan& plan,
                                                      const execution& execution);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/parallel_training.ipp>  // IWYU pragma: export
#endif
