// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/pages/model_table.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/ticks.hpp>

// Charts of workload tables: a line for each model and each value of the shorter lists.
namespace llmcost::cli {

/// A chart of values over the axis of a list.
struct swept_chart {
    std::string title, description;
    chart_axis x_axis{}, up{};
    std::vector<chart_series> lines{};
};

/// Adds a point to the line with a name.
void add_to_line(std::vector<chart_series>& lines, const std::string& name, double x, double y);

/// Sorts the points and selects the scales: logarithmic for a large ratio of the largest to the smallest value.
void settle(swept_chart& chart);

/// The chart of a table of workloads.
[[nodiscard]] swept_chart chart_of(const workload_sweep& work, const std::vector<plotted_figure>& figures,
                                   std::string_view metric_name, bool bytes);

/// Throws: `usage` if the command line has no chart, or a terminal chart in another format than text.
void check_plot(const arguments& args, bool drawable, const std::string& default_value);

/// Adds the chart of `--plot` to an output: below the text, or as a file.
void add_plot(command_output& out, const arguments& args, const swept_chart& chart,
              const std::vector<chart_limit>& limits = {});

/// A table of workloads, with the chart of `--plot`.
[[nodiscard]] command_output answered_with_plot(const arguments& args, const workload_sweep& work,
                                                model_table& several);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/sweep_plot.ipp>  // IWYU pragma: export
#endif
