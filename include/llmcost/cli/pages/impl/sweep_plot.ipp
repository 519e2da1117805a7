// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/sweep_plot.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/pages/model_table.hpp>
#include <llmcost/cli/pages/terminal_plot.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/report/ticks.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE void add_to_line(std::vector<chart_series>& lines, const std::string& name, double x, double y) {
    auto line = std::find_if(lines.begin(), lines.end(), [&](const chart_series& s) { return s.name == name; });
    if (line == lines.end()) {
        lines.push_back({name, {}, {}, true, true, lines.size()});
        line = lines.end() - 1;
    }
    line->x.push_back(x);
    line->y.push_back(y);
}

LLMCOST_INLINE void settle(swept_chart& chart) {
    double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
    for (chart_series& s : chart.lines) {
        std::vector<std::pair<double, double>> points;
        for (std::size_t i = 0; i < s.x.size(); ++i) points.emplace_back(s.x[i], s.y[i]);
        std::sort(points.begin(), points.end());
        for (std::size_t i = 0; i < points.size(); ++i) {
            std::tie(s.x[i], s.y[i]) = points[i];
            const bool first = x_low == 0;
            x_low = first ? s.x[i] : std::min(x_low, s.x[i]);
            x_high = std::max(x_high, s.x[i]);
            y_low = y_low == 0 ? s.y[i] : std::min(y_low, s.y[i]);
            y_high = std::max(y_high, s.y[i]);
        }
        if (points.size() > 64) s.marked = false;
    }
    if (x_low > 0 && x_high >= 16 * x_low) chart.x_axis.scale = axis_scale::logarithmic;
    if (y_low > 0 && y_high >= 30 * y_low) chart.up.scale = axis_scale::logarithmic;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// Splits line names into their common part and the parts that differ.
[[nodiscard]] LLMCOST_INLINE std::vector<std::string> short_names(const std::vector<plotted_figure>& all,
                                                                  std::string& common) {
    const auto parts_of = [](std::string_view name) {
        std::vector<std::string> out(1);
        for (const char c : name) c == '\n' ? (void)out.emplace_back() : (void)(out.back() += c);
        return out;
    };
    std::vector<std::vector<std::string>> parts;
    for (const plotted_figure& f : all) parts.push_back(parts_of(f.line));
    std::vector<std::string> out(all.size());
    for (std::size_t k = 0; !parts.empty() && k < parts.front().size(); ++k) {
        bool is_common = true;
        for (const auto& p : parts) is_common = is_common && p[k] == parts.front()[k];
        if (is_common) common += (common.empty() ? "" : " · ") + parts.front()[k];
        for (std::size_t i = 0; !is_common && i < all.size(); ++i) out[i] += (out[i].empty() ? "" : ", ") + parts[i][k];
    }
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE swept_chart chart_of(const workload_sweep& work, const std::vector<plotted_figure>& figures,
                                    std::string_view metric_name, bool bytes) {
    swept_chart out;
    const std::vector<std::string> names = detail::short_names(figures, out.title);
    out.x_axis = {std::string(work.axes()[work.max_length()].name()), axis_scale::linear, axis_unit::digits};
    out.up = {std::string(metric_name), axis_scale::linear, bytes ? axis_unit::bytes : axis_unit::number};
    for (std::size_t i = 0; i < figures.size(); ++i) add_to_line(out.lines, names[i], figures[i].x, figures[i].y);
    if (out.lines.size() == 1 && out.lines.front().name.empty()) out.lines.front().name = out.title;
    if (out.lines.size() > 26)
        throw_usage(option::plot.name, "expected at most 26 lines, found " + std::to_string(out.lines.size()));
    settle(out);
    out.description = out.title + ": " + out.up.title + " over " + out.x_axis.title;
    for (const chart_series& s : out.lines)
        if (!s.y.empty())
            out.description += "; " + s.name + " from " + tick_label(s.y.front(), out.up.unit) + " to " +
                               tick_label(s.y.back(), out.up.unit);
    return out;
}

LLMCOST_INLINE void check_plot(const arguments& args, bool drawable, const std::string& default_value) {
    if (!args.has(option::plot)) return;
    if (!drawable) throw_usage(option::plot.name, default_value);
    if (args.text(option::plot).empty() && args.choice(option::format) != static_cast<int>(output_format::text))
        throw_usage(option::plot.name, "requires a file name unless --format is text");
}

LLMCOST_INLINE void add_plot(command_output& out, const arguments& args, const swept_chart& chart,
                             const std::vector<chart_limit>& limits) {
    if (!args.has(option::plot)) return;
    if (args.text(option::plot).empty())
        out.text +=
            '\n' + chart.title + '\n' + terminal_plot(chart.x_axis, chart.up, chart.lines, args.output_columns());
    else
        out.file = {
            std::string(args.text(option::plot)),
            line_chart({chart.title, chart.description}, chart.x_axis, chart.up, chart.lines, limits).document()};
}

LLMCOST_INLINE command_output answered_with_plot(const arguments& args, const workload_sweep& work,
                                                 model_table& several) {
    command_output out = several.answer();
    if (args.has(option::plot)) {
        const metric& first = *several.list().front();
        add_plot(out, args,
                 chart_of(work, several.plotted(), args.positional().size() > 1 ? first.name : first.meaning,
                          is_bytes(first)));
    }
    return out;
}

}  // namespace llmcost::cli
