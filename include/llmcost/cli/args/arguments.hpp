// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>

namespace llmcost::cli {

/// Parses a whole number from `minimum` to `maximum`, without sign and blanks: 8192, 8_192, 1e4, 8k (8000), 128K
/// (131072). Throws: `usage`.
[[nodiscard]] std::int64_t parse_integer(std::string_view option_name, std::string_view text, std::int64_t minimum,
                                         std::int64_t maximum = max_input);

/// Parses a decimal number from `minimum` to `maximum`. Throws: `usage`.
[[nodiscard]] double parse_real(std::string_view option_name, std::string_view text, double minimum, double maximum);

/// Parses seconds with at most three decimal places; returns milliseconds. Throws: `usage`.
[[nodiscard]] std::int64_t parse_milliseconds(std::string_view option_name, std::string_view text);

/// A parsed command line: values of the options of a command, and positional arguments.
class arguments {
public:
    /// Parses `--option value` and `--option=value`; `--` ends the options, and `_` equals `-` inside names.
    ///
    /// Throws: `usage` for unknown options, repeated options, and values of another type.
    arguments(std::string_view command, std::span<const option_spec> rows, std::span<const std::string_view> args);

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
    [[nodiscard]] int choice(const option_spec& o, int default_value = 0) const;
    /// All values of an option, in order.
    [[nodiscard]] const std::vector<std::string_view>& all(const option_spec& o) const noexcept;
    [[nodiscard]] const std::vector<std::string_view>& positional() const noexcept { return positional_; }
    /// Replaces the value of an option; `value` must outlive this object.
    void replace(const option_spec& o, std::string_view value);
    /// Removes an option.
    void remove(const option_spec& o);
    /// Moves the first `num_positional` positional arguments to the values of an option.
    void require_positional(const option_spec& target, std::size_t num_positional);
    [[nodiscard]] std::span<const option_spec> options() const noexcept { return rows_; }
    /// Whether the command has an option.
    [[nodiscard]] bool accepts(const option_spec& o) const noexcept {
        for (const option_spec& row : rows_)
            if (row.is(o)) return true;
        return false;
    }
    /// The width of the terminal; 0 if it is unknown.
    [[nodiscard]] std::size_t output_columns() const noexcept { return output_columns_; }
    void set_output_columns(std::size_t columns) noexcept { output_columns_ = columns; }

private:
    /// Parses one option; returns how many of the following arguments it used.
    std::size_t read_option(std::string_view arg, std::optional<std::string_view> next);
    /// `no option '--bach'; nearest: --batch`; considers names, aliases and names of other tools.
    [[nodiscard]] std::string unknown_option_message(std::string_view name,
                                                     std::optional<std::string_view> value) const;
    /// Whether a text begins like an option; `-` (standard input) and negative numbers do not.
    [[nodiscard]] static bool looks_like_option(std::string_view text) noexcept {
        return text.size() > 1 && text[0] == '-' && !(text[1] >= '0' && text[1] <= '9');
    }
    /// Whether a text is the name of an image file, of a supported format or not.
    [[nodiscard]] static bool names_picture(std::string_view text) noexcept;
    /// The spelling of a choice or element type that differs from a value in case only; else the value.
    [[nodiscard]] static std::string_view canonical_value(const option_spec& row, std::string_view value);
    /// Throws: `usage` for a value that is not among the choices, no element type, or no SVG file.
    void check(const option_spec& row, std::string_view value) const;

    std::string_view command_;
    std::span<const option_spec> rows_;
    std::vector<std::vector<std::string_view>> values_;
    std::vector<std::string_view> positional_;
    std::size_t output_columns_ = 0;
};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/arguments.ipp>  // IWYU pragma: export
#endif
