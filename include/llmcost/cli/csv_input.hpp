// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/error.hpp>

// CSV files as people's tools write them.
namespace llmcost::cli {

namespace detail {

/// The fields of a line of CSV, quotes taken off (RFC 4180, but for line breaks inside of fields).
inline void split_csv(std::string_view line, std::vector<std::string>& fields) {
    fields.clear();
    fields.emplace_back();
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
            fields.back() += c, ++i;
        else if (c == '"' && (quoted || fields.back().empty()))
            quoted = !quoted;
        else if (c == ',' && !quoted)
            fields.emplace_back();
        else
            fields.back() += c;
    }
}

/// The digits of a whole number that a data frame with gaps writes as `8.0`; anything else as it is.
inline std::string_view whole_digits(std::string_view text) {
    const std::size_t dot = text.find('.');
    const bool whole = dot != 0 && dot < text.size() - 1 && text.find_first_not_of('0', dot + 1) == std::string_view::npos &&
                       text.find_first_not_of("0123456789") == dot;
    return whole ? text.substr(0, dot) : text;
}

}  // namespace detail

/// A CSV file whose first line names its columns, read line by line.
class csv_input {
public:
    /// Reads the header.
    void begin(std::istream& in) {
        if (!take_line(in)) refuse("standard input", "expected CSV with a header, found nothing");
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // of spreadsheets on Windows
        if (line_.starts_with(byte_order_mark)) line_.erase(0, byte_order_mark.size());
        split();
        columns_ = fields_.size();
    }
    /// Reads the next row that is not empty; false at the end.
    bool next(std::istream& in) {
        do {
            ++number_;
            if (!take_line(in)) return false;
            split();
        } while (line_.empty());
        if (fields_.size() > columns_)
            refuse(where(),
                   "has " + std::to_string(fields_.size()) + " fields for " + std::to_string(columns_) + " columns");
        return true;
    }
    /// The current line as it came, without its end.
    [[nodiscard]] const std::string& line() const noexcept { return line_; }
    [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return fields_; }
    [[nodiscard]] std::string where() const { return "line " + std::to_string(number_); }

private:
    static constexpr std::size_t longest_line = std::size_t{1} << 20;

    /// Takes the next line; false at the end, which an error of reading is not.
    bool take_line(std::istream& in) {
        if (!here_) here_.reset(new char[longest_line + 2]);
        in.getline(here_.get(), longest_line + 2);
        if (in.bad()) throw error(errc::input, "standard input", where() + " cannot be read");
        const auto taken = static_cast<std::size_t>(in.gcount());
        if (in.fail() && taken == 0) return false;
        line_.assign(here_.get(), in.eof() || in.fail() ? taken : taken - 1);
        if (line_.size() > longest_line) refuse(where(), "expected at most 1048576 bytes");
        return true;
    }
    void split() {
        if (!line_.empty() && line_.back() == '\r') line_.pop_back();
        detail::split_csv(line_, fields_);
    }

    std::unique_ptr<char[]> here_;
    std::string line_;
    std::vector<std::string> fields_;
    std::size_t columns_ = 0;
    std::size_t number_ = 1;
};

}  // namespace llmcost::cli
