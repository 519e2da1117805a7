// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli {

/// Parses an integer of decimal digits from `minimum` to `maximum`, without sign and blanks. Throws: `usage`.
[[nodiscard]] inline std::int64_t parse_integer(std::string_view option_name, std::string_view text,
                                                std::int64_t minimum, std::int64_t maximum = max_input) {
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

/// Parses a decimal number from `minimum` to `maximum`. Throws: `usage`.
[[nodiscard]] inline double parse_real(std::string_view option_name, std::string_view text, double minimum,
                                       double maximum) {
    double n = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, n);
    if (problem == std::errc{} && stop == end && n >= minimum && n <= maximum) return n;
    std::array<char, 64> bounds{};
    std::snprintf(bounds.data(), bounds.size(), "%g to %g", minimum, maximum);
    throw_usage(option_name, "expected a number from " + std::string(bounds.data()) + ", found " + quote(text));
}

/// Parses seconds with at most three decimal places; returns milliseconds. Throws: `usage`.
[[nodiscard]] inline std::int64_t parse_milliseconds(std::string_view option_name, std::string_view text) {
    const double seconds = parse_real(option_name, text, 0.001, 1e6);
    const double milliseconds = std::nearbyint(seconds * 1000);
    if (std::abs(milliseconds - seconds * 1000) > 1e-6 * milliseconds)
        throw_usage(option_name, "expected at most three decimal places, found " + quote(text));
    return static_cast<std::int64_t>(milliseconds);
}

/// A parsed command line: values of the options of a command, and positional arguments.
class arguments {
public:
    /// Parses `--option value` and `--option=value`; `--` ends the options, and `_` equals `-` inside names.
    ///
    /// Throws: `usage` for unknown options, repeated options, and values of another type.
    arguments(std::string_view command, std::span<const option_spec> rows, std::span<const std::string_view> args)
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

    [[nodiscard]] bool has(const option_spec& o) const noexcept { return !all(o).empty(); }
    /// The value of an option, or a default.
    [[nodiscard]] std::string_view text(const option_spec& o, std::string_view default_value = {}) const {
        return has(o) ? all(o).front() : default_value;
    }
    /// The value of an integer option, or a default. Throws: `usage` below `minimum`.
    [[nodiscard]] std::int64_t number(const option_spec& o, std::int64_t default_value,
                                      std::int64_t minimum = 1) const {
        return has(o) ? parse_integer(o.name, text(o), minimum) : default_value;
    }
    /// The value of a decimal option from `minimum` to `maximum`, or a default. Throws: `usage`.
    [[nodiscard]] double real(const option_spec& o, double default_value, double minimum, double maximum) const {
        return has(o) ? parse_real(o.name, text(o), minimum, maximum) : default_value;
    }
    /// The element type that an option names; `unspecified` without the option.
    [[nodiscard]] dtype type(const option_spec& o) const { return has(o) ? dtype_from(text(o)) : dtype::unspecified; }
    /// The index of an option's value in its choices, or a default.
    [[nodiscard]] int choice(const option_spec& o, int default_value = 0) const {
        if (!has(o)) return default_value;
        int found = 0, i = 0;
        for_each_choice(o.choices, [&](std::string_view name) { found = name == text(o) ? i++ : (++i, found); });
        return found;
    }
    /// All values of an option, in order.
    [[nodiscard]] const std::vector<std::string_view>& all(const option_spec& o) const noexcept {
        static const std::vector<std::string_view> none;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(o)) return values_[i];
        return none;
    }
    [[nodiscard]] const std::vector<std::string_view>& positional() const noexcept { return positional_; }
    /// Replaces the value of an option; `value` must outlive this object.
    void replace(const option_spec& o, std::string_view value) {
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(o)) values_[i] = {value};
    }
    /// Removes an option.
    void remove(const option_spec& o) {
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(o)) values_[i].clear();
    }
    /// Moves the first `num_positional` positional arguments to the values of an option.
    void require_positional(const option_spec& target, std::size_t num_positional) {
        const auto end = positional_.begin() + static_cast<std::ptrdiff_t>(num_positional);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(target)) values_[i].insert(values_[i].end(), positional_.begin(), end);
        positional_.erase(positional_.begin(), end);
    }
    [[nodiscard]] std::span<const option_spec> options() const noexcept { return rows_; }

private:
    /// Parses one option; returns how many of the following arguments it used.
    std::size_t read_option(std::string_view arg, std::optional<std::string_view> next) {
        const std::size_t sign = arg.find('=');
        const std::string_view name = arg.substr(0, sign);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const option_spec& row = rows_[i];
            if (!row.is_named(name)) continue;
            std::optional<std::string_view> value;
            if (sign != std::string_view::npos) value = arg.substr(sign + 1);
            const bool picture = row.type == value_type::image;
            const bool uses_next =
                row.type != value_type::none && !value && !(picture && !(next && names_picture(*next)));
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
    /// `no option '--bach'; nearest: --batch`; considers names and aliases.
    [[nodiscard]] std::string unknown_option_message(std::string_view name) const {
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
    /// Whether a text begins like an option; `-` (standard input) and negative numbers do not.
    [[nodiscard]] static bool looks_like_option(std::string_view text) noexcept {
        return text.size() > 1 && text[0] == '-' && !(text[1] >= '0' && text[1] <= '9');
    }
    /// Whether a text is the name of an image file, of a supported format or not.
    [[nodiscard]] static bool names_picture(std::string_view text) noexcept {
        for (const std::string_view kind : {".svg", ".png", ".pdf", ".jpg", ".gif", ".eps", ".html"})
            if (text.ends_with(kind)) return true;
        return false;
    }
    /// Throws: `usage` for a value that is not among the choices, no element type, or no SVG file.
    static void check(const option_spec& row, std::string_view value) {
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

    std::string_view command_;
    std::span<const option_spec> rows_;
    std::vector<std::vector<std::string_view>> values_;
    std::vector<std::string_view> positional_;
};

}  // namespace llmcost::cli
