// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// A whole number in decimal digits between `minimum` and `maximum`; no sign, no blanks, nothing behind it.
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

/// A decimal number between two bounds, nothing behind it.
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

/// Seconds with at most three decimal places, as milliseconds.
[[nodiscard]] inline std::int64_t parse_milliseconds(std::string_view option_name, std::string_view text) {
    const double seconds = parse_real(option_name, text, 0.001, 1e6);
    const double milliseconds = std::nearbyint(seconds * 1000);
    if (std::abs(milliseconds - seconds * 1000) > 1e-6 * milliseconds)
        throw_usage(option_name, "expected whole milliseconds, found " + quote(text));
    return static_cast<std::int64_t>(milliseconds);
}

/// A command line, read: the options of a command with their values, and the words that are none.
class arguments {
public:
    /// Reads `--flag value` and `--flag=value`; `--` ends the options, and `_` and `-` inside of names are the same.
    ///
    /// Throws `usage` for anything that is unknown, twice, or no value of its kind.
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
    /// The value of an option, or the otherwise.
    [[nodiscard]] std::string_view text(const option_spec& o, std::string_view default_value = {}) const {
        return has(o) ? all(o).front() : default_value;
    }
    [[nodiscard]] std::int64_t number(const option_spec& o, std::int64_t default_value,
                                      std::int64_t minimum = 1) const {
        return has(o) ? parse_integer(o.name, text(o), minimum) : default_value;
    }
    /// A decimal number between two bounds.
    [[nodiscard]] double real(const option_spec& o, double default_value, double minimum, double maximum) const {
        return has(o) ? parse_real(o.name, text(o), minimum, maximum) : default_value;
    }
    [[nodiscard]] dtype type(const option_spec& o) const { return has(o) ? dtype_from(text(o)) : dtype::unspecified; }
    /// The place of an option's value in its list of choices, from 0; `otherwise` where the option is not given.
    [[nodiscard]] int choice(const option_spec& o, int default_value = 0) const {
        if (!has(o)) return default_value;
        int found = 0, i = 0;
        for_each_choice(o.value, [&](std::string_view name) { found = name == text(o) ? i++ : (++i, found); });
        return found;
    }
    /// The values of an option, in order.
    [[nodiscard]] const std::vector<std::string_view>& all(const option_spec& o) const noexcept {
        static const std::vector<std::string_view> none;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(o)) return values_[i];
        return none;
    }
    [[nodiscard]] const std::vector<std::string_view>& positional() const noexcept { return positional_; }
    /// The same command line with another value of an option, which outlives it.
    void replace(const option_spec& o, std::string_view value) {
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(o)) values_[i] = {value};
    }
    /// The same command line without an option.
    void remove(const option_spec& o) {
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(o)) values_[i].clear();
    }
    /// The same command line with other words, the first of its own being values of an option.
    void require_positional(const option_spec& target, std::size_t num_positional) {
        const auto end = positional_.begin() + static_cast<std::ptrdiff_t>(num_positional);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(target)) values_[i].insert(values_[i].end(), positional_.begin(), end);
        positional_.erase(positional_.begin(), end);
    }
    [[nodiscard]] std::span<const option_spec> options() const noexcept { return rows_; }

    /// Whether what is given names an option.
    [[nodiscard]] static bool is_name(std::string_view argument, std::string_view name) noexcept {
        if (name.size() != argument.size()) return argument == "-h" && name == option::help.name;
        for (std::size_t k = 0; k < name.size(); ++k) {
            const bool dash = k > 1 && (argument[k] == '-' || argument[k] == '_') && (name[k] == '-' || name[k] == '_');
            if (argument[k] != name[k] && !dash) return false;
        }
        return true;
    }

private:
    /// Takes one option; gives how many of the following arguments it took.
    std::size_t read_option(std::string_view arg, std::optional<std::string_view> next) {
        const std::size_t sign = arg.find('=');
        const std::string_view name = arg.substr(0, sign);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const option_spec& row = rows_[i];
            if (!is_name(name, row.name)) continue;
            std::optional<std::string_view> value;
            if (sign != std::string_view::npos) value = arg.substr(sign + 1);
            const bool picture = row.type == value_type::image;
            const bool uses_next =
                row.type != value_type::none && !value && !(picture && !(next && names_picture(*next)));
            if (row.type == value_type::none && value) throw_usage(row.name, "takes no value, found " + quote(*value));
            if (uses_next && (!next || looks_like_option(*next)))
                throw_usage(row.name, "needs a value: " + std::string(row.name) + ' ' + std::string(row.value));
            if (uses_next) value = next;
            if (!row.is_repeatable && !values_[i].empty()) throw_usage(row.name, "is given twice");
            values_[i].push_back(value.value_or(std::string_view{}));
            check(row, values_[i].back());
            return uses_next ? 1 : 0;
        }
        name_suggestions near(name);
        for (const option_spec& row : rows_) near.add_candidate(row.name);
        const std::string help_command = command_.empty() ? "--help" : "llmcost " + std::string(command_) + " --help";
        throw_usage(command_, "no option " + quote(name) + near.suggestion_text(" (see " + help_command + ')'));
    }
    /// What begins with a dash, but for `-` alone, which is the standard input, and negative numbers.
    [[nodiscard]] static bool looks_like_option(std::string_view text) noexcept {
        return text.size() > 1 && text[0] == '-' && !(text[1] >= '0' && text[1] <= '9');
    }
    /// Whether a word is a file of a picture, be it one that can be written or not.
    [[nodiscard]] static bool names_picture(std::string_view text) noexcept {
        for (const std::string_view kind : {".svg", ".png", ".pdf", ".jpg", ".gif", ".eps", ".html"})
            if (text.ends_with(kind)) return true;
        return false;
    }
    /// Refuses a value that is none of a choice's words, and no name of a dtype.
    static void check(const option_spec& row, std::string_view value) {
        std::string names;
        bool known = row.type == value_type::dtype && dtype_from(value) != dtype::unspecified;
        const auto add = [&](std::string_view name) {
            known = known || value == name;
            names.append(names.empty() ? "" : ", ").append(name);
        };
        if (row.type == value_type::choice) for_each_choice(row.value, add);
        if (row.type == value_type::dtype)
            for (const dtype_row& type : dtype_table) add(type.name);
        if (row.type == value_type::image && !value.empty() && !value.ends_with(".svg"))
            throw_usage(row.name, "writes SVG: expected a file name that ends with .svg, found " + quote(value));
        if (!names.empty() && !known) throw_usage(row.name, "expected one of " + names + "; found " + quote(value));
    }

    std::string_view command_;
    std::span<const option_spec> rows_;
    std::vector<std::vector<std::string_view>> values_;
    std::vector<std::string_view> positional_;
};

}  // namespace llmcost::cli
