// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/streams.hpp>

// The help of commands and of the program, from the tables of commands, metrics and roles.
namespace llmcost::cli {

namespace detail {

struct exit_code_description {
    std::string_view code;
    std::string_view meaning;
};
inline constexpr std::array<exit_code_description, 11> exit_rows{{
    {"0", "success"},
    {"1", "output: the result could not be written"},
    {"2", "usage: an unknown option, metric or scope, or a value out of range"},
    {"3", "configuration: missing, unreadable, invalid or unsupported"},
    {"4", "network: the Hub did not respond, or its response was invalid"},
    {"5", "overflow: a count above 128 bits, too many layers, or out of memory"},
    {"6", "input: standard input ended with a read error"},
    {"7", "rows: some rows of a table have no result; their column error contains the reason"},
    {"8", "does not fit: the memory is too small, or no deployment meets the targets; the result is printed"},
    {"9", "mismatch: the tensors of a file differ from its configuration; the result is printed"},
    {"70", "a bug in llmcost"},
}};

inline constexpr std::size_t option_column_width = 32;  ///< of names and value in the help
inline constexpr std::size_t help_line_width = 100;

std::string role_list(std::string_view separator);

}  // namespace detail

/// The width of help lines: that of the terminal, from 80 to 160 columns; `help_line_width` if it is unknown.
[[nodiscard]] std::size_t help_columns(const streams& io);

/// The help of a command: usage, description, options by section, then what `extra_help` returns.
[[nodiscard]] std::string help_text(const command& c, std::size_t columns = detail::help_line_width);

/// A command as JSON: name, summary, usage, options with their names, values, choices and help, examples.
///
/// Programs make forms, schemas and functions of it.
[[nodiscard]] std::string help_json(const command& c);

/// The program as JSON: version, all commands, metrics, scopes and exit codes.
[[nodiscard]] std::string help_json(const program& program);

/// The help of the program: usage, commands with their summaries, and the options of the default command.
[[nodiscard]] std::string help_text(const program& program);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/help.ipp>  // IWYU pragma: export
#endif
