// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/training_step.hpp>

// The ranks of a pipeline: their stages, and the messages between them.
namespace llmcost {

/// The schedule of a job. Throws: `error` for sizes that the schedule does not support.
[[nodiscard]] distributed::pipeline_schedule schedule_of(const training_parallelism& parallel);

/// Whether a schedule computes gradients of inputs and of weights separately.
[[nodiscard]] bool has_separate_weight_gradients(const distributed::pipeline_schedule& schedule) noexcept;

/// Ranks of a pipeline over a recorded model of `num_layers` layers. Names of parameters begin with their stage.
///
/// A stage sends its output, of the type and the size of the hidden states, and receives a gradient of the same size.
/// Within a stage, its tensor-parallel ranks communicate as in a model without a pipeline.
/// Source: torch/distributed/pipelining/stage.py, `get_fwd_send_ops`, `get_bwd_send_ops`.
///
/// Data-parallel ranks communicate once in a step. FSDP gathers a stage with `UNSHARD` or in its first forward, and
/// reduces its gradients with `REDUCE_GRAD`. DistributedDataParallel reduces in the last backward of a stage, without a
/// broadcast of buffers. Source: torch/distributed/pipelining/stage.py, `forward_maybe_with_nosync`,
/// `backward_maybe_with_nosync`. It does not reduce if the gradients of weights are computed separately
/// (`has_separate_weight_gradients`), because `stage_backward_weight` does not execute its hooks.
///
/// `loss_sum_bytes`: of each all-reduce of a loss over divided logits.
[[nodiscard]] std::vector<training_rank> pipeline_ranks_of(const recorded_training& recorded, std::int64_t num_layers,
                                                           const training_parallelism& parallel,
                                                           const std::vector<std::int64_t>& ranks,
                                                           std::uint64_t loss_sum_bytes = 0);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/pipeline_ranks.ipp>  // IWYU pragma: export
#endif
