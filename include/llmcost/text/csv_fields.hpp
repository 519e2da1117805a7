// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Lines of CSV.
namespace llmcost::detail {

/// The fields of a line of CSV without quotes (RFC 4180, except line breaks inside of fields); false where a quote is
/// still open at the end.
inline bool split_csv(std::string_view line, std::vector<std::string>& fields) {
    fields.clear();
    fields.emplace_back();
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
            fields.back() += c;
            ++i;
        } else if (c == '"' && (quoted || fields.back().empty()))
            quoted = !quoted;
        else if (c == ',' && !quoted)
            fields.emplace_back();
        else
            fields.back() += c;
    }
    return !quoted;
}

/// The digits of an integer that a data frame with gaps writes as `8.0`; anything else unchanged.
inline std::string_view integer_digits(std::string_view text) {
    const std::size_t dot = text.find('.');
    const bool is_integral = dot != 0 && dot < text.size() - 1 &&
                             text.find_first_not_of('0', dot + 1) == std::string_view::npos &&
                             text.find_first_not_of("0123456789") == dot;
    return is_integral ? text.substr(0, dot) : text;
}

}  // namespace llmcost::detail
