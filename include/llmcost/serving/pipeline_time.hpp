// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/training_parallelism.hpp>

// The time of the microbatches of a pipeline.
namespace llmcost::detail {

/// Layers of each pipeline stage. The first stages have the remaining layers.
[[nodiscard]] std::vector<double> layers_of_stages(std::int64_t num_layers, const training_parallelism& parallel);

/// The kind of the schedule of a job: 1F1B with several stages per rank is interleaved, and with one stage is not.
[[nodiscard]] distributed::schedule_kind timed_schedule_kind(const training_parallelism& parallel);

/// The kind and the sizes of the schedule of a job, without its order.
[[nodiscard]] distributed::pipeline_schedule unordered_schedule_of(const training_parallelism& parallel);

/// The schedule of a job; without an order if the schedule does not support its number of microbatches.
[[nodiscard]] distributed::pipeline_schedule timed_schedule_of(const training_parallelism& parallel);

/// Seconds of all microbatches of a pipeline, whose stages take the given times for one microbatch.
///
/// Without an order: the slowest rank computes without a pause after the first microbatch has passed the others.
[[nodiscard]] double pipeline_seconds(const distributed::pipeline_schedule& schedule,
                                      const std::vector<double>& forward, const std::vector<double>& backward,
                                      double transfer_seconds);

/// A lower bound of `pipeline_seconds`, without the order of the schedule.
///
/// m: microbatches, f(s), b(s): forward and backward seconds of stage s, c(s): their sum. Pipeline rank r computes
///
///     m · Σ c(s), over the stages s of the rank,
///
/// after the first forward of the stages before r, and before their last backward: + Σ c(s) for s < r. If the
/// schedule splits backward, ranks compute gradients of weights in the meantime: + Σ f(s) for s < r.
[[nodiscard]] double minimum_pipeline_seconds(const distributed::pipeline_schedule& schedule,
                                              const std::vector<double>& forward, const std::vector<double>& backward);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/pipeline_time.ipp>  // IWYU pragma: export
#endif
