// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/pipeline_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_simulation.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::vector<double> layers_of_stages(std::int64_t num_layers, const training_parallelism& parallel) {
    const std::int64_t stages = parallel.pipeline * parallel.stages_per_rank;
    std::vector<double> out(static_cast<std::size_t>(stages));
    const bool sets_first = stages > 1 && parallel.first_stage_layers >= 0,
               sets_last = stages > 1 && parallel.last_stage_layers >= 0;
    const std::int64_t first = sets_first ? parallel.first_stage_layers : 0,
                       last = sets_last ? parallel.last_stage_layers : 0;
    const std::int64_t others = stages - (sets_first ? 1 : 0) - (sets_last ? 1 : 0),
                       remaining = num_layers - first - last;
    std::int64_t position = 0;
    for (std::int64_t s = 0; s < stages; ++s) {
        const bool is_given = (s == 0 && sets_first) || (s + 1 == stages && sets_last);
        out[static_cast<std::size_t>(s)] = static_cast<double>(
            is_given ? (s == 0 ? first : last) : remaining / others + (position++ < remaining % others ? 1 : 0));
    }
    return out;
}

LLMCOST_INLINE distributed::schedule_kind timed_schedule_kind(const training_parallelism& parallel) {
    using distributed::schedule_kind;
    const schedule_kind kind = distributed::parse_schedule_name(parallel.schedule);
    if (kind == schedule_kind::one_forward_one_backward && parallel.stages_per_rank > 1)
        return schedule_kind::interleaved;
    if (kind == schedule_kind::interleaved && parallel.stages_per_rank == 1)
        return schedule_kind::one_forward_one_backward;
    return kind;
}

LLMCOST_INLINE distributed::pipeline_schedule unordered_schedule_of(const training_parallelism& parallel) {
    return {.kind = timed_schedule_kind(parallel),
            .ranks = static_cast<int>(parallel.pipeline),
            .stages_per_rank = static_cast<int>(parallel.stages_per_rank),
            .microbatches = static_cast<int>(parallel.microbatches)};
}

LLMCOST_INLINE distributed::pipeline_schedule timed_schedule_of(const training_parallelism& parallel) {
    distributed::pipeline_schedule sizes = unordered_schedule_of(parallel);
    try {
        return distributed::make_pipeline_schedule(sizes.kind, sizes.ranks, sizes.stages_per_rank, sizes.microbatches);
    } catch (const error&) {
        return sizes;
    }
}

/// The slowest rank computes without a pause after the first microbatch has passed the others.
[[nodiscard]] LLMCOST_INLINE double unordered_pipeline_seconds(const distributed::pipeline_schedule& schedule,
                                                               const std::vector<double>& forward,
                                                               const std::vector<double>& backward) {
    std::vector<double> ranks(static_cast<std::size_t>(schedule.ranks));
    double all = 0;
    for (std::size_t s = 0; s < forward.size(); ++s) {
        const double seconds = forward[s] + backward[s];
        ranks[static_cast<std::size_t>(schedule.rank_of_stage(static_cast<int>(s)))] += seconds;
        all += seconds;
    }
    const double slowest = *std::max_element(ranks.begin(), ranks.end());
    return schedule.microbatches * slowest + (all - slowest) / schedule.stages_per_rank;
}

LLMCOST_INLINE double pipeline_seconds(const distributed::pipeline_schedule& schedule,
                                       const std::vector<double>& forward, const std::vector<double>& backward,
                                       double transfer_seconds) {
    if (!schedule.order.empty()) {
        distributed::schedule_durations durations;
        durations.forward = forward;
        durations.backward = backward;
        for (const double seconds : backward) {  // gradients of inputs and of weights have as many products
            durations.backward_input.push_back(seconds / 2);
            durations.backward_weight.push_back(seconds / 2);
        }
        durations.forward_transfer_seconds = durations.backward_transfer_seconds = transfer_seconds;
        return distributed::simulate(schedule, durations).step_seconds;
    }
    return unordered_pipeline_seconds(schedule, forward, backward);
}

LLMCOST_INLINE double minimum_pipeline_seconds(const distributed::pipeline_schedule& schedule,
                                               const std::vector<double>& forward,
                                               const std::vector<double>& backward) {
    using distributed::schedule_kind;
    const schedule_kind kind = schedule.kind;
    const bool splits_backward = kind == schedule_kind::zb_h1 || kind == schedule_kind::interleaved_zero_bubble ||
                                 kind == schedule_kind::zbv || kind == schedule_kind::dual_pipe_v;
    const auto num_ranks = static_cast<std::size_t>(schedule.ranks);
    std::vector<double> seconds_of_rank(num_ranks);
    for (std::size_t s = 0; s < forward.size(); ++s)
        seconds_of_rank[static_cast<std::size_t>(schedule.rank_of_stage(static_cast<int>(s)))] +=
            forward[s] + backward[s];
    double largest = 0, earlier = 0;
    for (std::size_t rank = 0; rank < num_ranks; ++rank) {
        largest = std::max(largest, schedule.microbatches * seconds_of_rank[rank] + earlier);
        earlier += forward[rank] + (splits_backward ? 0 : backward[rank]);
    }
    constexpr double rounding = 1e-12;  // of sums in another order
    return (1 - rounding) * std::min(largest, unordered_pipeline_seconds(schedule, forward, backward));
}

}  // namespace llmcost::detail
