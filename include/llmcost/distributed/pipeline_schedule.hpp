// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/distributed/pipeline_action.hpp>

// Pipeline schedules: which stage and microbatch each rank computes in which order.
namespace llmcost::distributed {

/// A rule that orders forward and backward passes of microbatches over the stages of a pipeline.
///
/// Source: PyTorch, torch/distributed/pipelining/schedules.py, `get_schedule_class`; `zb_h1`: Megatron-DeepSpeed,
/// megatron/core/pipeline_parallel/deepspeed_zbh1_schedule.py, `ZeroBubbleH1Pipeline`.
enum class schedule_kind {
    gpipe,                     ///< all forwards, then all backwards
    one_forward_one_backward,  ///< 1F1B, as Megatron-LM without interleaving
    interleaved,               ///< interleaved 1F1B with several stages per rank, as Megatron-LM with virtual pipeline
    looped_bfs,                ///< breadth-first: each stage computes all microbatches before the next one
    zb_h1,                     ///< 1F1B with separate weight gradients, within the memory of 1F1B
    interleaved_zero_bubble,   ///< interleaved 1F1B with separate weight gradients
    zbv,                       ///< zero bubble with two stages per rank, placed as a V
    dual_pipe_v                ///< DualPipe with two stages per rank, placed as a V; overlaps forward and backward
};

/// How stages are placed on ranks.
enum class stage_placement {
    loop,  ///< rank r has the stages r, r + ranks, r + 2 ranks, ...
    v      ///< rank r has the stages r and 2 ranks - 1 - r
};

/// A schedule of one training step.
struct pipeline_schedule {
    schedule_kind kind = schedule_kind::one_forward_one_backward;
    int ranks = 1;
    int stages_per_rank = 1;
    int microbatches = 1;
    ranked_actions order{};  ///< forward and backward actions by rank; `idle` only where PyTorch's table has bubbles

    [[nodiscard]] int num_stages() const noexcept { return ranks * stages_per_rank; }
    [[nodiscard]] stage_placement placement() const noexcept {
        return kind == schedule_kind::zbv || kind == schedule_kind::dual_pipe_v ? stage_placement::v
                                                                                : stage_placement::loop;
    }
    /// The rank that has a stage.
    ///
    /// Source: PyTorch, torch/distributed/pipelining/_utils.py, `generate_stage_to_rank_mapping`.
    [[nodiscard]] int rank_of_stage(int stage) const noexcept {
        const int position = stage % ranks;
        return placement() == stage_placement::v && stage / ranks % 2 == 1 ? ranks - 1 - position : position;
    }
    /// The stages of a rank, ascending.
    [[nodiscard]] std::vector<int> stages_of_rank(int rank) const;
};

/// The name of a schedule in options and tables: `1f1b`, `interleaved-1f1b`, `zb-v`.
[[nodiscard]] std::string_view schedule_name(schedule_kind kind) noexcept;

/// The name of a schedule in PyTorch without `Schedule`: `Interleaved1F1B`. `ZBH1` of `zb_h1`, which PyTorch lacks.
[[nodiscard]] std::string_view pytorch_schedule_name(schedule_kind kind) noexcept;

/// Parses the name of a schedule. Case, `-`, `_` and the prefix `Schedule` have no meaning.
///
/// Names: those of PyTorch, those of `schedule_name`, and `interleaved`, `zbv`, `zb1p`.
/// Throws: `error` with the nearest names.
[[nodiscard]] schedule_kind parse_schedule_name(std::string_view name);

/// Stages per rank that a schedule requires: 1, 2, or 0 for any number.
[[nodiscard]] int required_stages_per_rank(schedule_kind kind) noexcept;

/// Creates the schedule of one training step with forward and backward.
///
/// Throws: `error` if the schedule does not support the sizes: its number of stages per rank, too few microbatches, or
/// microbatches that its rounds do not divide.
/// Source: PyTorch, schedules.py, `_get_pipeline_order` and `_calculate_single_rank_operations` of each class.
[[nodiscard]] pipeline_schedule make_pipeline_schedule(schedule_kind kind, int ranks, int stages_per_rank,
                                                       int microbatches);

/// The table `pipeline_order` of PyTorch's class, action by action.
///
/// It differs from `order` for schedules with one stage per rank (`gpipe`, `one_forward_one_backward`):
/// - `REDUCE_GRAD` and `WAIT_REDUCE_GRAD` follow the last backward.
/// - In the table of `Schedule1F1B`, the last rank numbers its forwards from 1 instead of 0. The class executes them
///   from 0 (`_step_microbatches`), as `order` does.
///
/// Source: PyTorch, schedules.py, `Schedule1F1B._get_pipeline_order`, `_add_reduce_grad`.
[[nodiscard]] ranked_actions pytorch_pipeline_order(const pipeline_schedule& schedule);

}  // namespace llmcost::distributed

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/pipeline_schedule.ipp>  // IWYU pragma: export
#endif
