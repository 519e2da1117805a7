// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/text.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/utf8.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::size_t width_of(std::string_view text) noexcept {
    std::size_t n = 0;
    for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    return n;
}

LLMCOST_INLINE std::string positions_text(const workload_error& e) {
    return "the workload requires " + std::to_string(e.requested_positions()) + " positions and the model has " +
           std::to_string(e.max_positions());
}

LLMCOST_INLINE std::string right(std::string_view text, std::size_t width) {
    const std::size_t n = width_of(text);
    return std::string(n < width ? width - n : 0, ' ').append(text);
}

LLMCOST_INLINE std::string left(std::string_view text, std::size_t width) {
    const std::size_t n = width_of(text);
    return std::string(text).append(n < width ? width - n : 0, ' ');
}

LLMCOST_INLINE std::string grouped(std::string_view digits) {
    std::string out;
    if (digits.starts_with('-') || digits.starts_with('+')) {
        out += digits.front();
        digits.remove_prefix(1);
    }
    const std::size_t num_integer_digits = std::min(digits.find('.'), digits.size());
    for (std::size_t i = 0; i < num_integer_digits; ++i) {
        if (i > 0 && (num_integer_digits - i) % 3 == 0) out += ',';
        out += digits[i];
    }
    return out += digits.substr(num_integer_digits);
}

LLMCOST_INLINE std::string scaled(count n) {
    constexpr std::string_view units = "kMGTPEZYRQ";
    if (n < count(10'000)) return grouped(n);
    count unit(1000);
    std::size_t i = 0;
    const auto larger = [&] {
        unit *= count(1000);
        ++i;
    };
    while (i + 1 < units.size() && n / unit >= count(1000)) larger();
    for (;;) {
        const count integer_part = n / unit;
        const int decimals = integer_part < count(10)     ? 3
                             : integer_part < count(100)  ? 2
                             : integer_part < count(1000) ? 1
                                                          : 0;
        count fine(1), part = n, divisor = unit;
        for (int d = 0; d < decimals; ++d) fine *= count(10);
        while (part.to_uint128() >> 112 != 0) {
            part = part / count(1000);
            divisor = divisor / count(1000);
        }
        const count rounded = (part * fine + divisor / count(2)) / divisor;
        if (rounded / fine >= count(1000) && i + 1 < units.size()) {
            larger();  // 999.96 k is 1.000 M
            continue;
        }
        std::string out = grouped(rounded / fine);
        if (decimals > 0) {
            const std::string fraction = digits(rounded - rounded / fine * fine);
            out += '.' + std::string(static_cast<std::size_t>(decimals) - fraction.size(), '0') + fraction;
        }
        return out + ' ' + units[i];
    }
}

LLMCOST_INLINE std::string ascii_text(std::string_view text) {
    struct replacement {
        std::string_view character, ascii;
    };
    constexpr replacement replacements[]{{"│", "|"}, {"┤", "+"}, {"├", "|"},   {"└", "+"}, {"┬", "+"}, {"─", "-"},
                                         {"·", "-"}, {"×", "x"}, {"…", "..."}, {"–", "-"}, {"—", "-"}, {"µ", "u"}};
    constexpr std::string_view dots = " .:|#";  // by the number of dots of a braille character
    std::string out;
    while (!text.empty()) {
        const std::size_t length = std::max<std::size_t>(llmcost::detail::utf8_length(text), 1);
        const std::string_view character = text.substr(0, length);
        const auto byte = [&](std::size_t i) {
            return static_cast<unsigned>(static_cast<unsigned char>(character[i]));
        };
        if (length == 3 && byte(0) == 0xE2 && (byte(1) & 0xFCU) == 0xA0) {
            const int num_dots = std::popcount((byte(1) & 3U) << 6 | (byte(2) & 0x3FU));
            out += dots[static_cast<std::size_t>(std::min(num_dots, 4))];
        } else {
            std::string_view ascii = character;
            for (const replacement& r : replacements)
                if (length > 1 && r.character == character) ascii = r.ascii;
            out += ascii;
        }
        text.remove_prefix(length);
    }
    return out;
}

LLMCOST_INLINE std::string in_bytes(count n) {
    constexpr std::string_view units = "KMGTPEZY";
    if (n < count(1024)) return grouped(n) + " B";
    double value = static_cast<double>(n) / 1024;
    std::size_t i = 0;
    while (value >= 1023.5 && i + 1 < units.size()) {
        value /= 1024;
        ++i;
    }
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
    const std::string_view text(buffer);
    return (text.find('.') == std::string_view::npos ? grouped(text) : std::string(text)) + ' ' + units[i] + "iB";
}

LLMCOST_INLINE std::string percent(count part, count total) {
    char buffer[32];
    const double share = total == count{} ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(total);
    if (share > 0 && share < 0.005) return "<0.01 %";
    std::snprintf(buffer, sizeof buffer, share > 0 && share < 0.05 ? "%.2f %%" : "%.1f %%", share);
    return buffer;
}

LLMCOST_INLINE std::string profiler_number(count n) {
    double value = static_cast<double>(n);
    int power = 0;
    while (value >= 1000) {
        value /= 1000;
        power += 3;
    }
    char buffer[64];
    const bool is_integer = value == static_cast<double>(static_cast<long long>(value));
    std::snprintf(buffer, sizeof buffer, is_integer ? "%.0f" : "%.2f", value);
    std::string out = buffer;
    if (power > 0) out += "\t(10^" + std::to_string(power) + ")";
    return out;
}

LLMCOST_INLINE std::string formatted(const char* format, double a, double b, double c) {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer, format, a, b, c);
    return buffer;
}

namespace detail {

LLMCOST_INLINE std::string duration(double seconds) {
    const auto [scale, unit] = seconds < 1e-3 ? std::pair{1e6, "µs"}
                               : seconds < 1  ? std::pair{1e3, "ms"}
                                              : std::pair{1.0, "s"};
    return formatted("%.4g ", seconds * scale) + unit;
}

}  // namespace detail

}  // namespace llmcost::cli
