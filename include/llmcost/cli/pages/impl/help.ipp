// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/help.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/version.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

/// `--model NAME`.
LLMCOST_INLINE std::string option_with_value(const option_spec& row) {
    return std::string(row.name) + (row.value.empty() ? "" : " " + std::string(row.value));
}

/// `-s, --sequence, --seq-len N|LIST` and `; alias --seqlen`: the aliases that fit into the column of names, then those
/// that are appended to the help text.
LLMCOST_INLINE std::pair<std::string, std::string> option_names(const option_spec& row) {
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

/// A text in lines of up to `columns` columns; lines after the first begin with `indent` blanks.
LLMCOST_INLINE std::string wrapped_help(std::string_view text, std::size_t indent, std::size_t columns) {
    std::string out;
    std::size_t column = indent;
    while (!text.empty()) {
        // "(default 1)" remains on one line
        const std::size_t close = text.starts_with("(default") ? text.find(')') : std::string_view::npos;
        const std::size_t end = std::min(text.find(' ', close == std::string_view::npos ? 0 : close), text.size());
        const std::string_view word = text.substr(0, end);
        if (column > indent && column + 1 + width_of(word) > columns) {
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
LLMCOST_INLINE std::string options_help(std::span<const option_spec> rows, std::size_t columns) {
    const std::size_t column = option_column_width + 4;
    std::string out;
    for (const option_spec& row : rows) {
        if (!row.section.empty()) out.append("\n").append(row.section).append(":\n");
        const auto [names, aliases] = option_names(row);
        out.append("  ").append(left(names, option_column_width + 2));
        if (names.size() > option_column_width) out.append("\n").append(column, ' ');
        out.append(wrapped_help(std::string(row.help) + aliases, column, columns)).append("\n");
    }
    return out;
}

LLMCOST_INLINE std::string role_list(std::string_view separator) {
    std::string out;
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) out += (out.empty() ? "" : std::string(separator)) + std::string(name);
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

/// The usage lines of a command, one for each form.
[[nodiscard]] LLMCOST_INLINE std::string usage_text(const command& c) {
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

LLMCOST_INLINE std::size_t help_columns(const streams& io) {
    constexpr std::size_t minimum = 80, maximum = 160;
    return io.columns == 0 ? detail::help_line_width : std::clamp(io.columns, minimum, maximum);
}

LLMCOST_INLINE std::string help_text(const command& c, std::size_t columns) {
    std::string out = usage_text(c) + '\n';
    out.append(c.description)
        .append(c.options.front().section.empty() ? "\n" : "")
        .append(detail::options_help(c.options, columns));
    return c.extra_help == nullptr ? out : out + c.extra_help();
}

LLMCOST_INLINE std::string help_text(const program& program) {
    const command& page = *program.commands.front();
    std::string out = usage_text(page) + "       llmcost COMMAND [options]\n\n";
    out.append(page.description).append("\nCommands:\n");
    for (const command* c : program.commands.subspan(1))
        out.append("  ").append(left(c->name, 10)).append(c->summary).append("\n");
    out.append(detail::options_help(page.options, help_columns(program)));
    return out + "\nHelp of a command: llmcost COMMAND --help. Exit codes: llmcost --man\n";
}

}  // namespace llmcost::cli
