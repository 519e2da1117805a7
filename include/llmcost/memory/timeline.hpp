// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/backward_replay.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost {

namespace detail {

/// Replays a tape over several training steps.
class tape_replay final : private backward_replay {
public:
    tape_replay(const tape& tape, const training_schedule& plan, memory_timeline& out, replay_observer* observer)
        : backward_replay(tape, plan, out, observer) {}

    void replay();
};

}  // namespace detail

/// Memory of training over `plan.num_steps` steps. The observer receives the last pass of the last step.
[[nodiscard]] memory_timeline replay_training(const tape& pass, const training_schedule& plan,
                                              replay_observer* observer = nullptr);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/timeline.ipp>  // IWYU pragma: export
#endif
