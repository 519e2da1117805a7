// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/rl_iteration.hpp>

#include <algorithm>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/serving/parallel_training.hpp>

namespace llmcost {

LLMCOST_INLINE double forward_pass_seconds(const parallel_training_cost& step) noexcept {
    const double computed = step.forward.seconds + step.backward.seconds + step.recomputed.seconds;
    return computed > 0 ? (step.total.seconds - step.optimizer_seconds) * step.forward.seconds / computed : 0;
}

LLMCOST_INLINE rl_iteration compose_iteration(const rl_workload& load, const rl_parts& parts) {
    rl_iteration out;
    const auto add = [&](std::string_view name, rl_place place, double seconds) {
        if (seconds > 0) out.phases.push_back({name, place, seconds});
    };
    const auto mini_batches = static_cast<double>(load.num_mini_batches());
    const double forward = mini_batches * parts.forward_seconds;
    const double training = static_cast<double>(load.epochs) * mini_batches * parts.training_step_seconds;
    const bool has_critic = load.algorithm == rl_algorithm::ppo;
    add("generate_sequences", rl_place::rollout, parts.rollout_seconds);
    add("offload", rl_place::all, parts.offload_seconds);
    if (load.has_reward_model) add("compute_rm_score", rl_place::trainer, forward);
    add("compute_log_prob", rl_place::trainer, forward);
    if (load.has_reference) add("compute_ref_log_prob", rl_place::trainer, forward);
    if (has_critic) {
        add("compute_values", rl_place::trainer, forward);
        add("update_critic", rl_place::trainer, training);
    }
    add("update_actor", rl_place::trainer, training);
    add("update_weights", rl_place::all, parts.weight_transfer_seconds);
    double rollout = 0, trainer = 0, transfers = 0;
    for (const rl_phase& phase : out.phases)
        (phase.place == rl_place::rollout   ? rollout
         : phase.place == rl_place::trainer ? trainer
                                            : transfers) += phase.seconds;
    out.seconds = transfers + (load.is_async ? std::max(rollout, trainer) : rollout + trainer);
    return out;
}

}  // namespace llmcost
