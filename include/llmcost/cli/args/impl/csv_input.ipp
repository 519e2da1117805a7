// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/csv_input.hpp>

#include <cstddef>
#include <istream>
#include <limits>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/text/csv_fields.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE void csv_input::begin(std::istream& in) {
    if (!read_line(in)) throw_usage("standard input", "expected CSV with a header, found nothing");
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // written by spreadsheets on Windows
    if (line_.starts_with(byte_order_mark)) line_.erase(0, byte_order_mark.size());
    split();
    if (!problem_.empty()) throw_usage(location(), problem_);
    columns_ = fields_.size();
}

LLMCOST_INLINE bool csv_input::next(std::istream& in) {
    do {
        ++line_number_;
        if (!read_line(in)) return false;
        split();
    } while (line_.empty() && problem_.empty());
    if (problem_.empty() && fields_.size() != columns_)
        problem_ = "expected " + std::to_string(columns_) + " fields, found " + std::to_string(fields_.size());
    return true;
}

LLMCOST_INLINE void csv_input::write_row(std::string& out) const {
    if (problem_.empty()) {
        out += line_;
        return;
    }
    for (std::size_t i = 0; i < columns_; ++i) {
        if (i > 0) out += ',';
        if (i < fields_.size()) detail::append_csv(out, fields_[i]);
    }
}

LLMCOST_INLINE bool csv_input::read_line(std::istream& in) {
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

LLMCOST_INLINE void csv_input::split() {
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (!llmcost::detail::split_csv(line_, fields_)) problem_ = "unterminated quote";
}

}  // namespace llmcost::cli
