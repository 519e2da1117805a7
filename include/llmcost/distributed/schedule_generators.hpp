// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/pipeline_action.hpp>

// Orders of actions by schedule. The sizes were checked by `make_pipeline_schedule`.
namespace llmcost::distributed::detail {

/// Source: PyTorch, schedules.py, `ScheduleGPipe`.
[[nodiscard]] ranked_actions gpipe_order(int ranks, int microbatches);

/// Warmup of `ranks - 1 - rank` forwards, then one forward and one backward in turn, then the remaining backwards.
///
/// Source: PyTorch, schedules.py, `Schedule1F1B._step_microbatches`; Megatron-LM, core/pipeline_parallel/schedules.py,
/// `forward_backward_pipelining_without_interleaving`.
[[nodiscard]] ranked_actions one_forward_one_backward_order(int ranks, int microbatches);

/// Microbatches of a round, which each stage of a rank computes before the next stage of the rank begins.
/// Equals `ranks` if `ranks` divides the microbatches.
///
/// Source: PyTorch, schedules.py, `ScheduleInterleaved1F1B.__init__`.
struct microbatch_rounds {
    int rounds = 1;
    int microbatches_per_round = 1;
};
[[nodiscard]] microbatch_rounds rounds_of(int ranks, int microbatches);

/// Interleaved 1F1B. Megatron-LM has the same order if `ranks` divides the microbatches, with its default
/// `microbatch_group_size_per_vp_stage`, the number of ranks: the same warmup, the same rounds.
///
/// Source: PyTorch, schedules.py, `ScheduleInterleaved1F1B`, `_get_1f1b_rank_ops`; Megatron-LM,
/// core/pipeline_parallel/schedules.py, `get_pp_rank_microbatches`, `get_schedule_table`.
[[nodiscard]] ranked_actions interleaved_order(int ranks, int stages_per_rank, int microbatches);

/// Interleaved 1F1B with half of the warmup, and weight gradients that follow `rank` backwards later.
///
/// Source: PyTorch, schedules.py, `ScheduleInterleavedZeroBubble`, `_get_1f1b_rank_ops`.
[[nodiscard]] ranked_actions interleaved_zero_bubble_order(int ranks, int stages_per_rank, int microbatches);

/// Source: PyTorch, schedules.py, `ScheduleLoopedBFS`.
[[nodiscard]] ranked_actions looped_bfs_order(int ranks, int stages_per_rank, int microbatches);

/// ZB-H1: 1F1B, whose weight gradients follow `rank` backwards later and fill the bubble at the end.
///
/// Source: Zero Bubble Pipeline Parallelism (arXiv:2401.10241), section 2.3; Megatron-DeepSpeed,
/// core/pipeline_parallel/deepspeed_zbh1_schedule.py, `ZeroBubbleH1Pipeline.steps`, with separate input and weight
/// gradients everywhere, as with its option `enable_zbh1_exact_semantics`.
[[nodiscard]] ranked_actions zb_h1_order(int ranks, int microbatches);

/// Source: PyTorch, schedules.py, `ScheduleZBVZeroBubble`.
[[nodiscard]] ranked_actions zbv_order(int ranks, int microbatches);

/// Source: PyTorch, schedules.py, `ScheduleDualPipeV`.
[[nodiscard]] ranked_actions dual_pipe_v_order(int ranks, int microbatches);

}  // namespace llmcost::distributed::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/schedule_generators.ipp>  // IWYU pragma: export
#endif
