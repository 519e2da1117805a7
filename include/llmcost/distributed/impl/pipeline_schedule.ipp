// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/pipeline_schedule.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/schedule_generators.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::distributed {
namespace detail {

struct schedule_names {
    schedule_kind kind;
    std::string_view name, pytorch_name;
    std::array<std::string_view, 2> aliases{};
};

/// In the order of `schedule_kind`.
inline constexpr std::array<schedule_names, 8> schedules{{
    {schedule_kind::gpipe, "gpipe", "GPipe"},
    {schedule_kind::one_forward_one_backward, "1f1b", "1F1B"},
    {schedule_kind::interleaved, "interleaved-1f1b", "Interleaved1F1B", {"interleaved"}},
    {schedule_kind::looped_bfs, "looped-bfs", "LoopedBFS"},
    {schedule_kind::zb_h1, "zb-h1", "ZBH1"},
    {schedule_kind::interleaved_zero_bubble, "interleaved-zero-bubble", "InterleavedZeroBubble", {"zb1p"}},
    {schedule_kind::zbv, "zb-v", "ZBVZeroBubble", {"zbv"}},
    {schedule_kind::dual_pipe_v, "dualpipev", "DualPipeV"},
}};

/// Lower case, without `-`, `_`, spaces and the prefix `schedule`.
[[nodiscard]] inline std::string compact_schedule_name(std::string_view name) {
    std::string compact;
    for (const char c : lower(name))
        if (c != '-' && c != '_' && c != ' ') compact += c;
    constexpr std::string_view prefix = "schedule";
    return compact.starts_with(prefix) ? compact.substr(prefix.size()) : compact;
}

/// Forwards of a schedule that it may have, so that a mistyped number does not exhaust the memory.
inline constexpr std::int64_t maximum_forwards = std::int64_t{1} << 24;

[[noreturn]] inline void throw_schedule(schedule_kind kind, const std::string& message) {
    throw error(errc::bad_value, "schedule " + std::string(schedule_name(kind)), message);
}

inline void check_schedule_sizes(schedule_kind kind, int ranks, int stages_per_rank, int microbatches) {
    const auto number = [](int n) { return std::to_string(n); };
    if (ranks < 1 || stages_per_rank < 1 || microbatches < 1)
        throw_schedule(kind, "expected at least 1 rank, 1 stage per rank and 1 microbatch, found " + number(ranks) +
                                 ", " + number(stages_per_rank) + " and " + number(microbatches));
    if (const int required = required_stages_per_rank(kind); required != 0 && stages_per_rank != required)
        throw_schedule(kind, "expected " + number(required) + (required == 1 ? " stage" : " stages") +
                                 " per rank, found " + number(stages_per_rank));
    if (std::int64_t{ranks} * stages_per_rank > maximum_forwards ||
        std::int64_t{ranks} * stages_per_rank * microbatches > maximum_forwards)
        throw_schedule(kind, "expected at most " + std::to_string(maximum_forwards) +
                                 " forward passes (stages x microbatches), found " + number(ranks) + " ranks x " +
                                 number(stages_per_rank) + " stages x " + number(microbatches) + " microbatches");
    const int num_stages = ranks * stages_per_rank;
    const bool has_minimum = kind == schedule_kind::one_forward_one_backward || kind == schedule_kind::dual_pipe_v;
    if (has_minimum && microbatches < num_stages)
        throw_schedule(kind, "expected at least as many microbatches as stages (" + number(num_stages) + "), found " +
                                 number(microbatches));
    if (kind == schedule_kind::interleaved || kind == schedule_kind::interleaved_zero_bubble) {
        const int rounds = rounds_of(ranks, microbatches).rounds;
        if (microbatches % rounds != 0)
            throw_schedule(kind, "expected a multiple of the number of rounds (" + number(rounds) +
                                     " = microbatches / ranks, rounded down) as microbatches, found " +
                                     number(microbatches));
    }
}

}  // namespace detail

LLMCOST_INLINE std::vector<int> pipeline_schedule::stages_of_rank(int rank) const {
    std::vector<int> stages;
    for (int stage = 0; stage < num_stages(); ++stage)
        if (rank_of_stage(stage) == rank) stages.push_back(stage);
    return stages;
}

LLMCOST_INLINE std::string_view schedule_name(schedule_kind kind) noexcept {
    return detail::schedules[static_cast<std::size_t>(kind)].name;
}

LLMCOST_INLINE std::string_view pytorch_schedule_name(schedule_kind kind) noexcept {
    return detail::schedules[static_cast<std::size_t>(kind)].pytorch_name;
}

LLMCOST_INLINE schedule_kind parse_schedule_name(std::string_view name) {
    for (const detail::schedule_names& s : detail::schedules)
        if (name == s.name || (!name.empty() && name == s.aliases[0])) return s.kind;
    const std::string compact = detail::compact_schedule_name(name);
    name_suggestions suggestions(name);
    for (const detail::schedule_names& s : detail::schedules) {
        for (const std::string_view candidate : {s.name, s.pytorch_name, s.aliases[0], s.aliases[1]})
            if (!candidate.empty() && detail::compact_schedule_name(candidate) == compact) return s.kind;
        suggestions.add_candidate(s.name);
    }
    throw error(errc::bad_value, "", "unsupported pipeline schedule " + quote(name) + suggestions.suggestion_or_list());
}

LLMCOST_INLINE int required_stages_per_rank(schedule_kind kind) noexcept {
    switch (kind) {
        case schedule_kind::gpipe:
        case schedule_kind::one_forward_one_backward:
        case schedule_kind::zb_h1: return 1;
        case schedule_kind::zbv:
        case schedule_kind::dual_pipe_v: return 2;
        default: return 0;
    }
}

LLMCOST_INLINE pipeline_schedule make_pipeline_schedule(schedule_kind kind, int ranks, int stages_per_rank,
                                                        int microbatches) {
    detail::check_schedule_sizes(kind, ranks, stages_per_rank, microbatches);
    const auto order = [&] {
        switch (kind) {
            case schedule_kind::gpipe: return detail::gpipe_order(ranks, microbatches);
            case schedule_kind::interleaved: return detail::interleaved_order(ranks, stages_per_rank, microbatches);
            case schedule_kind::looped_bfs: return detail::looped_bfs_order(ranks, stages_per_rank, microbatches);
            case schedule_kind::zb_h1: return detail::zb_h1_order(ranks, microbatches);
            case schedule_kind::interleaved_zero_bubble:
                return detail::interleaved_zero_bubble_order(ranks, stages_per_rank, microbatches);
            case schedule_kind::zbv: return detail::zbv_order(ranks, microbatches);
            case schedule_kind::dual_pipe_v: return detail::dual_pipe_v_order(ranks, microbatches);
            case schedule_kind::one_forward_one_backward: break;
        }
        return detail::one_forward_one_backward_order(ranks, microbatches);
    };
    return {kind, ranks, stages_per_rank, microbatches, order()};
}

LLMCOST_INLINE ranked_actions pytorch_pipeline_order(const pipeline_schedule& schedule) {
    ranked_actions table = schedule.order;
    const bool is_1f1b = schedule.kind == schedule_kind::one_forward_one_backward;
    if (!is_1f1b && schedule.kind != schedule_kind::gpipe) return table;
    if (is_1f1b)
        for (pipeline_action& action : table.back())
            if (action.kind == action_kind::forward) ++action.microbatch;
    for (int rank = 0; rank < schedule.ranks; ++rank) {
        rank_actions& actions = table[static_cast<std::size_t>(rank)];
        actions.push_back({rank, action_kind::reduce_gradient});
        actions.push_back({rank, action_kind::wait_reduce_gradient});
    }
    return table;
}

}  // namespace llmcost::distributed
