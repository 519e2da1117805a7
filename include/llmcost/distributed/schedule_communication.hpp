// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/pipeline_schedule.hpp>

// The actions that move data: activations and gradients between stages, parameters and gradients between data
// parallel ranks.
namespace llmcost::distributed {

/// Options of PyTorch's classes: `max_active_stages`, `defer_reduce_grad_wait`, `defer_pp_recv`.
///
/// They do not apply to GPipe and 1F1B.
struct communication_options {
    /// Stages of a rank whose parameters FSDP keeps gathered at the same time; the next ones are gathered ahead.
    int max_active_stages = 3;
    /// `WAIT_REDUCE_GRAD` before the next `REDUCE_GRAD` of the rank or at the end, so that computation overlaps it.
    bool defer_reduce_gradient_wait = false;
    /// `RECV` as late as possible: before the action that needs it, or before a send to the same rank if that is later.
    bool defer_receives = false;
};

/// Adds communication to the order of a schedule, and removes bubbles. The result is what PyTorch's runtime executes.
///
/// - Schedules with several stages per rank, and ZB-H1: `UNSHARD` and `RESHARD` by next use, `REDUCE_GRAD` after the
///   last weight gradient of a stage, `RECV` where the other rank sends. `WAIT_SEND_F` follows the backward of the
///   microbatch; other waits are at the end.
/// - GPipe and 1F1B: the calls of their classes. A rank receives before it computes. 1F1B sends and receives in one
///   batch between forward and backward, and waits for it. They have no `UNSHARD`: FSDP's hooks gather parameters.
///
/// Throws: `error` if the order cannot be executed, or if an overlap needs more stages than `max_active_stages`.
/// Source: PyTorch, schedules.py, `_prepare_schedule_with_comms`; `ScheduleGPipe` and `Schedule1F1B`,
/// `_step_microbatches`.
[[nodiscard]] ranked_actions add_communication(const pipeline_schedule& schedule, communication_options options = {});

}  // namespace llmcost::distributed

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/schedule_communication.ipp>  // IWYU pragma: export
#endif
