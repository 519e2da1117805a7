// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/version.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/trace/scope.hpp>

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

/// `--model NAME`.
inline std::string option_with_value(const option_spec& row) {
    return std::string(row.name) + (row.value.empty() ? "" : " " + std::string(row.value));
}

/// `-s, --sequence, --seq-len N|LIST` and `; alias --seqlen`: the aliases that fit into the column of names, then those
/// that are appended to the help text.
inline std::pair<std::string, std::string> option_names(const option_spec& row) {
    std::string short_names, names, others;
    int num_others = 0;
    row.for_each_alias([&](std::string_view alias) {
        if (!alias.starts_with("--")) short_names.append(alias).append(", ");
    });
    names = short_names + option_with_value(row);
    std::string long_names(row.name);
    row.for_each_alias([&](std::string_view alias) {
        if (!alias.starts_with("--")) return;
        if (names.size() + 2 + alias.size() <= option_column_width) {
            long_names.append(", ").append(alias);
            names = short_names + long_names + (row.value.empty() ? "" : " " + std::string(row.value));
        } else {
            others.append(others.empty() ? "" : ", ").append(alias);
            ++num_others;
        }
    });
    if (num_others > 0) others = (num_others > 1 ? "; aliases " : "; alias ") + others;
    return {names, others};
}

/// A text in lines of up to `help_line_width` columns; lines after the first begin with `indent` blanks.
inline std::string wrapped_help(std::string_view text, std::size_t indent) {
    std::string out;
    std::size_t column = indent;
    while (!text.empty()) {
        // "(default 1)" remains on one line
        const std::size_t close = text.starts_with("(default") ? text.find(')') : std::string_view::npos;
        const std::size_t end = std::min(text.find(' ', close == std::string_view::npos ? 0 : close), text.size());
        const std::string_view word = text.substr(0, end);
        if (column > indent && column + 1 + width_of(word) > help_line_width) {
            out.append("\n").append(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
            ++column;
        }
        out += word;
        column += width_of(word);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

/// The lines of options, with a title above each section.
inline std::string options_help(std::span<const option_spec> rows) {
    const std::size_t column = option_column_width + 4;
    std::string out;
    for (const option_spec& row : rows) {
        if (!row.section.empty()) out.append("\n").append(row.section).append(":\n");
        const auto [names, aliases] = option_names(row);
        out.append("  ").append(left(names, option_column_width + 2));
        if (names.size() > option_column_width) out.append("\n").append(column, ' ');
        out.append(wrapped_help(std::string(row.help) + aliases, column)).append("\n");
    }
    return out;
}

inline std::string role_list(std::string_view separator) {
    std::string out;
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) out += (out.empty() ? "" : std::string(separator)) + std::string(name);
    return out;
}

}  // namespace detail

/// The usage lines of a command, one for each form.
[[nodiscard]] inline std::string usage_text(const command& c) {
    std::string out;
    for (std::string_view rest = c.usage; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        out.append(out.empty() ? "Usage: llmcost " : "       llmcost ")
            .append(c.name)
            .append(c.name.empty() ? "" : " ");
        out.append(rest.substr(0, end)).append("\n");
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
}

/// The help of a command: usage, description, options by section, then what `extra_help` returns.
[[nodiscard]] inline std::string help_text(const command& c) {
    std::string out = usage_text(c) + '\n';
    out.append(c.description)
        .append(c.options.front().section.empty() ? "\n" : "")
        .append(detail::options_help(c.options));
    return c.extra_help == nullptr ? out : out + c.extra_help();
}

/// The help of the program: usage, commands with their summaries, and the options of the default command.
[[nodiscard]] inline std::string help_text(const program& program) {
    const command& page = *program.commands.front();
    std::string out = usage_text(page) + "       llmcost COMMAND [options]\n\n";
    out.append(page.description).append("\nCommands:\n");
    for (const command* c : program.commands.subspan(1))
        out.append("  ").append(left(c->name, 10)).append(c->summary).append("\n");
    out.append(detail::options_help(page.options));
    return out + "\nHelp of a command: llmcost COMMAND --help. Exit codes: llmcost --man\n";
}

}  // namespace llmcost::cli
