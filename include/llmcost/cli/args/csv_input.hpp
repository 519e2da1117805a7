// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/row_error.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/text/csv_fields.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

// Reads CSV tables from a stream.
namespace llmcost::cli {

/// A CSV file whose first line names its columns, read line by line.
class csv_input {
public:
    /// Reads the header. Throws: `usage` without a header.
    void begin(std::istream& in);
    /// Reads the next row that is not empty, valid or not; returns false at the end.
    bool next(std::istream& in);
    /// Throws: `usage` if the current row is invalid, e.g. if its number of fields differs from the header.
    void check() const {
        if (!problem_.empty()) throw_usage({}, problem_);
    }
    /// Appends the current row unchanged. An invalid row gets as many fields as the header has columns, so that
    /// appended columns remain aligned.
    void write_row(std::string& out) const;
    /// The current line, unchanged and without its end.
    [[nodiscard]] const std::string& line() const noexcept { return line_; }
    [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return fields_; }
    [[nodiscard]] std::string location() const { return "line " + std::to_string(line_number_); }

private:
    static constexpr std::size_t longest_line = std::size_t{1} << 20;

    /// Reads the next line; returns false at the end. Throws: `input` for a read error.
    bool read_line(std::istream& in);
    [[noreturn]] void refuse_input() const {
        throw error(errc::input, "standard input", "read error at " + location());
    }
    void split();

    std::unique_ptr<char[]> buffer_;
    std::string line_, problem_;
    std::vector<std::string> fields_;
    std::size_t columns_ = 0;
    std::size_t line_number_ = 1;
};

/// Appends the cells of `columns`, written by `write_cells`, and an `error` column to each row of a table.
///
/// If `write_cells` throws, the row has empty cells and the reason in `error`. Then the exit code is `rows`, and the
/// first such row is reported to `notes`. Read errors and out of memory end the table.
template <class Put>
[[nodiscard]] command_output answer_rows(csv_input& rows, std::istream& in, std::string_view columns,
                                         std::ostream& notes, const Put& write_cells) {
    std::string out = rows.line() + ',' + std::string(columns) + ",error\n", first;
    const std::string empty(static_cast<std::size_t>(std::count(columns.begin(), columns.end(), ',')) + 2, ',');
    std::size_t all = 0, num_failed = 0;
    while (rows.next(in)) {
        rows.write_row(out);
        ++all;
        const std::string problem = detail::problem_of([&] {
            rows.check();
            write_cells(out);
        });
        if (!problem.empty()) {
            out += empty;
            detail::append_csv(out, problem);
            if (++num_failed == 1) first = rows.location() + ": " + problem;
        }
        out += '\n';
    }
    if (num_failed == 0) return out;
    detail::note_on_rows(notes, first, num_failed, all);
    return {std::move(out), exit_code::rows};
}

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/csv_input.ipp>  // IWYU pragma: export
#endif
