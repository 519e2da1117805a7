// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/figure_rows.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/row_error.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::cli {

LLMCOST_INLINE void figure_rows::add_column(std::string title, column_kind kind) {
    kinds_.push_back(kind);
    table_.columns.push_back({std::move(title), kind != column_kind::text && kind != column_kind::truth});
}

LLMCOST_INLINE void figure_rows::add(std::vector<std::string> row, std::string problem) {
    row.resize(table_.columns.size());
    if (!problem.empty() && ++num_failed_ == 1) first_failed_ = row.front() + ": " + problem;
    table_.rows.push_back(std::move(row));
    errors_.push_back(std::move(problem));
    show_progress();
}

LLMCOST_INLINE command_output figure_rows::answer(output_format format, exit_code default_exit_code) {
    if (has_note_) io_.err << '\r' << std::string(40, ' ') << '\r';
    if (num_failed_ > 0) detail::note_on_rows(io_.err, first_failed_, num_failed_, size());
    return {text(format), num_failed_ > 0 ? exit_code::rows : default_exit_code};
}

LLMCOST_INLINE void figure_rows::show_progress() {
    using clock = std::chrono::steady_clock;
    if (!io_.out_is_terminal || clock::now() < next_note_) return;
    next_note_ = clock::now() + std::chrono::milliseconds(200);
    io_.err << "\rllmcost: " << size() << " rows";
    io_.err.flush();
    has_note_ = true;
}

LLMCOST_INLINE std::string figure_rows::text(output_format format) {
    if (format == output_format::json) return lines();
    if (format == output_format::text) scale();
    if (format == output_format::csv || num_failed_ > 0) {
        table_.columns.push_back({"error"});
        for (std::size_t i = 0; i < errors_.size(); ++i) table_.rows[i].push_back(std::move(errors_[i]));
    }
    return written(table_, format);
}

LLMCOST_INLINE void figure_rows::scale() {
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

LLMCOST_INLINE count figure_rows::read_digits(std::string_view text) {
    count n;
    for (const char c : text) n = n * count(10) + count(c - '0');
    return n;
}

LLMCOST_INLINE std::string figure_rows::lines() const {
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

}  // namespace llmcost::cli
