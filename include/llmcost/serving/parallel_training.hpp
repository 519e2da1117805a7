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
#include <llmcost/serving/parallel_training_cost.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training_job.hpp>

// The time of a training step of a job on many devices.
namespace llmcost {

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
