// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>

// A command as a value. The parser, the help, the man page and the completions use it.
namespace llmcost::cli {

/// An example of a command line.
struct command_example {
    std::string_view command_line;
    std::string_view description;
};

/// A command, `llmcost NAME`; the default command (front page and queries) has no name.
struct command {
    std::string_view name;
    std::string_view summary;      ///< one line, begins with a verb
    std::string_view usage;        ///< arguments; one line for each form
    std::string_view description;  ///< text of the help below the usage
    std::span<const option_spec> options;
    command_output (*run)(const arguments&, const program&);
    std::span<const command_example> examples{};
    completion_list completions = nullptr;  ///< positional arguments; null: none are accepted
    std::span<const option_spec> (*options_of)(std::string_view) = nullptr;  ///< if they depend on the first argument
    std::string (*extra_help)() = nullptr;                                   ///< text of the help below the options
    bool has_model_arguments = false;  ///< whether the command reads models from its positional arguments itself
};

/// The command with a name; null if there is none.
[[nodiscard]] const command* find_command(std::span<const command* const> commands, std::string_view name);

/// Throws: `usage` if an argument is the name of a command, which must come first.
void reject_misplaced_command(std::span<const command* const> commands, std::string_view name);

/// The names of commands, separated by `separator`.
[[nodiscard]] std::string names_of(std::span<const command* const> commands, std::string_view separator = ", ");

/// The options that a command accepts with these arguments.
[[nodiscard]] std::span<const option_spec> options_of(const command& c, std::span<const std::string_view> args);

/// Whether a name or alias is among these options.
[[nodiscard]] inline bool has_option(std::span<const option_spec> rows, std::string_view name) {
    return std::any_of(rows.begin(), rows.end(), [&](const option_spec& o) { return o.is_named(name); });
}

/// `; --device is an option of llmcost op, latency, serve` for the first option that only other commands have;
/// otherwise empty.
[[nodiscard]] std::string suggest_command_for_option(std::span<const command* const> commands,
                                                     const command& selected_command,
                                                     std::span<const std::string_view> args);

/// `; nearest command: serve` for an argument that is similar to a command; otherwise empty.
[[nodiscard]] std::string suggest_command(std::span<const command* const> commands, std::string_view name);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/command.ipp>  // IWYU pragma: export
#endif
