// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/find_metric.hpp>
#include <llmcost/cli/options.hpp>
#include <llmcost/cli/streams.hpp>
#include <llmcost/detail/nearest.hpp>
#include <llmcost/trace/scope.hpp>

// A command as a value: its parser, its help, the man page and completions are all read from it.
namespace llmcost::cli {

/// A command line that shows what a command is for.
struct example_row {
    std::string_view line;
    std::string_view meaning;
};

/// What the command line may begin with; the front page and queries are the one without a name.
struct command {
    std::string_view name;
    std::string_view meaning;  ///< in a few words
    std::string_view usage;    ///< behind the name; one line for each way
    std::string_view about;    ///< lines of the help, below the usage
    std::span<const option_row> options;
    answered (*answer)(const arguments&, const program&);
    std::span<const example_row> examples{};
    word_list words = nullptr;                                              ///< besides options; null: it takes none
    std::span<const option_row> (*options_of)(std::string_view) = nullptr;  ///< where they depend on the first word
    std::string (*more_help)() = nullptr;                                   ///< below the options
};

/// The command of a name; null where there is none.
[[nodiscard]] inline const command* find_command(std::span<const command* const> commands, std::string_view name) {
    for (const command* c : commands)
        if (!name.empty() && c->name == name) return c;
    return nullptr;
}

/// Refuses a word that is a command, which would have to come first.
inline void refuse_command(std::span<const command* const> commands, std::string_view word) {
    if (find_command(commands, word) != nullptr)
        refuse({}, in_quotes(word) + " is a command, which comes first: llmcost " + std::string(word));
}

/// The names of commands, parted by a text.
[[nodiscard]] inline std::string names_of(std::span<const command* const> commands, std::string_view between = ", ") {
    std::string out;
    for (const command* c : commands)
        if (!c->name.empty()) out.append(out.empty() ? "" : between).append(c->name);
    return out;
}

/// The options that a command has behind its words.
[[nodiscard]] inline std::span<const option_row> options_of(const command& c, std::span<const std::string_view> args) {
    const bool word = !args.empty() && !args.front().starts_with('-');
    return word && c.options_of != nullptr ? c.options_of(args.front()) : c.options;
}

/// Whether an option of some name is among these.
[[nodiscard]] inline bool has_option(std::span<const option_row> rows, std::string_view name) {
    return std::any_of(rows.begin(), rows.end(), [&](const option_row& o) { return arguments::is_name(name, o.name); });
}

/// `; --device is an option of llmcost op, latency, serve` of the first argument that only other commands know, else
/// nothing.
[[nodiscard]] inline std::string command_of_option(std::span<const command* const> commands, const command& asked,
                                                   std::span<const std::string_view> args) {
    for (const std::string_view arg : args) {
        const std::string_view name = arg.substr(0, arg.find('='));
        if (!arg.starts_with("--") || has_option(options_of(asked, args), name)) continue;
        std::string named, alone;
        for (const command* c : commands) {
            if (!has_option(c->options, name)) continue;
            if (c->name.empty())
                alone = "llmcost alone";
            else
                named.append(named.empty() ? "llmcost " : ", ").append(c->name);
        }
        const std::string all = named + (named.empty() || alone.empty() ? "" : " and of ") + alone;
        return all.empty() ? all : "; " + printable(name) + " is an option of " + all;
    }
    return {};
}

/// `; nearest command: serve` where a word that means nothing else is nearly one, else nothing.
[[nodiscard]] inline std::string nearest_command(std::span<const command* const> commands, std::string_view word) {
    if (word.empty() || word.starts_with('-') || find_metric(word) != nullptr || role_from(word) != role::none) return {};
    const nearest_names near(word);
    std::string out;
    for (const command* c : commands) {
        const int distance = near.distance(c->name);
        if (distance <= 2 && distance < static_cast<int>(c->name.size()))
            out.append(out.empty() ? "; nearest command: " : ", ").append(c->name);
    }
    return out;
}

}  // namespace llmcost::cli
