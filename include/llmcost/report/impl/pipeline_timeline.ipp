// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/pipeline_timeline.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/report/chrome_trace.hpp>
#include <llmcost/report/graph_drawing.hpp>
#include <llmcost/report/svg.hpp>
#include <llmcost/report/ticks.hpp>

namespace llmcost::detail {

/// The style of an action: one of the first four actions.
[[nodiscard]] inline std::size_t action_style(distributed::action_kind kind) {
    constexpr std::array<std::size_t, 4> styles{5, 1, 3, 2};
    return styles[static_cast<std::size_t>(kind)];
}

/// Width of the plot: the shortest action has room for a label, if the picture does not become too wide.
[[nodiscard]] inline double timeline_width(const distributed::schedule_timeline& timeline) {
    constexpr double narrow = 540, wide = 1480, label = 22;
    double shortest = std::numeric_limits<double>::infinity();
    for (const auto& actions : timeline.ranks)
        for (const distributed::timed_action& t : actions)
            if (is_compute(t.action.kind) && t.end_seconds > t.start_seconds)
                shortest = std::min(shortest, t.end_seconds - t.start_seconds);
    return std::clamp(label * timeline.step_seconds / shortest, narrow, wide);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE svg_picture pipeline_timeline_picture(const chart_text& text,
                                                     const distributed::pipeline_schedule& schedule,
                                                     const distributed::schedule_timeline& timeline) {
    using distributed::action_kind;
    constexpr double row = 22, gap = 6;
    svg_picture out = detail::begin_picture(text);
    chart_area area;
    area.left = 28 + svg_width_of("rank " + std::to_string(schedule.ranks - 1));
    area.top = 46;
    area.width = detail::timeline_width(timeline);
    const double rank_height = row * schedule.stages_per_rank + gap;
    area.height = rank_height * schedule.ranks;
    const double per_second = timeline.step_seconds < 1 ? 1e3 : 1;
    area.x_axis = {per_second > 1 ? "time (ms)" : "time (s)"};
    area.x_low = 0;
    area.x_high = timeline.step_seconds > 0 ? timeline.step_seconds * per_second : 1;
    out.width = area.left + area.width + 24;
    area.draw_across(out.drawn, axis_ticks(area.x_low, area.x_high, area.x_axis, 8));

    std::array<bool, 4> is_used{};
    const auto draw = [&](const distributed::pipeline_action& part, const distributed::timed_action& timed) {
        is_used[static_cast<std::size_t>(part.kind)] = true;
        const int rank = schedule.rank_of_stage(part.stage), local = part.stage / schedule.ranks;
        const double x = area.x(timed.start_seconds * per_second), width = area.x(timed.end_seconds * per_second) - x,
                     y = area.top + rank_height * rank + row * local;
        out.drawn.filled(x, y, width, row - 1, detail::action_style(part.kind),
                         action_text(timed.action) + ": " + detail::three_digits(timed.start_seconds, "s") + " to " +
                             detail::three_digits(timed.end_seconds, "s"));
        const std::string label = std::to_string(part.microbatch);
        if (svg_width_of(label) + 2 <= width)
            out.drawn.text(x + width / 2, y + 15, label, svg_anchor::middle, "lc-small lc-halo");
    };
    for (int rank = 0; rank < schedule.ranks; ++rank) {
        out.drawn.text(area.left - 8, area.top + rank_height * (rank + 0.5) + 2, "rank " + std::to_string(rank),
                       svg_anchor::end);
        for (const distributed::timed_action& t : timeline.ranks[static_cast<std::size_t>(rank)])
            if (is_compute(t.action.kind)) for_each_part(t.action, [&](const auto& part) { draw(part, t); });
    }
    constexpr std::array<std::string_view, 4> meanings{"forward", "backward", "input gradient", "weight gradient"};
    std::vector<std::string> names;
    std::vector<std::size_t> styles;
    for (std::size_t kind = 0; kind < meanings.size(); ++kind) {
        if (!is_used[kind]) continue;
        names.emplace_back(meanings[kind]);
        styles.push_back(detail::action_style(static_cast<action_kind>(kind)));
    }
    const double below = area.top + area.height + 64;
    out.height = below + detail::draw_legend(
                             out.drawn, 20, below, out.width - 14, names,
                             [&](std::size_t i, double x, double y) { out.drawn.filled(x, y - 9, 26, 18, styles[i]); });
    return out;
}

LLMCOST_INLINE std::string pipeline_trace(const std::string& process, const distributed::schedule_timeline& timeline) {
    using distributed::action_kind;
    std::vector<std::string> streams;
    std::vector<trace_span> spans;
    for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
        const std::string name = "rank " + std::to_string(rank);
        const std::size_t stream = streams.size();
        streams.push_back(name);
        std::array<std::size_t, 2> of_communication{};  // 0: none yet; the first stream is a rank's
        for (const distributed::timed_action& t : timeline.ranks[rank]) {
            const action_kind kind = t.action.kind;
            const bool is_transfer = kind >= action_kind::send_forward && kind <= action_kind::recv_backward;
            if (is_transfer || !(t.end_seconds > t.start_seconds)) continue;
            trace_span span{.name = action_text(t.action), .category = "computation", .stream = stream};
            if (kind == action_kind::unshard || kind == action_kind::reduce_gradient) {
                const bool is_reduction = kind == action_kind::reduce_gradient;
                std::size_t& communication = of_communication[is_reduction ? 1 : 0];
                if (communication == 0) {
                    communication = streams.size();
                    streams.push_back(name + (is_reduction ? " gradient reduction" : " all-gather"));
                }
                span.stream = communication;
                span.category = "communication";
            } else if (!is_compute(kind)) {
                span.category = "wait";
            }
            span.begins = t.start_seconds;
            span.duration = t.end_seconds - t.start_seconds;
            span.numbers = {{"stage", t.action.stage}};
            if (t.action.microbatch >= 0) span.numbers.emplace_back("microbatch", t.action.microbatch);
            spans.push_back(span);
        }
    }
    return chrome_trace(process, streams, spans);
}

}  // namespace llmcost
