// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/json/text.hpp>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/config_text.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::string place_in_text(std::string_view text, std::size_t offset, std::string_view name) {
    std::string_view prefix = text.substr(0, offset);
    if (prefix.starts_with(byte_order_mark)) prefix.remove_prefix(byte_order_mark.size());
    std::size_t line = 1;
    std::size_t column = 1;
    for (const char c : prefix) {
        if (c == '\n') {
            ++line;
            column = 1;
        } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
            ++column;
        }
    }
    return std::string(name) + ':' + std::to_string(line) + ':' + std::to_string(column);
}

LLMCOST_INLINE std::string place_in_config(config_view node, std::string_view name) {
    char buffer[512];
    bounded_text pointer(buffer);
    append_pointer(pointer, node);
    return std::string(name) + (pointer.size() == 0 ? "" : ": ") + std::string(pointer.view());
}

LLMCOST_INLINE const double* named_real(std::string_view name) noexcept {
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (name == "Infinity") return &infinity;
    if (name == "-Infinity") return &minus_infinity;
    return name == "NaN" ? &nan : nullptr;
}

/// Whether a JSON number is beyond the largest double.
LLMCOST_INLINE bool overflows(std::string_view number) {
    std::string digits(number);
    // strtod reads the decimal point of the program's locale
    const std::lconv* const locale = std::localeconv();
    if (const std::size_t point = digits.find('.'); point != std::string::npos)
        digits.replace(point, 1, locale->decimal_point);
    return std::isinf(std::strtod(digits.c_str(), nullptr));
}

LLMCOST_INLINE std::vector<special_number> replace_special_numbers(std::string_view text, std::string& replaced) {
    constexpr std::string_view token_characters = "0123456789+-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::vector<special_number> found;
    replaced.assign(text);
    std::size_t ordinal = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == '"') {
            for (++i; i < text.size() && text[i] != '"'; ++i)
                if (text[i] == '\\') ++i;
            ++i;
            continue;
        }
        const std::size_t stop = text.find_first_not_of(token_characters, i);
        const std::string_view name = text.substr(i, stop == std::string_view::npos ? stop : stop - i);
        i += name.empty() ? 1 : name.size();
        const double* const named = named_real(name);
        const bool number = is_json_number(name);
        if (named != nullptr || (number && overflows(name))) {
            constexpr double infinity = std::numeric_limits<double>::infinity();
            found.push_back({ordinal, named != nullptr ? *named : name[0] == '-' ? -infinity : infinity, name});
            replaced.replace(i - name.size(), name.size(), std::string(name.size(), ' '))[i - name.size()] = '0';
        }
        if (named != nullptr || number) ++ordinal;
    }
    return found;
}

}  // namespace llmcost::detail
