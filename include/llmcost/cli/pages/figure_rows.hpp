// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>

// A table of figures in all formats. Text has scaled numbers; the other formats have exact numbers.
// A row without a result has an error.
namespace llmcost::cli {

/// The type of a column.
enum class column_kind : std::uint8_t { text, number, figure, bytes, truth };

class figure_rows {
public:
    explicit figure_rows(const streams& io) : io_(io) {}

    void add_column(std::string title, column_kind kind = column_kind::text);
    /// Adds a row. A row with a problem may lack figures.
    void add(std::vector<std::string> row, std::string problem = {});
    [[nodiscard]] std::size_t size() const noexcept { return table_.rows.size(); }
    [[nodiscard]] std::size_t columns() const noexcept { return table_.columns.size(); }

    /// The table; prints the number of failed rows to stderr. Call it once.
    [[nodiscard]] command_output answer(output_format format, exit_code default_exit_code = exit_code::ok);

private:
    /// Prints the progress to a terminal if the table takes longer than one second.
    void show_progress();
    std::string text(output_format format);
    /// Scales the numbers to three digits and a unit, right-aligned.
    void scale();
    static count read_digits(std::string_view text);
    /// One line with a JSON object per row.
    [[nodiscard]] std::string lines() const;

    const streams& io_;
    table table_;
    std::vector<column_kind> kinds_;
    std::vector<std::string> errors_;
    std::size_t num_failed_ = 0;
    std::string first_failed_;
    bool has_note_ = false;
    std::chrono::steady_clock::time_point next_note_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/figure_rows.ipp>  // IWYU pragma: export
#endif
