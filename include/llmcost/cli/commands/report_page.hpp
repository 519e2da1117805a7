// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/report_data.hpp>
#include <llmcost/cli/commands/report_pictures.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/report/html.hpp>

// The HTML page of a report.
namespace llmcost::cli {

/// The charts of a report.
struct report_pictures {
    report_picture memory;
    std::vector<report_picture> training;
    detail::scope_pictures scopes;
    std::vector<report_picture> roofline;  ///< one chart, or none without times
    report_picture layer;
    std::vector<report_picture> sweeps;
};

[[nodiscard]] report_pictures pictures_of(const reported& r);

namespace detail {

/// Writes the sections of a page in order.
class report_writer {
public:
    report_writer(const reported& r, const report_pictures& pictures, const verified_type_table& verified)
        : report_(r), pictures_(pictures), verified_(verified) {}

    [[nodiscard]] std::string write();

private:
    void header();
    void section(std::string_view id, std::string_view title);

    /// Writes a table; its first text column contains the row headers.
    void add_table(const table& t, const std::string& caption, std::string_view of_class = "short");
    /// Writes a path with line-break opportunities after its dots.
    void add_path(std::string_view path);
    /// Writes a table in a collapsed section.
    void add_folded_table(const table& t, const std::string& caption, std::string_view of_class = "");
    void add_picture(const report_picture& p, std::string_view of_class = "picture");

    void summary();
    void memory();
    void scopes();
    void roofline();
    void layer();
    void sweeps();
    void assumptions();

    [[nodiscard]] const model_metrics& total() const { return report_.roles.sums.total.front(); }
    [[nodiscard]] count needed() const {
        return report_.step ? std::max(report_.memory.total_bytes(), report_.step->needed())
                            : report_.memory.total_bytes();
    }
    [[nodiscard]] std::string memory_fit_line(count bytes) const {
        return join_inline({memory_fit_text(report_.limit, bytes)});
    }
    [[nodiscard]] std::vector<std::string> overrides() const;
    [[nodiscard]] std::string device_description() const;
    [[nodiscard]] std::string measurement_description() const;

    const reported& report_;
    const report_pictures& pictures_;
    const verified_type_table& verified_;
    html_writer page_;
};

}  // namespace detail

/// A report as one page.
[[nodiscard]] inline std::string report_page(const reported& r, const report_pictures& pictures,
                                             const verified_type_table& verified) {
    return detail::report_writer(r, pictures, verified).write();
}

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/report_page.ipp>  // IWYU pragma: export
#endif
