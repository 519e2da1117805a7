// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/commands/report_data.hpp>
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
    std::vector<std::int64_t> axis_values;
    std::vector<swept_line> lines;

    [[nodiscard]] bool is_a_line() const { return axis_values.size() > 1 && !lines.empty(); }
    /// Adds a value at the last position of the axis.
    void add(const std::string& name, count n);
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
        out.axis_values.push_back(n);
        bool has_answer = true;
        try {
            add(out, load);
        } catch (const workload_error&) {
            has_answer = false;
        } catch (const overflow_error&) {
            has_answer = false;
        }
        if (!has_answer) out.axis_values.pop_back();
        for (swept_line& l : out.lines) l.values.resize(out.axis_values.size());
    }
    std::erase_if(out.lines, [](const swept_line& l) {
        return std::all_of(l.values.begin(), l.values.end(), [](count n) { return n == count{}; });
    });
    return out;
}

/// All sweeps with more than one value.
std::vector<report_picture> sweep_pictures(const reported& r);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/report_sweeps.ipp>  // IWYU pragma: export
#endif
