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

#include <llmcost/cli/arguments.hpp>

// Options of numbers that are given lists: a command line for each combination of their values.
namespace llmcost::cli {

/// The same option where a list may stand in place of its number.
[[nodiscard]] consteval option_row listed(option_row row) {
    row.value = "N|LIST";
    return row;
}

/// Whether a value is a list rather than a number.
[[nodiscard]] inline bool is_list(std::string_view text) noexcept {
    return text.find(',') != std::string_view::npos || text.find("..") != std::string_view::npos;
}

namespace detail {

inline constexpr std::size_t most_rows = 10'000;  ///< of a table of combinations

/// Adds the numbers of `1024..131072:x2` or `0..4096:+512`: from the first on as far as they do not pass the last.
inline void add_range(std::string_view where, std::string_view item, std::int64_t least, std::vector<std::int64_t>& out) {
    const std::size_t dots = item.find(".."), colon = item.find(':', dots);
    const std::string_view step = colon == std::string_view::npos ? std::string_view{} : item.substr(colon + 1);
    const bool times = step.starts_with('x'), plus = step.starts_with('+');
    if (!times && !plus) refuse(where, "expected a range like 1024..131072:x2 or 0..4096:+512, found " + in_quotes(item));
    const std::int64_t first = read_number(where, item.substr(0, dots), least);
    const std::int64_t last = read_number(where, item.substr(dots + 2, colon - dots - 2), least);
    const std::int64_t by = read_number(where, step.substr(1), times ? 2 : 1);
    if (first > last) refuse(where, "begins with more than it ends with: " + in_quotes(item));
    if (times && first == 0) refuse(where, "zero times anything is zero: " + in_quotes(item));
    for (std::int64_t n = first; n <= last && out.size() <= most_rows; n = times ? n * by : n + by) out.push_back(n);
}

}  // namespace detail

/// The numbers of a list: `1,8,64`, `1024..131072:x2`, `0..4096:+512`, or several of these; no bound on any but `least`.
[[nodiscard]] inline std::vector<std::int64_t> read_list_of_numbers(std::string_view where, std::string_view text,
                                                                    std::int64_t least) {
    std::vector<std::int64_t> out;
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        more = comma != std::string_view::npos;
        text.remove_prefix(more ? comma + 1 : text.size());
        if (item.find("..") == std::string_view::npos)
            out.push_back(read_number(where, item, least));
        else
            detail::add_range(where, item, least, out);
        if (out.size() > detail::most_rows) refuse(where, "lists more than 10,000 numbers");
    }
    return out;
}

/// What a command line asks for, a combination of its lists each: one where it has no list.
class sweep {
public:
    /// An option that is given a list.
    struct axis {
        option_row option;
        std::vector<std::int64_t> values;
        [[nodiscard]] std::string_view name() const noexcept { return option.name.substr(2); }
    };

    /// Reads the lists of some options; throws `usage` where one is none, or combinations are too many.
    sweep(const arguments& given, std::span<const option_row> may_be_lists) : given_(given) {
        for (const option_row& row : may_be_lists) {
            if (!given.has(row) || !is_list(given.text(row))) continue;
            const bool may_be_zero = row.is(option::past) || row.is(option::encoder_sequence);
            axes_.push_back({row, read_list_of_numbers(row.name, given.text(row), may_be_zero ? 0 : 1)});
            size_ *= axes_.back().values.size();
            if (size_ > detail::most_rows) refuse(row.name, "makes a table of more than 10,000 rows");
        }
        for (const axis& a : axes_) {
            texts_.emplace_back();
            for (const std::int64_t n : a.values) texts_.back().push_back(std::to_string(n));
        }
    }

    /// Whether anything is a list.
    [[nodiscard]] bool any() const noexcept { return !axes_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const std::vector<axis>& axes() const noexcept { return axes_; }
    [[nodiscard]] bool has(const option_row& row) const noexcept {
        for (const axis& a : axes_)
            if (a.option.is(row)) return true;
        return false;
    }
    /// The axis with the most values, the first of these.
    [[nodiscard]] std::size_t longest() const noexcept {
        std::size_t best = 0;
        for (std::size_t k = 1; k < axes_.size(); ++k)
            if (axes_[k].values.size() > axes_[best].values.size()) best = k;
        return best;
    }
    /// Which value of an axis a combination has; the last axis runs fastest.
    [[nodiscard]] std::size_t place(std::size_t i, std::size_t of_axis) const noexcept {
        for (std::size_t k = axes_.size(); --k > of_axis;) i /= axes_[k].values.size();
        return i % axes_[of_axis].values.size();
    }
    /// The command line of a combination.
    [[nodiscard]] arguments at(std::size_t i) const {
        arguments out = given_;
        for (std::size_t k = 0; k < axes_.size(); ++k) out.replace(axes_[k].option, texts_[k][place(i, k)]);
        return out;
    }

private:
    const arguments& given_;
    std::vector<axis> axes_;
    std::vector<std::vector<std::string>> texts_;
    std::size_t size_ = 1;
};

}  // namespace llmcost::cli
