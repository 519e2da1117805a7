// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clocale>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail {

inline constexpr std::string_view json_blanks = " \t\r\n";
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// `name:line:column` of a byte, both from 1; columns are characters.
std::string place_in_text(std::string_view text, std::size_t offset, std::string_view name);

/// `name: pointer` of a value, `name` for the root.
std::string place_in_config(config_view node, std::string_view name);

/// A number that JSON or a double cannot hold, its place among all numbers of the text, and how it is written there.
struct special_number {
    std::size_t ordinal = 0;
    double value = 0;
    std::string_view text{};
};

/// Python's spellings of what JSON has no number for; nothing else is one.
const double* named_real(std::string_view name) noexcept;

/// Whether a word is a number by JSON's grammar (RFC 8259, section 6).
constexpr bool is_json_number(std::string_view name) noexcept {
    const auto digits = [&] {
        std::size_t n = 0;
        while (n < name.size() && name[n] >= '0' && name[n] <= '9') ++n;
        name.remove_prefix(n);
        return n;
    };
    if (name.starts_with('-')) name.remove_prefix(1);
    const bool zero = name.starts_with('0');
    const std::size_t num_integer_digits = digits();
    if (num_integer_digits == 0 || (zero && num_integer_digits > 1)) return false;
    if (name.starts_with('.')) {
        name.remove_prefix(1);
        if (digits() == 0) return false;
    }
    if (name.starts_with('e') || name.starts_with('E')) {
        name.remove_prefix(1);
        if (name.starts_with('+') || name.starts_with('-')) name.remove_prefix(1);
        if (digits() == 0) return false;
    }
    return name.empty();
}

/// Lists the special numbers outside strings and overwrites each by a 0 and blanks, so that places in the text stay.
std::vector<special_number> replace_special_numbers(std::string_view text, std::string& replaced);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/json/impl/text.ipp>  // IWYU pragma: export
#endif
