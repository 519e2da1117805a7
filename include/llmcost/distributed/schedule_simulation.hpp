// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <llmcost/distributed/pipeline_schedule.hpp>

// Time of a pipeline schedule: start and end of every action, bubbles, deadlocks.
namespace llmcost::distributed {

/// Seconds of the actions of one microbatch, by stage. A vector with one element is that of all stages.
struct schedule_durations {
    std::vector<double> forward{};          ///< required
    std::vector<double> backward_input{};   ///< empty: 0
    std::vector<double> backward_weight{};  ///< empty: 0
    std::vector<double> backward{};         ///< empty: `backward_input` + `backward_weight`
    std::vector<double> overlap{};          ///< by the stage of the forward; empty: forward + backward, no overlap
    double forward_transfer_seconds = 0;    ///< activations from one rank to another one
    double backward_transfer_seconds = 0;   ///< gradients from one rank to another one
    std::vector<double> unshard{};          ///< FSDP's all-gather of the parameters of a stage; empty: 0
    std::vector<double> reduce_gradient{};  ///< reduction of the gradients of a stage; empty: 0
};

/// An action with its time.
struct timed_action {
    pipeline_action action{};
    double start_seconds = 0, end_seconds = 0;
};

/// The time of one step.
struct schedule_timeline {
    std::vector<std::vector<timed_action>> ranks{};  ///< without bubbles
    double step_seconds = 0;
    std::vector<double> compute_seconds{};  ///< forward and backward, by rank
    std::vector<double> bubble_seconds{};   ///< `step_seconds` - `compute_seconds`, by rank

    /// Share of the step that a rank does not compute.
    [[nodiscard]] double bubble_fraction(int rank) const;
    /// Share of the step that ranks do not compute, in the mean of all ranks.
    [[nodiscard]] double bubble_fraction() const;
};

/// Executes the order of a schedule. An action starts when its rank is free and its input is available.
///
/// A transfer between ranks begins with the end of its action and needs no time of either rank. Transfers do not slow
/// each other down. The number of operations is linear in the number of actions.
///
/// Throws: `error` if a duration has neither one element nor one for each stage, or if ranks wait for each other; the
/// message names the actions that wait.
[[nodiscard]] schedule_timeline simulate(const pipeline_schedule& schedule, const schedule_durations& durations);

/// Executes an order with communication of a schedule (`add_communication`).
///
/// - `SEND` and `RECV` are issued without waiting. The transfer begins when both are issued, each after the computation
///   that precedes it on its rank. Forward and backward wait for their `RECV`, `WAIT_SEND` for the end of the transfer.
/// - `UNSHARD` is issued without waiting. Gathers of a rank follow each other. Forward and backward wait for the gather
///   of their stage.
/// - `REDUCE_GRAD` is issued without waiting, `WAIT_REDUCE_GRAD` waits for it. Reductions of a rank follow each other.
///
/// `end_seconds` of an action that is issued without waiting is the end of the transfer, gather or reduction.
/// Throws: as the other overload.
/// Source: PyTorch, schedules.py, `_PipelineScheduleRuntime._step_microbatches`, `_simulate_comms_compute`;
/// torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, `syncStream`: a transfer follows the computation issued before it.
[[nodiscard]] schedule_timeline simulate(const pipeline_schedule& schedule, const ranked_actions& order,
                                         const schedule_durations& durations);

}  // namespace llmcost::distributed

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/schedule_simulation.ipp>  // IWYU pragma: export
#endif
