// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>

#include <llmcost/distributed/pipeline_schedule.hpp>

// Bubbles and activations of schedules in closed form, for searches over many sizes. Tests compare them with `simulate`
// and `peak_activations`.
namespace llmcost::distributed {

/// Seconds of one microbatch of one stage, equal for all stages.
struct uniform_durations {
    double forward = 0, backward_input = 0, backward_weight = 0;
};

/// The bubble of each rank in a step, if transfers between ranks take no time.
///
///     GPipe, 1F1B, interleaved 1F1B, looped BFS    (ranks - 1) (F + I + W)
///     ZB-H1, interleaved zero bubble               (ranks - 1) (F + I - min(F, I, W))
///
/// F, I, W are those of one stage. The number of microbatches must be a multiple of `ranks`. Without value for
/// schedules that are placed as a V: their bubble depends on F, I and W case by case. Source: GPipe arXiv:1811.06965;
/// Megatron-LM arXiv:2104.04473, section 2.2; zero bubble arXiv:2401.10241, section 2.3, whose (ranks - 1) (F + I - W)
/// is the case that W is the shortest.
[[nodiscard]] constexpr std::optional<double> bubble_seconds(schedule_kind kind, int ranks,
                                                             const uniform_durations& stage) {
    const double forward = stage.forward, input = stage.backward_input, weight = stage.backward_weight;
    switch (kind) {
        case schedule_kind::gpipe:
        case schedule_kind::one_forward_one_backward:
        case schedule_kind::interleaved:
        case schedule_kind::looped_bfs: return (ranks - 1) * (forward + input + weight);
        case schedule_kind::zb_h1:
        case schedule_kind::interleaved_zero_bubble:
            return (ranks - 1) * (forward + input - std::min({forward, input, weight}));
        case schedule_kind::zbv:
        case schedule_kind::dual_pipe_v: break;
    }
    return std::nullopt;
}

/// The largest number of activations of a rank that are alive at the same time, each of one stage and microbatch.
///
/// The number of microbatches must be a multiple of `ranks`, and for schedules that are placed as a V at least 2
/// `ranks`.
///
///     GPipe, looped BFS                 stages_per_rank microbatches
///     1F1B, interleaved 1F1B            (stages_per_rank - 1) ranks + hops (ranks - 1 - rank) + 1
///     ZB-H1, interleaved zero bubble    stages_per_rank ranks
///     ZBV                               2 ranks
///     DualPipeV                         2 ranks + 1
///
/// `hops`: 2 of interleaved 1F1B, 1 of 1F1B. Not more than GPipe.
/// Source: the warmup of each schedule (schedule_generators.hpp).
[[nodiscard]] constexpr int alive_activations(schedule_kind kind, int ranks, int stages_per_rank, int microbatches,
                                              int rank) {
    const int all = stages_per_rank * microbatches, later_ranks = ranks - 1 - rank;
    switch (kind) {
        case schedule_kind::gpipe:
        case schedule_kind::looped_bfs: return all;
        case schedule_kind::one_forward_one_backward: return std::min(all, later_ranks + 1);
        case schedule_kind::interleaved: return std::min(all, (stages_per_rank - 1) * ranks + 2 * later_ranks + 1);
        case schedule_kind::zb_h1:
        case schedule_kind::interleaved_zero_bubble: return std::min(all, stages_per_rank * ranks);
        case schedule_kind::zbv: return 2 * ranks;
        case schedule_kind::dual_pipe_v: return std::min(all, 2 * ranks + 1);
    }
    return all;
}

}  // namespace llmcost::distributed
