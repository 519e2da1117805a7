// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/row_error.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/report/json_writer.hpp>

// A table of figures in all formats. Text has scaled numbers; the other formats have exact numbers.
// A row without a result has an error.
namespace llmcost::cli {

/// The type of a column.
enum class column_kind : std::uint8_t { text, number, figure, bytes, truth };

class figure_rows {
public:
    explicit figure_rows(const streams& io) : io_(io) {}

    void add_column(std::string title, column_kind kind = column_kind::text) {
        kinds_.push_back(kind);
        table_.columns.push_back({std::move(title), kind != column_kind::text && kind != column_kind::truth});
    }
    /// Adds a row. A row with a problem may lack figures.
    void add(std::vector<std::string> row, std::string problem = {}) {
        row.resize(table_.columns.size());
        if (!problem.empty() && ++failed_ == 1) first_failed_ = row.front() + ": " + problem;
        table_.rows.push_back(std::move(row));
        errors_.push_back(std::move(problem));
        show_progress();
    }
    [[nodiscard]] std::size_t size() const noexcept { return table_.rows.size(); }
    [[nodiscard]] std::size_t columns() const noexcept { return table_.columns.size(); }

    /// The table; prints the number of failed rows to stderr. Call it once.
    [[nodiscard]] command_output answer(output_format format, exit_code otherwise = exit_code::ok) {
        if (noted_) io_.err << '\r' << std::string(40, ' ') << '\r';
        if (failed_ > 0) detail::note_on_rows(io_.err, first_failed_, failed_, size());
        return {text(format), failed_ > 0 ? exit_code::rows : otherwise};
    }

private:
    /// Prints the progress to a terminal if the table takes longer than one second.
    void show_progress() {
        using clock = std::chrono::steady_clock;
        if (!io_.out_is_terminal || clock::now() < next_note_) return;
        next_note_ = clock::now() + std::chrono::milliseconds(200);
        io_.err << "\rllmcost: " << size() << " rows";
        io_.err.flush();
        noted_ = true;
    }
    std::string text(output_format format) {
        if (format == output_format::json) return lines();
        if (format == output_format::text) scale();
        if (format == output_format::csv || failed_ > 0) {
            table_.columns.push_back({"error"});
            for (std::size_t i = 0; i < errors_.size(); ++i) table_.rows[i].push_back(std::move(errors_[i]));
        }
        return written(table_, format);
    }
    /// Scales the numbers to three digits and a unit, right-aligned.
    void scale() {
        for (std::size_t c = 0; c < table_.columns.size(); ++c) {
            if (kinds_[c] != column_kind::figure && kinds_[c] != column_kind::bytes) continue;
            const bool bytes = kinds_[c] == column_kind::bytes;
            table::column& column = table_.columns[c];
            std::size_t width = column.title.size();
            for (auto& row : table_.rows) {
                if (!row[c].empty()) row[c] = bytes ? in_bytes(read_digits(row[c])) : scaled(read_digits(row[c]));
                width = std::max(width, width_of(row[c]));
            }
            for (auto& row : table_.rows) row[c] = right(row[c], width);
            column = {right(column.title, width)};
        }
    }
    static count read_digits(std::string_view text) {
        count n;
        for (const char c : text) n = n * count(10) + count(c - '0');
        return n;
    }
    /// One line with a JSON object per row.
    [[nodiscard]] std::string lines() const {
        std::string out;
        for (std::size_t i = 0; i < table_.rows.size(); ++i) {
            json_writer json(0);
            json.object();
            for (std::size_t c = 0; c < table_.columns.size(); ++c) {
                const std::string& cell = table_.rows[i][c];
                json.key(table_.columns[c].title);
                if (cell.empty())
                    json.null();
                else if (kinds_[c] == column_kind::truth)
                    json.value(cell == "true");
                else if (table_.columns[c].number)
                    json.value(read_digits(cell));
                else
                    json.value(cell);
            }
            json.key("error");
            if (errors_[i].empty())
                json.null();
            else
                json.value(errors_[i]);
            out += json.end_object().text() + '\n';
        }
        return out;
    }

    const streams& io_;
    table table_;
    std::vector<column_kind> kinds_;
    std::vector<std::string> errors_;
    std::size_t failed_ = 0;
    std::string first_failed_;
    bool noted_ = false;
    std::chrono::steady_clock::time_point next_note_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

}  // namespace llmcost::cli
