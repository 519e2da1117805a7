// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/sweep.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE bool is_list(std::string_view text) noexcept {
    return text.find(',') != std::string_view::npos || text.find("..") != std::string_view::npos;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// Appends the numbers of a range `1024..131072:x2` or `0..4096:+512`, up to and including its end; stops above
/// `max_size` numbers.
LLMCOST_INLINE void add_range(std::string_view option_name, std::string_view item, std::int64_t minimum,
                              std::size_t max_size, std::vector<std::int64_t>& out) {
    const std::size_t dots = item.find(".."), colon = item.find(':', dots);
    const std::string_view step = colon == std::string_view::npos ? std::string_view{} : item.substr(colon + 1);
    const bool times = step.starts_with('x'), plus = step.starts_with('+');
    if (!times && !plus)
        throw_usage(option_name, "expected a range such as 1024..131072:x2 or 0..4096:+512, found " + quote(item));
    const std::int64_t first = parse_integer(option_name, item.substr(0, dots), minimum);
    const std::int64_t last = parse_integer(option_name, item.substr(dots + 2, colon - dots - 2), minimum);
    const std::int64_t step_size = parse_integer(option_name, step.substr(1), times ? 2 : 1);
    if (first > last) throw_usage(option_name, "expected a range FIRST..LAST with FIRST <= LAST, found " + quote(item));
    if (times && first == 0)
        throw_usage(option_name, "expected a range that starts at 1 or above, found " + quote(item));
    for (std::int64_t n = first; n <= last && out.size() <= max_size; n = times ? n * step_size : n + step_size)
        out.push_back(n);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::vector<std::int64_t> read_list_of_numbers(std::string_view option_name, std::string_view text,
                                                              std::int64_t minimum, std::size_t max_size) {
    std::vector<std::int64_t> out;
    for (bool has_more = true; has_more;) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        has_more = comma != std::string_view::npos;
        text.remove_prefix(has_more ? comma + 1 : text.size());
        if (item.find("..") == std::string_view::npos)
            out.push_back(parse_integer(option_name, item, minimum));
        else
            detail::add_range(option_name, item, minimum, max_size, out);
        if (out.size() > max_size)
            throw_usage(option_name,
                        "expected at most " + std::string(count_text{count(max_size)}.view()) + " numbers");
    }
    return out;
}

LLMCOST_INLINE std::string thousands_warning(const option_spec& row, std::string_view text) {
    if (row.type != value_type::number || !row.value.ends_with("LIST")) return {};
    std::vector<std::string_view> groups;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        groups.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const auto is_group = [](std::string_view g) {
        return !g.empty() && g.size() <= 3 && g.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (groups.size() < 2 || text.ends_with(',') || !is_group(groups.front()) || groups.front().front() == '0')
        return {};
    bool is_ascending = true, has_leading_zero = false;
    std::string number(groups.front()), values(groups.front());
    for (std::size_t i = 1; i < groups.size(); ++i) {
        if (!is_group(groups[i]) || groups[i].size() != 3) return {};
        is_ascending = is_ascending && groups[i - 1].size() == 3 && groups[i - 1] < groups[i];
        has_leading_zero = has_leading_zero || groups[i].front() == '0';
        number += groups[i];
        values.append(", ").append(groups[i]);
    }
    const std::string hint = "for one number, write " + number;
    if (has_leading_zero)
        throw_usage(row.name, "expected numbers without leading zeros, found " + quote(text) + "; " + hint);
    if (is_ascending) return {};
    return std::string(row.name) + ": " + std::string(text) + " is a list of " + std::to_string(groups.size()) +
           " numbers: " + values + "; " + hint;
}

LLMCOST_INLINE workload_sweep::workload_sweep(const arguments& args, std::span<const option_spec> may_be_lists)
    : args_(args) {
    for (const option_spec& row : may_be_lists) {
        if (!args.has(row) || !is_list(args.text(row))) continue;
        const bool may_be_zero = row.is(option::past) || row.is(option::encoder_sequence);
        axes_.push_back({row, read_list_of_numbers(row.name, args.text(row), may_be_zero ? 0 : 1)});
        size_ *= axes_.back().values.size();
        if (size_ > detail::max_rows) throw_usage(row.name, "expected at most 10,000 combinations");
    }
    for (const axis& a : axes_) {
        texts_.emplace_back();
        for (const std::int64_t n : a.values) texts_.back().push_back(std::to_string(n));
    }
}

LLMCOST_INLINE bool workload_sweep::has(const option_spec& row) const noexcept {
    for (const axis& a : axes_)
        if (a.option.is(row)) return true;
    return false;
}

LLMCOST_INLINE std::size_t workload_sweep::max_length() const noexcept {
    std::size_t best = 0;
    for (std::size_t k = 1; k < axes_.size(); ++k)
        if (axes_[k].values.size() > axes_[best].values.size()) best = k;
    return best;
}

LLMCOST_INLINE std::size_t workload_sweep::place(std::size_t i, std::size_t of_axis) const noexcept {
    for (std::size_t k = axes_.size(); --k > of_axis;) i /= axes_[k].values.size();
    return i % axes_[of_axis].values.size();
}

LLMCOST_INLINE arguments workload_sweep::at(std::size_t i) const {
    arguments out = args_;
    for (std::size_t k = 0; k < axes_.size(); ++k) out.replace(axes_[k].option, texts_[k][place(i, k)]);
    return out;
}

}  // namespace llmcost::cli
