// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/text/csv_fields.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost::detail {

LLMCOST_INLINE bool split_csv(std::string_view line, std::vector<std::string>& fields) {
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

LLMCOST_INLINE std::string_view integer_digits(std::string_view text) {
    const std::size_t dot = text.find('.');
    const bool is_integral = dot != 0 && dot < text.size() - 1 &&
                             text.find_first_not_of('0', dot + 1) == std::string_view::npos &&
                             text.find_first_not_of("0123456789") == dot;
    return is_integral ? text.substr(0, dot) : text;
}

}  // namespace llmcost::detail
