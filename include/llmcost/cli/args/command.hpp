// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/scope.hpp>

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
};

/// The command with a name; null if there is none.
[[nodiscard]] inline const command* find_command(std::span<const command* const> commands, std::string_view name) {
    for (const command* c : commands)
        if (!name.empty() && c->name == name) return c;
    return nullptr;
}

/// Throws: `usage` if an argument is the name of a command, which must come first.
inline void reject_misplaced_command(std::span<const command* const> commands, std::string_view name) {
    if (find_command(commands, name) != nullptr)
        throw_usage({}, quote(name) + " is a command and must come first: llmcost " + std::string(name));
}

/// The names of commands, separated by `separator`.
[[nodiscard]] inline std::string names_of(std::span<const command* const> commands, std::string_view separator = ", ") {
    std::string out;
    for (const command* c : commands)
        if (!c->name.empty()) out.append(out.empty() ? "" : separator).append(c->name);
    return out;
}

/// The options that a command accepts with these arguments.
[[nodiscard]] inline std::span<const option_spec> options_of(const command& c, std::span<const std::string_view> args) {
    const bool has_positional = !args.empty() && !args.front().starts_with('-');
    return has_positional && c.options_of != nullptr ? c.options_of(args.front()) : c.options;
}

/// Whether a name or alias is among these options.
[[nodiscard]] inline bool has_option(std::span<const option_spec> rows, std::string_view name) {
    return std::any_of(rows.begin(), rows.end(), [&](const option_spec& o) { return o.is_named(name); });
}

/// `; --device is an option of llmcost op, latency, serve` for the first option that only other commands have;
/// otherwise empty.
[[nodiscard]] inline std::string suggest_command_for_option(std::span<const command* const> commands,
                                                            const command& selected_command,
                                                            std::span<const std::string_view> args) {
    for (const std::string_view arg : args) {
        const std::string_view name = arg.substr(0, arg.find('='));
        if (!arg.starts_with('-') || has_option(options_of(selected_command, args), name)) continue;
        std::string named, default_command;
        for (const command* c : commands) {
            if (!has_option(c->options, name)) continue;
            if (c->name.empty())
                default_command = "llmcost without a command";
            else
                named.append(named.empty() ? "llmcost " : ", ").append(c->name);
        }
        const std::string all = named + (named.empty() || default_command.empty() ? "" : " and ") + default_command;
        return all.empty() ? all : "; " + printable(name) + " is an option of " + all;
    }
    return {};
}

/// `; nearest command: serve` for an argument that is similar to a command; otherwise empty.
[[nodiscard]] inline std::string suggest_command(std::span<const command* const> commands, std::string_view name) {
    if (name.empty() || name.starts_with('-') || find_metric(name) != nullptr || role_from(name) != role::none)
        return {};
    const name_suggestions near(name);
    std::string out;
    for (const command* c : commands) {
        const int distance = near.distance(c->name);
        if (distance <= 2 && distance < static_cast<int>(c->name.size()))
            out.append(out.empty() ? "; nearest command: " : ", ").append(c->name);
    }
    return out;
}

}  // namespace llmcost::cli
