// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace llmcost::distributed {

/// What one entry of a pipeline schedule does.
///
/// Source: PyTorch, torch/distributed/pipelining/schedules.py, `_ComputationType`.
enum class action_kind {
    forward,               ///< `F`
    backward,              ///< `B`: gradients of inputs and of weights
    backward_input,        ///< `I`: gradients of inputs only
    backward_weight,       ///< `W`: gradients of weights only, after `I`
    overlap,               ///< `OVERLAP_F_B`: forward of one stage and backward of another one, as one action
    unshard,               ///< `UNSHARD`: FSDP gathers the parameters of the stage
    reshard,               ///< `RESHARD`: FSDP frees them
    send_forward,          ///< `SEND_F`: activations to the next stage
    recv_forward,          ///< `RECV_F`: activations of the previous stage
    send_backward,         ///< `SEND_B`: gradients to the previous stage
    recv_backward,         ///< `RECV_B`: gradients of the next stage
    wait_send_forward,     ///< `WAIT_SEND_F`: until `SEND_F` is complete
    wait_send_backward,    ///< `WAIT_SEND_B`: until `SEND_B` is complete
    reduce_gradient,       ///< `REDUCE_GRAD`: data parallel ranks reduce the gradients of the stage
    wait_reduce_gradient,  ///< `WAIT_REDUCE_GRAD`: until `REDUCE_GRAD` is complete
    idle                   ///< a bubble of the table
};

/// An entry of a pipeline schedule. Stages and microbatches count from 0.
struct pipeline_action {
    int stage = -1;  ///< of an overlap: that of the forward
    action_kind kind = action_kind::idle;
    int microbatch = -1;                                ///< -1: of all microbatches
    int backward_stage = -1, backward_microbatch = -1;  ///< of an overlap

    friend bool operator==(const pipeline_action&, const pipeline_action&) = default;
};

using rank_actions = std::vector<pipeline_action>;  ///< actions of one rank in their order
using ranked_actions = std::vector<rank_actions>;   ///< by rank

/// Whether the action executes a stage: forward or backward.
[[nodiscard]] constexpr bool is_compute(action_kind kind) noexcept { return kind <= action_kind::overlap; }

/// Whether the action computes the gradient of the stage's input, which the previous stage needs.
[[nodiscard]] constexpr bool has_input_gradient(action_kind kind) noexcept {
    return kind == action_kind::backward || kind == action_kind::backward_input;
}

/// Whether the action computes the gradients of the stage's weights. Afterwards no activation is alive.
[[nodiscard]] constexpr bool has_weight_gradient(action_kind kind) noexcept {
    return kind == action_kind::backward || kind == action_kind::backward_weight;
}

/// Calls `visit` with the action, or with forward and backward of an overlap, in this order.
template <class Visit>
void for_each_part(const pipeline_action& action, Visit visit) {
    if (action.kind != action_kind::overlap) return visit(action);
    visit(pipeline_action{.stage = action.stage, .kind = action_kind::forward, .microbatch = action.microbatch});
    visit(pipeline_action{
        .stage = action.backward_stage, .kind = action_kind::backward, .microbatch = action.backward_microbatch});
}

/// The action as PyTorch prints it: `2F0`, `1SEND_B3`, `0UNSHARD`, `(2F2;1B0)OVERLAP_F_B`; `-` for a bubble.
///
/// Source: PyTorch, schedules.py, `_Action.__repr__`.
[[nodiscard]] std::string action_text(const pipeline_action& action);

/// Texts of actions, separated by spaces.
[[nodiscard]] std::string actions_text(const rank_actions& actions);

}  // namespace llmcost::distributed

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/pipeline_action.ipp>  // IWYU pragma: export
#endif
