// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/commands/report_pictures.hpp>

// The sweeps of a report: FLOPs by role and memory by component, over lengths and batch sizes.
namespace llmcost::cli::detail {

/// The values of one line.
struct swept_line {
    std::string name;
    std::vector<count> values;
};

/// A figure and its components over one axis.
struct report_sweep {
    std::string axis;
    std::vector<std::int64_t> at;
    std::vector<swept_line> lines;

    [[nodiscard]] bool is_a_line() const { return at.size() > 1 && !lines.empty(); }
    /// Adds a value at the last position of the axis.
    void add(const std::string& name, count n) {
        auto line = std::find_if(lines.begin(), lines.end(), [&](const swept_line& l) { return l.name == name; });
        if (line == lines.end()) line = lines.insert(lines.end(), {name, {}});
        line->values.resize(at.size() - 1);
        line->values.push_back(n);
    }
};

/// The figures of roles and components at each value of an axis.
///
/// Values above the position limit of the model, and figures above the number range, are not included.
template <class Add>
report_sweep swept(const swept_number& number, const workload& base, Add add) {
    report_sweep out{number.name, {}, {}};
    for (const std::int64_t n : number.values) {
        workload load = base;
        load.*number.member = n;
        out.at.push_back(n);
        bool has_answer = true;
        try {
            add(out, load);
        } catch (const workload_error&) {
            has_answer = false;
        } catch (const overflow_error&) {
            has_answer = false;
        }
        if (!has_answer) out.at.pop_back();
        for (swept_line& l : out.lines) l.values.resize(out.at.size());
    }
    std::erase_if(out.lines, [](const swept_line& l) {
        return std::all_of(l.values.begin(), l.values.end(), [](count n) { return n == count{}; });
    });
    return out;
}

inline void add_flops(const reported& r, report_sweep& to, const workload& load) {
    request q = r.request;
    q.workload.base_workload = load;
    q.phases = phases_of(q.workload);
    const role_results read = compute_role_totals(q);
    to.add("all", read.sums.total.front().flops());
    for (std::size_t i = 0; i < read.chains.size(); ++i)
        if (read.depth(i) == 0) to.add(read.name(i), read.at(read.sums.total, i).flops());
}
inline void add_memory(const reported& r, report_sweep& to, const workload& load) {
    const inference_memory m =
        inference_memory_of(r.request.model, load, r.memory_profile, stored_weight_bytes(r.read));
    to.add("total", m.total_bytes());
    for (const memory_component& p : memory_components(m)) to.add(std::string(p.label), p.bytes);
}

/// A chart of the largest lines, and a table of all lines.
inline report_picture sweep_picture(const reported& r, std::string file, const std::string& metric_name,
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
        for (std::size_t i = 0; i < results.at.size(); ++i)
            if (l.values.back() >= minimum && l.values[i] != count{})
                add_to_line(chart.lines, l.name, static_cast<double>(results.at[i]), static_cast<double>(l.values[i]));
    settle(chart);
    table t{{{results.axis, true}}, {}};
    for (const swept_line& l : results.lines) t.columns.push_back({l.name, true});
    for (std::size_t i = 0; i < results.at.size(); ++i) {
        std::vector<std::string> row{std::to_string(results.at[i])};
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

/// All sweeps with more than one value.
inline std::vector<report_picture> sweep_pictures(const reported& r) {
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
