// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <llmcost/bundled/all.hpp>
#include <llmcost/cli/commands.hpp>
#include <llmcost/cli/help.hpp>

// The man page and the completions of shells, made from the same tables as the help.
namespace llmcost::cli {

namespace detail {

/// The words that may stand where an option's value does; empty where anything may.
inline std::string value_words(const option_row& row) {
    std::string out;
    const auto add = [&](std::string_view word) { out.append(out.empty() ? "" : " ").append(word); };
    if (row.kind == value_kind::choice) each_choice(row.value, add);
    if (row.kind == value_kind::dtype)
        for (const dtype_row& type : dtype_table) add(type.name);
    if (row.kind == value_kind::model)
        for (const bundled_config& b : bundled_configs) add(b.name);
    return out;
}
inline bool takes_files(const option_row& row) { return row.kind == value_kind::file || row.kind == value_kind::model; }
inline std::string query_words() {
    std::string out = words_of_metrics(" ") + ' ' + words_of_roles(" ");
    for (const command_row& command : commands()) out += ' ' + std::string(command.name);
    return out;
}
/// The words that may stand where the value of a command's option does.
inline std::string value_words(const named_option& row) {
    std::string out;
    if (row.value.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos)
        each_choice(row.value, [&](std::string_view word) { out += (out.empty() ? "" : " ") + std::string(word); });
    return out;
}
inline bool takes_files(const named_option& row) {
    return row.value.find("FILE") != std::string::npos || row.value == "DIR";
}

/// A text with a backslash in front of some characters.
inline std::string escaped(std::string_view text, std::string_view which) {
    std::string out;
    for (const char c : text) {
        if (which.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

/// A text inside of single quotes, as zsh and fish read it.
inline std::string inside_quotes(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out;
}

/// A text of a man page: dashes that can be searched for, no line that is a command.
inline std::string roff(std::string_view text) {
    std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
    for (const char c : text) {
        if (c == '-' || c == '\\') out += '\\';
        out += c == '\\' ? 'e' : c;
    }
    return out;
}

}  // namespace detail

/// Completions for bash.
[[nodiscard]] inline std::string bash_completion() {
    std::string out =
        "# bash completion for llmcost\n"
        "_llmcost() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    COMPREPLY=()\n"
        "    case ${COMP_WORDS[1]} in\n";
    for (const command_row& command : commands()) {
        std::string options;
        for (const named_option& row : command.options) options += (options.empty() ? "" : " ") + row.name;
        out += "        " + std::string(command.name) + ") [[ $cur == -* ]] && COMPREPLY=( $(compgen -W '" + options +
               "' -- \"$cur\") ) && return ;;\n";
    }
    out += "    esac\n    case $prev in\n";
    std::string options;
    for (const option_row& row : option_table) {
        options += (options.empty() ? "" : " ") + std::string(row.name);
        if (row.kind == value_kind::none) continue;
        out += "        " + std::string(row.name) + ") COMPREPLY=( $(compgen " + (detail::takes_files(row) ? "-f " : "") +
               "-W '" + detail::value_words(row) + "' -- \"$cur\") ); return ;;\n";
    }
    return out +
           "    esac\n"
           "    if [[ $cur == -* ]]; then\n"
           "        COMPREPLY=( $(compgen -W '" +
           options +
           "' -- \"$cur\") )\n"
           "    else\n"
           "        COMPREPLY=( $(compgen -W '" +
           detail::query_words() +
           "' -- \"$cur\") )\n"
           "    fi\n"
           "}\n"
           "complete -F _llmcost llmcost\n";
}

/// Completions for zsh.
[[nodiscard]] inline std::string zsh_completion() {
    std::string out = "#compdef llmcost\ncase $words[2] in\n";
    for (const command_row& command : commands()) {
        out += std::string(command.name) + ")\n    _arguments ";
        for (const named_option& row : command.options) {
            const std::string words = detail::value_words(row);
            out += "\\\n    '" + row.name + '[' + detail::inside_quotes(detail::escaped(row.help, "[]:\\")) + ']';
            if (!row.value.empty())
                out += ':' + detail::escaped(row.value.substr(0, row.value.find('|')), ":") + ':' +
                       (detail::takes_files(row) ? "_files"
                        : words.empty()          ? " "
                                                 : '(' + words + ')');
            out += '\'';
        }
        out += " \\\n    '*: :()'\n    return ;;\n";
    }
    out += "esac\n_arguments \\\n";
    for (const option_row& row : option_table) {
        const char* const again = row.id == option::set ? "'*" : "'";
        out += "    " + std::string(again) + std::string(row.name) + '[' + detail::escaped(row.help, "[]:\\") + ']';
        if (row.kind != value_kind::none) {
            const std::string words = detail::value_words(row);
            const std::string value = detail::escaped(row.value.substr(0, row.value.find('|')), ":");
            out += ':' + value + ':';
            if (row.kind == value_kind::model)
                out += "{_files; compadd -- " + words + '}';
            else
                out += detail::takes_files(row) ? "_files" : words.empty() ? " " : '(' + words + ')';
        }
        out += "' \\\n";
    }
    return out + "    '*:metric or scope:(" + detail::query_words() + ")'\n";
}

/// Completions for fish.
[[nodiscard]] inline std::string fish_completion() {
    std::string out = "complete -c llmcost -f -a '" + detail::query_words() + "'\n";
    for (const command_row& command : commands())
        for (const named_option& row : command.options) {
            out += "complete -c llmcost -n '__fish_seen_subcommand_from " + std::string(command.name) + "' -l " +
                   row.name.substr(2) + " -d '" + detail::inside_quotes(row.help) + '\'';
            if (!row.value.empty()) out += detail::takes_files(row) ? " -r -F" : " -x";
            if (const std::string words = detail::value_words(row); !words.empty()) out += " -a '" + words + '\'';
            out += '\n';
        }
    for (const option_row& row : option_table) {
        out += "complete -c llmcost -l " + std::string(row.name.substr(2)) + " -d '" + std::string(row.help) + '\'';
        if (row.kind != value_kind::none) out += detail::takes_files(row) ? " -r -F" : " -x";
        if (const std::string words = detail::value_words(row); !words.empty()) out += " -a '" + words + '\'';
        out += '\n';
    }
    return out;
}

/// The man page, in the roff of man(7).
[[nodiscard]] inline std::string man_page() {
    const auto bold = [](std::string_view text) { return "\\fB" + detail::roff(text) + "\\fR"; };
    std::string out = ".TH LLMCOST 1 \"\" \"llmcost " + std::string(version) + "\"\n";
    out += ".SH NAME\nllmcost \\- what a transformer costs, exactly, from its config.json\n";
    out +=
        ".SH SYNOPSIS\n.B llmcost\n(\\fB\\-\\-model\\fR \\fINAME\\fR | \\fB\\-\\-config\\fR \\fIFILE\\fR) "
        "[\\fIoption\\fR]... "
        "[\\fImetric\\fR]... [\\fIscope\\fR]\n";
    for (const command_row& command : commands())
        out += ".br\n.B llmcost " + std::string(command.name) + (command.name == "op" ? "\n\\fIfamily\\fR " : "\n") +
               "[\\fIoption\\fR]...\n";
    out +=
        ".SH DESCRIPTION\nReads the configuration of a model and tells what a forward pass of its reference implementation "
        "executes: additions, multiplications and every other primitive, parameters, cache, activations, FLOPs; exact "
        "integers. "
        "No weights, no Python, no accelerator.\n.PP\nWithout metric and scope it prints the front page. With them it "
        "prints the "
        "figures that were asked for. A scope is a role, a class, a module path, a parameter name or a pattern, in which * "
        "stands "
        "for anything within one part of a path; a class or pattern sums its outermost modules.\n";
    out += ".SH OPTIONS\n";
    for (const option_row& row : option_table) {
        out += ".TP\n" + bold(row.name);
        if (!row.value.empty()) out += " \\fI" + detail::roff(row.value) + "\\fR";
        out += '\n' + detail::roff(row.help) + '\n';
    }
    out += ".SH COMMANDS\n";
    for (const command_row& command : commands()) {
        out += ".SS " + std::string(command.name) + '\n' + detail::roff(command.meaning) + '\n';
        for (const named_option& row : command.options) {
            out += ".TP\n" + bold(row.name);
            if (!row.value.empty()) out += " \\fI" + detail::roff(row.value) + "\\fR";
            out += '\n' + (row.help.empty() ? "\\&" : detail::roff(row.help)) + '\n';
        }
    }
    out += ".SH METRICS\n";
    for (const metric& m : metrics) out += ".TP\n" + bold(m.name) + '\n' + detail::roff(m.meaning) + '\n';
    out += ".SH SCOPES\nRoles: " + detail::words_of_roles(", ") + ".\n";
    out += ".SH EXAMPLES\n";
    for (const detail::example_row& row : detail::example_rows)
        out += ".TP\n" + bold(row.command) + '\n' + detail::roff(row.meaning) + '\n';
    out += ".SH EXIT STATUS\n";
    for (const detail::exit_row& row : detail::exit_rows)
        out += ".TP\n" + bold(row.code) + '\n' + detail::roff(row.meaning) + '\n';
    out += ".SH ENVIRONMENT\n.TP\n" + bold("HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE") +
           "\nas the tools of Hugging Face understand them\n.TP\n" + bold("NO_COLOR, FORCE_COLOR, TERM") +
           "\nno colour, colour, and no colour where it is dumb\n";
    return out;
}

}  // namespace llmcost::cli
