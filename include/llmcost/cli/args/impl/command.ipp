// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/command.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/synonyms.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli {

LLMCOST_INLINE const command* find_command(std::span<const command* const> commands, std::string_view name) {
    for (const command* c : commands)
        if (!name.empty() && c->name == name) return c;
    return nullptr;
}

LLMCOST_INLINE void reject_misplaced_command(std::span<const command* const> commands, std::string_view name) {
    if (find_command(commands, name) != nullptr)
        throw_usage({}, quote(name) + " is a command and must come first: llmcost " + std::string(name));
}

LLMCOST_INLINE std::string names_of(std::span<const command* const> commands, std::string_view separator) {
    std::string out;
    for (const command* c : commands)
        if (!c->name.empty()) out.append(out.empty() ? "" : separator).append(c->name);
    return out;
}

LLMCOST_INLINE std::span<const option_spec> options_of(const command& c, std::span<const std::string_view> args) {
    const bool has_positional = !args.empty() && !args.front().starts_with('-');
    return has_positional && c.options_of != nullptr ? c.options_of(args.front()) : c.options;
}

namespace detail {

/// `llmcost op, serve and llmcost without a command`: the commands with an option; empty if there is none.
LLMCOST_INLINE std::string commands_with_option(std::span<const command* const> commands, std::string_view name) {
    std::string named, default_command;
    for (const command* c : commands) {
        if (!has_option(c->options, name)) continue;
        if (c->name.empty())
            default_command = "llmcost without a command";
        else
            named.append(named.empty() ? "llmcost " : ", ").append(c->name);
    }
    return named + (named.empty() || default_command.empty() ? "" : " and ") + default_command;
}

}  // namespace detail

LLMCOST_INLINE std::string suggest_command_for_option(std::span<const command* const> commands,
                                                      const command& selected_command,
                                                      std::span<const std::string_view> args) {
    std::span<const option_spec> known_options;
    try {
        known_options = options_of(selected_command, args);
    } catch (const error&) {
        return {};  // an unknown operator type has no options
    }
    for (const std::string_view arg : args) {
        const std::string_view name = arg.substr(0, arg.find('='));
        if (!arg.starts_with('-') || has_option(known_options, name)) continue;
        if (const std::string all = detail::commands_with_option(commands, name); !all.empty())
            return "; " + printable(name) + " is an option of " + all;
        const option_synonym* const synonym = find_option_synonym(name);
        if (synonym == nullptr || !replacement_of(*synonym, known_options, {}).empty()) return {};
        std::string out;
        for_each_choice(synonym->replacements, [&](std::string_view replacement) {
            const std::string all =
                detail::commands_with_option(commands, replacement.substr(0, replacement.find(' ')));
            std::string text(replacement);
            if (const std::size_t place = text.find("{}"); place != std::string::npos) text.replace(place, 2, "VALUE");
            if (!all.empty()) out += "; " + text + " is an option of " + all;
        });
        return out;
    }
    return {};
}

LLMCOST_INLINE std::string suggest_command(std::span<const command* const> commands, std::string_view name) {
    if (name.empty() || name.starts_with('-') || find_metric(name) != nullptr || role_from(name) != role::none)
        return {};
    if (const std::string_view advice = command_advice(name); !advice.empty()) return "; use " + std::string(advice);
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
