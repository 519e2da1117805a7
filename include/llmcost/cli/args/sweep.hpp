// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>

// Options with lists of numbers: one command line for each combination of their values.
namespace llmcost::cli {

/// An option that accepts a list in addition to a number.
[[nodiscard]] consteval option_spec accepts_list(option_spec row) {
    row.value = "N|LIST";
    return row;
}

namespace detail {

inline constexpr std::size_t max_rows = 10'000;  ///< maximum number of combinations

}  // namespace detail

/// Whether a value is a list rather than a number.
[[nodiscard]] bool is_list(std::string_view text) noexcept;

/// Parses a list of numbers and ranges: `1,8,64`, `1024..131072:x2`, `0..4096:+512`. Throws: `usage`, also above
/// `max_size` numbers.
[[nodiscard]] std::vector<std::int64_t> read_list_of_numbers(std::string_view option_name, std::string_view text,
                                                             std::int64_t minimum,
                                                             std::size_t max_size = detail::max_rows);

/// Reports a list that is also the spelling of one number, e.g. `8,192`; empty for other lists.
///
/// Lists of numbers with three digits in ascending order, such as 128,256,512, are not reported. Throws: `usage` for
/// groups such as `1,024`, which are no numbers of a list.
[[nodiscard]] std::string thousands_warning(const option_spec& row, std::string_view text);

/// The command lines for all combinations of the lists in a command line.
class workload_sweep {
public:
    /// An option with a list.
    struct axis {
        option_spec option;
        std::vector<std::int64_t> values;
        [[nodiscard]] std::string_view name() const noexcept { return option.name.substr(2); }
    };

    /// Parses the lists of options. Throws: `usage` for an invalid list, and above 10,000 combinations.
    workload_sweep(const arguments& args, std::span<const option_spec> may_be_lists);

    /// Whether at least one option has a list.
    [[nodiscard]] bool has_axes() const noexcept { return !axes_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const std::vector<axis>& axes() const noexcept { return axes_; }
    [[nodiscard]] bool has(const option_spec& row) const noexcept;
    /// The index of the axis with the most values; the first one if several have as many.
    [[nodiscard]] std::size_t max_length() const noexcept;
    /// The index of the value of an axis in combination `i`; the last axis varies fastest.
    [[nodiscard]] std::size_t place(std::size_t i, std::size_t of_axis) const noexcept;
    /// The command line of combination `i`.
    [[nodiscard]] arguments at(std::size_t i) const;

private:
    const arguments& args_;
    std::vector<axis> axes_;
    std::vector<std::vector<std::string>> texts_;
    std::size_t size_ = 1;
};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/sweep.ipp>  // IWYU pragma: export
#endif
