// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/timeline.hpp>

#include <algorithm>
#include <cstdint>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/backward_replay.hpp>
#include <llmcost/memory/forward_replay.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/schedule.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void tape_replay::replay() {
    // all passes after the first one of a step are equal
    const bool observes_all = observer_ != nullptr && observer_->observes_all_passes();
    const std::int64_t distinct = observes_all ? plan_.gradient_accumulation_steps : 2;
    const auto passes = static_cast<int>(std::min<std::int64_t>(plan_.gradient_accumulation_steps, distinct));
    for (step_ = 1; step_ <= plan_.num_steps; ++step_) {
        for (int pass = 1; pass <= passes; ++pass) {
            is_first_pass_ = step_ == 1 && pass == 1;
            is_last_pass_ = pass == passes;
            parameters_->set_observer(observer());
            parameters_->begin_pass(is_last_pass_);
            out_.before_forward = tracker_.now();
            forward();
            out_.after_forward = tracker_.now();
            out_.forward_peak = tracker_.phase_peak();
            free_unreached_outputs();
            backward();
            out_.after_backward = tracker_.now();
            out_.backward_peak = tracker_.phase_peak();
            free_loss_and_leaves();
        }
        parameters_->optimizer_step();
        record_snapshot(-1, true);
        out_.after_step = tracker_.now();
        out_.step_peak = tracker_.phase_peak();
        parameters_->zero_gradients();
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE memory_timeline replay_training(const tape& pass, const training_schedule& plan,
                                               replay_observer* observer) {
    memory_timeline out;
    detail::tape_replay(pass, plan, out, observer).replay();
    return out;
}

}  // namespace llmcost
