// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <llmcost/memory/backward_player.hpp>

namespace llmcost {

namespace detail {

/// Plays a tape over some steps.
class tape_player final : private backward_player {
public:
    tape_player(const tape& of, const training_schedule& plan, memory_timeline& out) : backward_player(of, plan, out) {}

    void play() {
        // from the second pass of a step on all are alike
        const auto passes = static_cast<int>(std::min<std::int64_t>(plan_.accumulation, 2));
        for (step_ = 1; step_ <= plan_.steps; ++step_) {
            for (int pass = 1; pass <= passes; ++pass) {
                first_ = step_ == 1 && pass == 1, last_ = pass == passes;
                forward();
                out_.after_forward = now_.now();
                let_go_of_outputs();
                backward();
                out_.after_backward = now_.now();
                let_go_of_loss();
            }
            parameters_->update();
            note(-1, true);
            out_.after_step = now_.now();
            parameters_->end();
        }
    }
};

}  // namespace detail

/// Memory of a pass that is trained so many steps.
[[nodiscard]] inline memory_timeline timeline_of(const tape& pass, const training_schedule& plan) {
    memory_timeline out;
    detail::tape_player(pass, plan, out).play();
    return out;
}

}  // namespace llmcost
