// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/text/messages.hpp>

// Formatting of texts and numbers.
namespace llmcost::cli {

/// The number of characters of a UTF-8 text.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;

/// The message of a workload with more positions than the model has.
[[nodiscard]] std::string positions_text(const workload_error& e);

/// The text, padded on the left to a width.
[[nodiscard]] std::string right(std::string_view text, std::size_t width);

/// The text, padded on the right to a width.
[[nodiscard]] std::string left(std::string_view text, std::size_t width);

/// Digits in groups of three up to the decimal point: 1,235,814,400; 1,677.25.
[[nodiscard]] std::string grouped(std::string_view digits);
[[nodiscard]] inline std::string grouped(count n) { return grouped(count_text{n}.view()); }

/// The digits of a count.
[[nodiscard]] inline std::string digits(count n) { return std::string(count_text{n}.view()); }

/// A count with four digits: exact below 10,000, otherwise rounded with a prefix from k to Q (powers of 1000).
[[nodiscard]] std::string scaled(count n);

/// Text with ASCII characters instead of braille dots, lines of boxes and typographic signs; letters are unchanged.
[[nodiscard]] std::string ascii_text(std::string_view text);

/// Bytes with three digits in binary units: 2.30 GiB, 32.0 KiB, 512 B.
[[nodiscard]] std::string in_bytes(count n);

/// `part / total` in percent with one decimal; two decimals below 0.05 %, and `<0.01 %` below 0.005 %.
[[nodiscard]] std::string percent(count part, count total);

/// A number in the format of llm-profiler: a value below 1000 with two decimals unless it is an integer, and the power
/// of ten.
[[nodiscard]] std::string profiler_number(count n);

/// Formats up to three numbers with a `printf` format.
[[nodiscard]] std::string formatted(const char* format, double a, double b = 0, double c = 0);

namespace detail {

/// A duration with a unit, e.g. `812.3 µs`.
[[nodiscard]] std::string duration(double seconds);

}  // namespace detail

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

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/text.ipp>  // IWYU pragma: export
#endif
