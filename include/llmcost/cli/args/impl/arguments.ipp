// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/arguments.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::int64_t parse_integer(std::string_view option_name, std::string_view text, std::int64_t minimum,
                                          std::int64_t maximum) {
    std::int64_t n = 0;
    bool good = !text.empty() && text.size() <= 20;
    for (const char c : text) {
        good = good && c >= '0' && c <= '9' && n <= maximum;
        if (good) n = n * 10 + (c - '0');
    }
    if (!good || n < minimum || n > maximum)
        throw_usage(option_name, "expected a whole number from " + std::to_string(minimum) + " to " +
                                     std::to_string(maximum) + ", found " + quote(text));
    return n;
}

LLMCOST_INLINE double parse_real(std::string_view option_name, std::string_view text, double minimum, double maximum) {
    double n = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, n);
    if (problem == std::errc{} && stop == end && n >= minimum && n <= maximum) return n;
    std::array<char, 64> bounds{};
    std::snprintf(bounds.data(), bounds.size(), "%g to %g", minimum, maximum);
    throw_usage(option_name, "expected a number from " + std::string(bounds.data()) + ", found " + quote(text));
}

LLMCOST_INLINE std::int64_t parse_milliseconds(std::string_view option_name, std::string_view text) {
    const double seconds = parse_real(option_name, text, 0.001, 1e6);
    const double milliseconds = std::nearbyint(seconds * 1000);
    if (std::abs(milliseconds - seconds * 1000) > 1e-6 * milliseconds)
        throw_usage(option_name, "expected at most three decimal places, found " + quote(text));
    return static_cast<std::int64_t>(milliseconds);
}

LLMCOST_INLINE arguments::arguments(std::string_view command, std::span<const option_spec> rows,
                                    std::span<const std::string_view> args)
    : command_(command), rows_(rows), values_(rows.size()) {
    bool options = true;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        if (options && arg == "--") {
            options = false;
        } else if (!options || !arg.starts_with('-')) {
            positional_.push_back(arg);
        } else {
            i += read_option(arg, i + 1 < args.size() ? std::optional(args[i + 1]) : std::nullopt);
        }
    }
}

LLMCOST_INLINE int arguments::choice(const option_spec& o, int default_value) const {
    if (!has(o)) return default_value;
    int found = 0, i = 0;
    for_each_choice(o.choices, [&](std::string_view name) { found = name == text(o) ? i++ : (++i, found); });
    return found;
}

LLMCOST_INLINE const std::vector<std::string_view>& arguments::all(const option_spec& o) const noexcept {
    static const std::vector<std::string_view> none;
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].is(o)) return values_[i];
    return none;
}

LLMCOST_INLINE void arguments::replace(const option_spec& o, std::string_view value) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].is(o)) values_[i] = {value};
}

LLMCOST_INLINE void arguments::remove(const option_spec& o) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].is(o)) values_[i].clear();
}

LLMCOST_INLINE void arguments::require_positional(const option_spec& target, std::size_t num_positional) {
    const auto end = positional_.begin() + static_cast<std::ptrdiff_t>(num_positional);
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].is(target)) values_[i].insert(values_[i].end(), positional_.begin(), end);
    positional_.erase(positional_.begin(), end);
}

LLMCOST_INLINE std::size_t arguments::read_option(std::string_view arg, std::optional<std::string_view> next) {
    const std::size_t sign = arg.find('=');
    const std::string_view name = arg.substr(0, sign);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const option_spec& row = rows_[i];
        if (!row.is_named(name)) continue;
        std::optional<std::string_view> value;
        if (sign != std::string_view::npos) value = arg.substr(sign + 1);
        const bool picture = row.type == value_type::image;
        const bool uses_next = row.type != value_type::none && !value && !(picture && !(next && names_picture(*next)));
        if (row.type == value_type::none && value) throw_usage(row.name, "takes no value, found " + quote(*value));
        if (uses_next && (!next || looks_like_option(*next)))
            throw_usage(row.name, "requires a value: " + std::string(row.name) + ' ' + std::string(row.value));
        if (uses_next) value = next;
        if (!row.is_repeatable && !values_[i].empty()) throw_usage(row.name, "given more than once");
        values_[i].push_back(value.value_or(std::string_view{}));
        check(row, values_[i].back());
        return uses_next ? 1 : 0;
    }
    throw_usage(command_, unknown_option_message(name));
}

LLMCOST_INLINE std::string arguments::unknown_option_message(std::string_view name) const {
    name_suggestions near(name);
    for (const option_spec& row : rows_) {
        const bool is_end = name.starts_with("--") && row.name.ends_with(name.substr(1));
        near.add_candidate(row.name, is_end ? 0 : near.distance(row.name));  // --version: --engine-version
        row.for_each_alias([&](std::string_view alias) {
            if (alias.starts_with("--")) near.add_candidate(alias);
        });
    }
    const std::string help_command = command_.empty() ? "--help" : "llmcost " + std::string(command_) + " --help";
    return "no option " + quote(name) + near.suggestion_text(" (see " + help_command + ')');
}

LLMCOST_INLINE bool arguments::names_picture(std::string_view text) noexcept {
    for (const std::string_view kind : {".svg", ".png", ".pdf", ".jpg", ".gif", ".eps", ".html"})
        if (text.ends_with(kind)) return true;
    return false;
}

LLMCOST_INLINE void arguments::check(const option_spec& row, std::string_view value) {
    std::string names;
    bool known = row.type == value_type::dtype && dtype_from(value) != dtype::unspecified;
    const auto add = [&](std::string_view name) {
        known = known || value == name;
        names.append(names.empty() ? "" : ", ").append(name);
    };
    if (row.type == value_type::choice) for_each_choice(row.choices, add);
    if (row.type == value_type::dtype)
        for (const dtype_row& type : dtype_table) add(type.name);
    if (row.type == value_type::image && !value.empty() && !value.ends_with(".svg"))
        throw_usage(row.name, "expected a file name that ends with .svg, found " + quote(value));
    if (!names.empty() && !known) throw_usage(row.name, "expected one of " + names + "; found " + quote(value));
}

}  // namespace llmcost::cli
