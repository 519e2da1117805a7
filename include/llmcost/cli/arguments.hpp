// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
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

/// A command line, read: the options with their values, and the words that are none.
class arguments {
public:
    /// Reads `--flag value` and `--flag=value`; `--` ends the options. Throws `usage` for anything that is unknown or twice.
    explicit arguments(std::span<const std::string_view> args) {
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

    [[nodiscard]] bool has(option id) const noexcept { return at(id).has_value(); }
    /// The value of an option, or the otherwise.
    [[nodiscard]] std::string_view text(option id, std::string_view otherwise = {}) const {
        return at(id).value_or(otherwise);
    }
    [[nodiscard]] std::int64_t number(option id, std::int64_t otherwise, std::int64_t least = 1) const {
        return has(id) ? read_number(row_of(id).name, *at(id), least) : otherwise;
    }
    [[nodiscard]] dtype type(option id) const {
        if (!has(id)) return dtype::unspecified;
        const dtype type = dtype_from(*at(id));
        if (type != dtype::unspecified) return type;
        std::string names;
        for (const dtype_row& row : dtype_table) names += (names.empty() ? "" : ", ") + std::string(row.name);
        refuse(row_of(id).name, "expected one of " + names + "; found " + in_quotes(*at(id)));
    }
    /// The place of an option's value in its list of choices, from 0; `otherwise` where the option is not given.
    [[nodiscard]] int choice(option id, int otherwise = 0) const {
        if (!has(id)) return otherwise;
        int found = -1, i = 0;
        std::string names;
        each_choice(row_of(id).value, [&](std::string_view word) {
            if (word == *at(id)) found = i;
            names += (i++ == 0 ? "" : ", ") + std::string(word);
        });
        if (found < 0) refuse(row_of(id).name, "expected one of " + names + "; found " + in_quotes(*at(id)));
        return found;
    }
    /// The values of `--set`, in order.
    [[nodiscard]] const std::vector<std::string_view>& overrides() const noexcept { return overrides_; }
    [[nodiscard]] const std::vector<std::string_view>& words() const noexcept { return words_; }

private:
    [[nodiscard]] const std::optional<std::string_view>& at(option id) const noexcept {
        return values_[static_cast<std::size_t>(id)];
    }
    /// Takes one option; gives how many of the following arguments it took.
    std::size_t read_option(std::string_view arg, std::optional<std::string_view> next) {
        const std::size_t sign = arg.find('=');
        const std::string_view name = arg == "-h" ? row_of(option::help).name : arg.substr(0, sign);
        for (const option_row& row : option_table) {
            if (row.name != name) continue;
            std::optional<std::string_view> value;
            if (sign != std::string_view::npos) value = arg.substr(sign + 1);
            const bool takes_next = row.kind != value_kind::none && !value;
            if (row.kind == value_kind::none && value) refuse(name, "takes no value, found " + in_quotes(*value));
            if (takes_next && (!next || looks_like_option(*next)))
                refuse(name, "needs a value: " + std::string(name) + ' ' + std::string(row.value));
            if (takes_next) value = next;
            keep(row, value.value_or(std::string_view{}));
            return takes_next ? 1 : 0;
        }
        nearest_names near(name);
        for (const option_row& row : option_table) near.offer(row.name);
        refuse({}, "no option " + in_quotes(name) + near.hint(" (see --help)"));
    }
    /// What begins with a dash, but for `-` alone, which is the standard input, and negative numbers.
    [[nodiscard]] static bool looks_like_option(std::string_view text) noexcept {
        return text.size() > 1 && text[0] == '-' && !(text[1] >= '0' && text[1] <= '9');
    }
    void keep(const option_row& row, std::string_view value) {
        if (row.id == option::set) {
            overrides_.push_back(value);
            return;
        }
        auto& place = values_[static_cast<std::size_t>(row.id)];
        if (place) refuse(row.name, "is given twice");
        place = value;
    }

    std::array<std::optional<std::string_view>, option_count> values_{};
    std::vector<std::string_view> overrides_;
    std::vector<std::string_view> words_;
};

}  // namespace llmcost::cli
