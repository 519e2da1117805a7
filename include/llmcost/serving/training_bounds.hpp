// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/serving/training_candidates.hpp>

// Lower bounds of the memory of a training job, which exclude configurations without a replay of their step.
namespace llmcost {

/// Bytes of parameters, gradients and optimizer state of a pipeline rank with `dense` and `experts` parameters before
/// they are divided over ranks, or less.
///
///     Megatron: 6 · P / tp + 12 · P / (tp · dp · cp), with 16-bit parameters; experts over ep · etp and their
///     data-parallel ranks. Without the distributed optimizer 18 · P / tp.
///     FSDP: 16 · P / (tp · dp · cp), and in a pipeline 2 · P / tp gathered; experts over ep ranks in addition.
///
/// Source: see `set_megatron_state`.
[[nodiscard]] double minimum_state_bytes(double dense, double experts, const training_variant& variant,
                                         const training_parallelism& parallel) noexcept;

/// Stages of microbatches whose activations a pipeline rank holds at the same time.
[[nodiscard]] std::int64_t microbatches_in_flight(const distributed::pipeline_schedule& schedule,
                                                  std::size_t rank) noexcept;

/// A lower bound of the peak of the largest pipeline rank, from its stages and the activations in flight.
///
///     parameters + optimizer state + buffers + gradients + (in flight − 1) · saved + peak of a forward or backward
///
/// `saved`, `peak`: the smallest of the stages of a rank. Gradients: those that exist while the most activations do.
/// `schedule`: sizes only. Source: `rank_memory_of`, `alive_activations`.
[[nodiscard]] std::uint64_t minimum_peak_bytes(const std::vector<stage_memory>& stages,
                                               const distributed::pipeline_schedule& schedule);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/training_bounds.ipp>  // IWYU pragma: export
#endif
