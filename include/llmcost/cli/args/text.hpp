// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/text/messages.hpp>

// Formatting of texts and numbers.
namespace llmcost::cli {

/// The number of characters of a UTF-8 text.
[[nodiscard]] inline std::size_t width_of(std::string_view text) noexcept {
    std::size_t n = 0;
    for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    return n;
}

/// The message of a workload with more positions than the model has.
[[nodiscard]] inline std::string positions_text(const workload_error& e) {
    return "the workload requires " + std::to_string(e.requested_positions()) + " positions and the model has " +
           std::to_string(e.max_positions());
}

/// The text, padded on the left to a width.
[[nodiscard]] inline std::string right(std::string_view text, std::size_t width) {
    const std::size_t n = width_of(text);
    return std::string(n < width ? width - n : 0, ' ').append(text);
}

/// The text, padded on the right to a width.
[[nodiscard]] inline std::string left(std::string_view text, std::size_t width) {
    const std::size_t n = width_of(text);
    return std::string(text).append(n < width ? width - n : 0, ' ');
}

/// Digits in groups of three up to the decimal point: 1,235,814,400; 1,677.25.
[[nodiscard]] inline std::string grouped(std::string_view digits) {
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
[[nodiscard]] inline std::string grouped(count n) { return grouped(count_text{n}.view()); }

/// The digits of a count.
[[nodiscard]] inline std::string digits(count n) { return std::string(count_text{n}.view()); }

/// A count with four digits: exact below 10,000, otherwise rounded with a prefix from k to Q (powers of 1000).
[[nodiscard]] inline std::string scaled(count n) {
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

/// Bytes with three digits in binary units: 2.30 GiB, 32.0 KiB, 512 B.
[[nodiscard]] inline std::string in_bytes(count n) {
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

/// `part / total` in percent with one decimal; two decimals below 0.05 %, and `<0.01 %` below 0.005 %.
[[nodiscard]] inline std::string percent(count part, count total) {
    char buffer[32];
    const double share = total == count{} ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(total);
    if (share > 0 && share < 0.005) return "<0.01 %";
    std::snprintf(buffer, sizeof buffer, share > 0 && share < 0.05 ? "%.2f %%" : "%.1f %%", share);
    return buffer;
}

/// A number in the format of llm-profiler: a value below 1000 with two decimals unless it is an integer, and the power
/// of ten.
[[nodiscard]] inline std::string profiler_number(count n) {
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

/// Formats up to three numbers with a `printf` format.
[[nodiscard]] inline std::string formatted(const char* format, double a, double b = 0, double c = 0) {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer, format, a, b, c);
    return buffer;
}

/// Joins texts by ` · ` in lines of at most `width` columns; lines after the first begin with `indent`.
[[nodiscard]] inline std::string wrapped(const auto& parts, std::size_t width, std::string_view indent = {}) {
    std::string out, line;
    for (const auto& part : parts) {
        if (std::string_view(part).empty()) continue;
        if (!line.empty() && width_of(line) + 3 + width_of(part) > width) {
            out += line + '\n';
            line = indent;
        } else if (!line.empty() && line != indent) {
            line += " · ";
        }
        line += part;
    }
    return out + line + '\n';
}

}  // namespace llmcost::cli
