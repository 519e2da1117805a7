// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <istream>
#include <limits>
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

// Reads CSV tables from a stream.
namespace llmcost::cli {

/// A CSV file whose first line names its columns, read line by line.
class csv_input {
public:
    /// Reads the header. Throws: `usage` without a header.
    void begin(std::istream& in) {
        if (!read_line(in)) throw_usage("standard input", "expected CSV with a header, found nothing");
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // written by spreadsheets on Windows
        if (line_.starts_with(byte_order_mark)) line_.erase(0, byte_order_mark.size());
        split();
        if (!problem_.empty()) throw_usage(location(), problem_);
        columns_ = fields_.size();
    }
    /// Reads the next row that is not empty, valid or not; returns false at the end.
    bool next(std::istream& in) {
        do {
            ++number_;
            if (!read_line(in)) return false;
            split();
        } while (line_.empty() && problem_.empty());
        if (problem_.empty() && fields_.size() != columns_)
            problem_ = "expected " + std::to_string(columns_) + " fields, found " + std::to_string(fields_.size());
        return true;
    }
    /// Throws: `usage` if the current row is invalid, e.g. if its number of fields differs from the header.
    void check() const {
        if (!problem_.empty()) throw_usage({}, problem_);
    }
    /// Appends the current row unchanged. An invalid row gets as many fields as the header has columns, so that
    /// appended columns remain aligned.
    void write_row(std::string& out) const {
        if (problem_.empty()) {
            out += line_;
            return;
        }
        for (std::size_t i = 0; i < columns_; ++i) {
            if (i > 0) out += ',';
            if (i < fields_.size()) detail::append_csv(out, fields_[i]);
        }
    }
    /// The current line, unchanged and without its end.
    [[nodiscard]] const std::string& line() const noexcept { return line_; }
    [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return fields_; }
    [[nodiscard]] std::string location() const { return "line " + std::to_string(number_); }

private:
    static constexpr std::size_t longest_line = std::size_t{1} << 20;

    /// Reads the next line; returns false at the end. Throws: `input` for a read error.
    bool read_line(std::istream& in) {
        if (!buffer_) buffer_.reset(new char[longest_line + 2]);
        in.getline(buffer_.get(), longest_line + 2);
        if (in.bad()) refuse_input();
        const auto num_read = static_cast<std::size_t>(in.gcount());
        if (in.fail() && num_read == 0) return false;
        line_.assign(buffer_.get(), in.eof() || in.fail() ? num_read : num_read - 1);
        problem_.clear();
        if (line_.size() > longest_line) {
            problem_ = "expected at most 1048576 bytes";
            line_.clear();
        }
        if (in.fail()) {
            in.clear();
            in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
            if (in.bad()) refuse_input();
        }
        return true;
    }
    [[noreturn]] void refuse_input() const {
        throw error(errc::input, "standard input", "read error at " + location());
    }
    void split() {
        if (!line_.empty() && line_.back() == '\r') line_.pop_back();
        if (!llmcost::detail::split_csv(line_, fields_)) problem_ = "unterminated quote";
    }

    std::unique_ptr<char[]> buffer_;
    std::string line_, problem_;
    std::vector<std::string> fields_;
    std::size_t columns_ = 0;
    std::size_t number_ = 1;
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
