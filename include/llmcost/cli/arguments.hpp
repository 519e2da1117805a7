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
#include <llmcost/cli/options.hpp>
#include <llmcost/cli/text.hpp>
#include <llmcost/detail/messages.hpp>
#include <llmcost/detail/nearest.hpp>

namespace llmcost::cli {

/// A whole number in decimal digits between `least` and `most`; no sign, no blanks, nothing behind it.
[[nodiscard]] inline std::int64_t read_number(std::string_view where, std::string_view text, std::int64_t least,
                                              std::int64_t most = largest_input) {
    std::int64_t n = 0;
    bool good = !text.empty() && text.size() <= 20;
    for (const char c : text) {
        good = good && c >= '0' && c <= '9' && n <= most;
        if (good) n = n * 10 + (c - '0');
    }
    if (!good || n < least || n > most)
        refuse(where, "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", found " +
                          in_quotes(text));
    return n;
}

/// A decimal number between two bounds, nothing behind it.
[[nodiscard]] inline double read_real(std::string_view where, std::string_view text, double least, double most) {
    double n = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, n);
    if (problem == std::errc{} && stop == end && n >= least && n <= most) return n;
    std::array<char, 64> bounds{};
    std::snprintf(bounds.data(), bounds.size(), "%g to %g", least, most);
    refuse(where, "expected a number from " + std::string(bounds.data()) + ", found " + in_quotes(text));
}

/// Seconds with at most three decimal places, as milliseconds.
[[nodiscard]] inline std::int64_t read_milliseconds(std::string_view where, std::string_view text) {
    const double seconds = read_real(where, text, 0.001, 1e6);
    const double whole = std::nearbyint(seconds * 1000);
    if (std::abs(whole - seconds * 1000) > 1e-6 * whole) refuse(where, "expected whole milliseconds, found " + in_quotes(text));
    return static_cast<std::int64_t>(whole);
}

/// A command line, read: the options of a command with their values, and the words that are none.
class arguments {
public:
    /// Reads `--flag value` and `--flag=value`; `--` ends the options, and `_` and `-` inside of names are the same.
    ///
    /// Throws `usage` for anything that is unknown, twice, or no value of its kind.
    arguments(std::string_view command, std::span<const option_row> rows, std::span<const std::string_view> args)
        : command_(command), rows_(rows), values_(rows.size()) {
        bool options = true;
        for (std::size_t i = 0; i < args.size(); ++i) {
            const std::string_view arg = args[i];
            if (options && arg == "--") {
                options = false;
            } else if (!options || !arg.starts_with('-')) {
                words_.push_back(arg);
            } else {
                i += read_option(arg, i + 1 < args.size() ? std::optional(args[i + 1]) : std::nullopt);
            }
        }
    }

    [[nodiscard]] bool has(const option_row& o) const noexcept { return !all(o).empty(); }
    /// The value of an option, or the otherwise.
    [[nodiscard]] std::string_view text(const option_row& o, std::string_view otherwise = {}) const {
        return has(o) ? all(o).front() : otherwise;
    }
    [[nodiscard]] std::int64_t number(const option_row& o, std::int64_t otherwise, std::int64_t least = 1) const {
        return has(o) ? read_number(o.name, text(o), least) : otherwise;
    }
    /// A decimal number between two bounds.
    [[nodiscard]] double real(const option_row& o, double otherwise, double least, double most) const {
        return has(o) ? read_real(o.name, text(o), least, most) : otherwise;
    }
    [[nodiscard]] dtype type(const option_row& o) const { return has(o) ? dtype_from(text(o)) : dtype::unspecified; }
    /// The place of an option's value in its list of choices, from 0; `otherwise` where the option is not given.
    [[nodiscard]] int choice(const option_row& o, int otherwise = 0) const {
        if (!has(o)) return otherwise;
        int found = 0, i = 0;
        each_choice(o.value, [&](std::string_view word) { found = word == text(o) ? i++ : (++i, found); });
        return found;
    }
    /// The values of an option, in order.
    [[nodiscard]] const std::vector<std::string_view>& all(const option_row& o) const noexcept {
        static const std::vector<std::string_view> none;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(o)) return values_[i];
        return none;
    }
    [[nodiscard]] const std::vector<std::string_view>& words() const noexcept { return words_; }
    /// The same command line with another value of an option, which outlives it.
    void replace(const option_row& o, std::string_view value) {
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(o)) values_[i] = {value};
    }
    /// The same command line without an option.
    void leave_out(const option_row& o) {
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(o)) values_[i].clear();
    }
    /// The same command line with other words, the first of its own being values of an option.
    void take_words(const option_row& as, std::size_t how_many) {
        const auto end = words_.begin() + static_cast<std::ptrdiff_t>(how_many);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].is(as)) values_[i].insert(values_[i].end(), words_.begin(), end);
        words_.erase(words_.begin(), end);
    }
    [[nodiscard]] std::span<const option_row> rows() const noexcept { return rows_; }

    /// Whether what is given names an option.
    [[nodiscard]] static bool is_name(std::string_view given, std::string_view name) noexcept {
        if (name.size() != given.size()) return given == "-h" && name == option::help.name;
        for (std::size_t k = 0; k < name.size(); ++k) {
            const bool dash = k > 1 && (given[k] == '-' || given[k] == '_') && (name[k] == '-' || name[k] == '_');
            if (given[k] != name[k] && !dash) return false;
        }
        return true;
    }

private:
    /// Takes one option; gives how many of the following arguments it took.
    std::size_t read_option(std::string_view arg, std::optional<std::string_view> next) {
        const std::size_t sign = arg.find('=');
        const std::string_view name = arg.substr(0, sign);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const option_row& row = rows_[i];
            if (!is_name(name, row.name)) continue;
            std::optional<std::string_view> value;
            if (sign != std::string_view::npos) value = arg.substr(sign + 1);
            const bool picture = row.kind == value_kind::picture;
            const bool takes_next = row.kind != value_kind::none && !value && !(picture && !(next && names_picture(*next)));
            if (row.kind == value_kind::none && value) refuse(row.name, "takes no value, found " + in_quotes(*value));
            if (takes_next && (!next || looks_like_option(*next)))
                refuse(row.name, "needs a value: " + std::string(row.name) + ' ' + std::string(row.value));
            if (takes_next) value = next;
            if (!row.repeats && !values_[i].empty()) refuse(row.name, "is given twice");
            values_[i].push_back(value.value_or(std::string_view{}));
            check(row, values_[i].back());
            return takes_next ? 1 : 0;
        }
        nearest_names near(name);
        for (const option_row& row : rows_) near.offer(row.name);
        const std::string see = command_.empty() ? "--help" : "llmcost " + std::string(command_) + " --help";
        refuse(command_, "no option " + in_quotes(name) + near.hint(" (see " + see + ')'));
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
    static void check(const option_row& row, std::string_view value) {
        std::string names;
        bool known = row.kind == value_kind::dtype && dtype_from(value) != dtype::unspecified;
        const auto add = [&](std::string_view name) {
            known = known || value == name;
            names.append(names.empty() ? "" : ", ").append(name);
        };
        if (row.kind == value_kind::choice) each_choice(row.value, add);
        if (row.kind == value_kind::dtype)
            for (const dtype_row& type : dtype_table) add(type.name);
        if (row.kind == value_kind::picture && !value.empty() && !value.ends_with(".svg"))
            refuse(row.name, "writes SVG: expected a file name that ends with .svg, found " + in_quotes(value));
        if (!names.empty() && !known) refuse(row.name, "expected one of " + names + "; found " + in_quotes(value));
    }

    std::string_view command_;
    std::span<const option_row> rows_;
    std::vector<std::vector<std::string_view>> values_;
    std::vector<std::string_view> words_;
};

}  // namespace llmcost::cli
