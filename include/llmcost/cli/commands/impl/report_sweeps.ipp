// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/report_sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/report_data.hpp>
#include <llmcost/cli/commands/report_pictures.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/rank_options.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/ticks.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE void report_sweep::add(const std::string& name, count n) {
    auto line = std::find_if(lines.begin(), lines.end(), [&](const swept_line& l) { return l.name == name; });
    if (line == lines.end()) line = lines.insert(lines.end(), {name, {}});
    line->values.resize(axis_values.size() - 1);
    line->values.push_back(n);
}

LLMCOST_INLINE void add_flops(const reported& r, report_sweep& to, const workload& load) {
    request q = r.request;
    q.workload.base_workload = load;
    q.phases = phases_of(q.workload);
    const role_results read = compute_role_totals(q);
    to.add("all", read.sums.total.front().flops());
    for (std::size_t i = 0; i < read.chains.size(); ++i)
        if (read.depth(i) == 0) to.add(read.name(i), read.at(read.sums.total, i).flops());
}

LLMCOST_INLINE void add_memory(const reported& r, report_sweep& to, const workload& load) {
    const inference_memory m = ranks_of(r.request.model, r.read.stored, load, r.memory_profile).largest(load);
    to.add("total", m.total_bytes());
    for (const memory_component& p : memory_components(m)) to.add(std::string(p.label), p.bytes);
}

/// A chart of the largest lines, and a table of all lines.
LLMCOST_INLINE report_picture sweep_picture(const reported& r, std::string file, const std::string& metric_name,
                                            const report_sweep& results, bool bytes) {
    constexpr std::size_t maximum = 6;
    std::vector<count> last;
    for (const swept_line& l : results.lines) last.push_back(l.values.back());
    std::sort(last.begin(), last.end(), [](count a, count b) { return a > b; });
    const count minimum = last[std::min(maximum, last.size()) - 1];
    swept_chart chart;
    chart.title = r.request.name_of_model.name + ", " + metric_name + " over " + results.axis;
    chart.x_axis = {results.axis, axis_scale::linear, axis_unit::digits};
    chart.up = {metric_name, axis_scale::linear, bytes ? axis_unit::bytes : axis_unit::number};
    for (const swept_line& l : results.lines)
        for (std::size_t i = 0; i < results.axis_values.size(); ++i)
            if (l.values.back() >= minimum && l.values[i] != count{})
                add_to_line(chart.lines, l.name, static_cast<double>(results.axis_values[i]),
                            static_cast<double>(l.values[i]));
    settle(chart);
    table t{{{results.axis, true}}, {}};
    for (const swept_line& l : results.lines) t.columns.push_back({l.name, true});
    for (std::size_t i = 0; i < results.axis_values.size(); ++i) {
        std::vector<std::string> row{std::to_string(results.axis_values[i])};
        for (const swept_line& l : results.lines) row.push_back(digits(l.values[i]));
        t.rows.push_back(std::move(row));
    }
    const workload& load = r.load();
    std::string caption = metric_name + " over " + results.axis + ", ";
    if (results.axis == "batch")
        caption += !r.tokens() ? std::string(inputs_name(r.request.model, load)) + " of a pass"
                               : "sequences of " + grouped(count(load.sequence)) + " tokens" +
                                     (load.past > 0 ? " after " + grouped(count(load.past)) : "");
    else
        caption += std::to_string(load.batch) + (load.batch == 1 ? " sequence" : " sequences") +
                   (results.axis == "past" ? ", " + grouped(count(load.sequence)) +
                                                 (load.sequence == 1 ? " new token" : " new tokens") + " each"
                                           : "");
    const std::vector<chart_limit> limits =
        bytes && r.limit.is_set() ? std::vector<chart_limit>{{r.limit.label, static_cast<double>(r.limit.bytes)}}
                                  : std::vector<chart_limit>{};
    return {std::move(file), line_chart({chart.title, caption}, chart.x_axis, chart.up, chart.lines, limits),
            caption + ".", std::move(t)};
}

LLMCOST_INLINE std::vector<report_picture> sweep_pictures(const reported& r) {
    std::vector<report_picture> out;
    for (const swept_number& n : r.sweeps) {
        const report_sweep flops =
            swept(n, r.load(), [&](report_sweep& to, const workload& load) { add_flops(r, to, load); });
        const report_sweep bytes =
            swept(n, r.memory_load, [&](report_sweep& to, const workload& load) { add_memory(r, to, load); });
        if (flops.is_a_line()) out.push_back(sweep_picture(r, "flops_over_" + n.name, "FLOPs", flops, false));
        if (bytes.is_a_line()) out.push_back(sweep_picture(r, "memory_over_" + n.name, "Memory", bytes, true));
    }
    return out;
}

}  // namespace llmcost::cli::detail
