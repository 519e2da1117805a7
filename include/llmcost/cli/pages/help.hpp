// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/version.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/trace/scope.hpp>

// What the program says of itself; all of it is made from the tables of commands, metrics and roles.
namespace llmcost::cli {

namespace detail {

struct exit_code_description {
    std::string_view code;
    std::string_view meaning;
};
inline constexpr std::array<exit_code_description, 11> exit_rows{{
    {"0", "the answer was written"},
    {"1", "the answer could not be written"},
    {"2", "usage: an option, metric or scope that does not exist"},
    {"3", "configuration: missing, unreadable, wrong, or of a model that llmcost does not know"},
    {"4", "network: the hub could not be asked, or did not answer as agreed"},
    {"5", "overflow: a figure beyond 128 bits, more layers than a list holds, or no memory"},
    {"6", "input: rows on the standard input end with an error of reading"},
    {"7", "row: some rows of a table have no answer, and their column error says why; all others have one"},
    {"8", "does not fit: the memory that was asked about is too small; the answer was written"},
    {"9", "differs: the tensors of a file are not those of its configuration; the answer was written"},
    {"70", "a bug in llmcost"},
}};

/// An option with its value, as the help writes it.
inline std::string option_with_value(const option_spec& row) {
    return std::string(row.name) + (row.value.empty() ? "" : " " + std::string(row.value));
}

inline std::string role_list(std::string_view separator) {
    std::string out;
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) out += (out.empty() ? "" : std::string(separator)) + std::string(name);
    return out;
}

}  // namespace detail

/// How a command is called, a line for each way.
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

/// The help of a command.
[[nodiscard]] inline std::string help_text(const command& c) {
    std::string out = usage_text(c);
    out.append(c.description).append(c.options.front().section.empty() ? "\n" : "");
    std::size_t widest = 0;
    for (const option_spec& row : c.options) widest = std::max(widest, detail::option_with_value(row).size());
    for (const option_spec& row : c.options) {
        if (!row.section.empty()) out.append("\n").append(row.section).append(":\n");
        out.append("  ").append(left(detail::option_with_value(row), widest + 1)).append(row.help).append("\n");
    }
    return c.extra_help == nullptr ? out : out + c.extra_help();
}

/// The help of the program: 80 columns, 40 lines.
[[nodiscard]] inline std::string help_text(const program& io) {
    const command& page = *io.commands.front();
    std::string out = usage_text(page);
    std::string line = "       commands:";
    for (const command* c : io.commands.subspan(1)) {
        if (line.size() + 1 + c->name.size() > 80) out += std::exchange(line, std::string(14, ' ')) + '\n';
        line.append(" ").append(c->name);
    }
    out.append(line).append("\n").append(page.description).append("\n");
    for (std::size_t i = 0; i < page.options.size();) {
        const std::string_view section = page.options[i].section;
        std::string names = detail::option_with_value(page.options[i]), meaning(page.options[i].help);
        // options share a line where they fit
        for (; ++i < page.options.size();) {
            const option_spec& row = page.options[i];
            const std::string next = detail::option_with_value(row);
            const bool fits = row.section.empty() && names.size() + 1 + next.size() <= 27 &&
                              width_of(meaning) + 2 + width_of(row.help) <= 43;
            if (!fits) break;
            names.append(" ").append(next);
            meaning.append("; ").append(row.help);
        }
        out.append(left(section, 9)).append(left(names + "  ", 28)).append(meaning).append("\n");
    }
    return out + "help of a command: llmcost COMMAND --help; exit codes: llmcost --man\n";
}

}  // namespace llmcost::cli
