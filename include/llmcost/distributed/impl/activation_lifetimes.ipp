// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/activation_lifetimes.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost::distributed {
namespace detail {

/// Calls `visit(stage, change)` for each change of the number of activations, those of an action in the order in which
/// they are alive: first the forward of an overlap.
template <class Visit>
void visit_lifetimes(const rank_actions& actions, Visit visit) {
    for (const pipeline_action& action : actions)
        for_each_part(action, [&](const pipeline_action& part) {
            if (part.kind == action_kind::forward) visit(static_cast<std::size_t>(part.stage), 1);
            if (has_weight_gradient(part.kind)) visit(static_cast<std::size_t>(part.stage), -1);
        });
}

}  // namespace detail

LLMCOST_INLINE activation_peaks peak_activations(const pipeline_schedule& schedule) {
    std::vector<int> alive(static_cast<std::size_t>(schedule.num_stages()));
    activation_peaks peaks{{}, alive};
    for (const rank_actions& actions : schedule.order) {
        int sum = 0, peak = 0;
        detail::visit_lifetimes(actions, [&](std::size_t stage, int change) {
            alive[stage] += change;
            peaks.stages[stage] = std::max(peaks.stages[stage], alive[stage]);
            peak = std::max(peak, sum += change);
        });
        peaks.ranks.push_back(peak);
    }
    return peaks;
}

LLMCOST_INLINE std::vector<double> peak_activation_bytes(const pipeline_schedule& schedule,
                                                         const activation_sizes& sizes) {
    std::vector<double> peaks;
    for (const rank_actions& actions : schedule.order) {
        double sum = 0, peak = 0;
        for (const pipeline_action& action : actions)
            for_each_part(action, [&](const pipeline_action& part) {
                if (!is_compute(part.kind)) return;
                const auto stage = static_cast<std::size_t>(part.stage);
                const double input = sizes.input_gradient_bytes[stage], weight = sizes.weight_gradient_bytes[stage];
                if (part.kind == action_kind::forward) sum += input + weight;
                peak = std::max(peak, sum);
                if (has_input_gradient(part.kind)) sum -= input;
                if (has_weight_gradient(part.kind)) sum -= weight;
            });
        peaks.push_back(peak);
    }
    return peaks;
}

}  // namespace llmcost::distributed
