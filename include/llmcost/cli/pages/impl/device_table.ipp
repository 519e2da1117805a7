// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/device_table.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::cli::detail {

/// The bytes that a workload leaves free; negative if it does not fit.
LLMCOST_INLINE std::string headroom_text(const device_row& row, bool exact) {
    if (!row.limit.is_set()) return exact ? "" : "—";
    const count available(row.limit.bytes);
    const bool is_below = row.needed <= available;
    const count difference = is_below ? available - row.needed : row.needed - available;
    return (is_below ? "" : "-") + (exact ? digits(difference) : in_bytes(difference));
}

/// A figure for the text output; a dash if it is unknown.
LLMCOST_INLINE std::string figure_text(double x, figure_unit unit) {
    if (!(x > 0)) return "—";
    switch (unit) {
        case figure_unit::seconds: return duration(x);
        case figure_unit::per_second:
        case figure_unit::number: return x < 100 ? formatted("%.3g", x) : grouped(formatted("%.0f", x));
        case figure_unit::hours: return x < 100 ? formatted("%.3g", x) : grouped(formatted("%.0f", x));
        case figure_unit::joules:
        case figure_unit::price: break;
    }
    return formatted("%.3g", x);
}

/// The table for readers: units and three digits.
LLMCOST_INLINE table readable_device_table(const device_comparison& comparison) {
    table t{{{"device"}, {"fits"}, {"needed", false, true}, {"headroom", false, true}}, {}};
    for (const device_figure& f : comparison.figures) t.columns.push_back({f.title, false, true});
    for (const device_row& row : comparison.rows) {
        std::vector<std::string> fields{row.device,
                                        !row.limit.is_set() ? "—"
                                        : row.fits()        ? "yes"
                                                            : "no",
                                        row.needed == count{} ? "—" : in_bytes(row.needed), headroom_text(row, false)};
        for (std::size_t i = 0; i < comparison.figures.size(); ++i)
            fields.push_back(figure_text(i < row.figures.size() ? row.figures[i] : 0, comparison.figures[i].unit));
        t.rows.push_back(std::move(fields));
    }
    return t;
}

/// The table for programs: bytes, seconds and exact numbers.
LLMCOST_INLINE table exact_device_table(const device_comparison& comparison) {
    table t{{{"device"}, {"fits"}, {"needed_bytes", true}, {"available_bytes", true}, {"headroom_bytes", true}}, {}};
    for (const device_figure& f : comparison.figures) t.columns.push_back({f.name, true});
    t.columns.push_back({"problem"});
    for (const device_row& row : comparison.rows) {
        std::vector<std::string> fields{row.device,
                                        !row.limit.is_set() ? ""
                                        : row.fits()        ? "true"
                                                            : "false",
                                        row.needed == count{} ? "" : digits(row.needed),
                                        row.limit.is_set() ? digits(count(row.limit.bytes)) : "",
                                        row.needed == count{} ? "" : headroom_text(row, true)};
        for (std::size_t i = 0; i < comparison.figures.size(); ++i)
            fields.push_back(i < row.figures.size() && row.figures[i] > 0 ? exact_number(row.figures[i]) : "");
        fields.push_back(row.problem);
        t.rows.push_back(std::move(fields));
    }
    return t;
}

/// Whether a device has a price, or no column needs one.
LLMCOST_INLINE bool has_prices(const device_comparison& comparison) {
    bool has_column = false;
    for (std::size_t i = 0; i < comparison.figures.size(); ++i) {
        if (comparison.figures[i].unit != figure_unit::price) continue;
        has_column = true;
        for (const device_row& row : comparison.rows)
            if (i < row.figures.size() && row.figures[i] > 0) return true;
    }
    return !has_column;
}

LLMCOST_INLINE std::string device_table_json(const device_comparison& comparison) {
    json_writer json;
    json.object().member("model", comparison.model).key("devices").array();
    for (const device_row& row : comparison.rows) {
        json.object().member("device", row.device).key("needed");
        row.needed == count{} ? json.null() : json.value(row.needed);
        json.key("available");
        row.limit.is_set() ? json.value(count(row.limit.bytes)) : json.null();
        json.key("fits");
        row.limit.is_set() ? json.value(row.fits()) : json.null();
        for (std::size_t i = 0; i < comparison.figures.size(); ++i) {
            json.key(comparison.figures[i].name);
            i<row.figures.size() && row.figures[i]> 0 ? json.value(row.figures[i]) : json.null();
        }
        json.key("problem");
        row.problem.empty() ? json.null() : json.value(row.problem);
        json.end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string exact_number(double x) {
    std::array<char, 32> digits{};
    return std::string(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr);
}

LLMCOST_INLINE std::string print(const device_comparison& comparison, output_format format) {
    switch (format) {
        case output_format::json: return detail::device_table_json(comparison);
        case output_format::csv: return csv(detail::exact_device_table(comparison));
        case output_format::markdown:
        case output_format::latex: return written(detail::readable_device_table(comparison), format);
        case output_format::text: break;
    }
    std::string out =
        comparison.model + '\n' + comparison.title + '\n' + plain(detail::readable_device_table(comparison));
    std::string problems;
    for (const device_row& row : comparison.rows)
        if (!row.problem.empty()) problems += "  " + row.device + ": " + row.problem + '\n';
    if (!problems.empty()) out += "\nNot estimated:\n" + problems;
    std::string notes = comparison.assumptions;
    if (!detail::has_prices(comparison)) notes += "Price: set --price, or price_per_hour in a datasheet file\n";
    return notes.empty() ? out : out + '\n' + notes;
}

}  // namespace llmcost::cli
