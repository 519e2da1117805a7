// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/version.hpp>
#include <llmcost/cli/command.hpp>
#include <llmcost/cli/help.hpp>

// The man page and the completions of shells, made from the same commands as the help.
namespace llmcost::cli {

/// In the order of `--completion`.
enum class shell { bash, zsh, fish };

/// What the front page takes besides options: metrics and scopes, or else a command.
[[nodiscard]] inline std::vector<std::string_view> query_words(const program& io) {
    std::vector<std::string_view> words;
    for (const metric& m : metrics) words.push_back(m.name);
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) words.push_back(name);
    for (const command* c : io.commands.subspan(1)) words.push_back(c->name);
    return words;
}

namespace detail {

inline std::string together(std::initializer_list<std::string_view> parts) {
    std::string out;
    for (const std::string_view part : parts) out += part;
    return out;
}
inline std::string with_blanks(const std::vector<std::string_view>& words) {
    std::string out;
    for (const std::string_view word : words) out.append(out.empty() ? "" : " ").append(word);
    return out;
}

/// The words that may stand where an option's value does; empty where anything may.
inline std::string value_words(const option_row& row, const program& io) {
    std::vector<std::string_view> words;
    if (row.words != nullptr) words = row.words(io);
    if (row.kind == value_kind::choice) each_choice(row.value, [&](std::string_view word) { words.push_back(word); });
    if (row.kind == value_kind::dtype)
        for (const dtype_row& type : dtype_table) words.push_back(type.name);
    return with_blanks(words);
}
/// The words that a command takes besides options.
inline std::string words_of(const command& c, const program& io) {
    return c.words == nullptr ? std::string{} : with_blanks(c.words(io));
}
inline bool takes_files(const option_row& row) { return row.kind == value_kind::file || row.kind == value_kind::picture; }
inline bool takes_paths(const option_row& row) { return takes_files(row) || row.kind == value_kind::folder; }

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

namespace detail {

/// Completes the values of a command's options, then its options and words.
inline std::string bash_case(const command& c, const program& io) {
    std::string out = together({"    ", c.name.empty() ? "*" : c.name, ")\n        case $prev in\n"}), options;
    for (const option_row& row : c.options) {
        options.append(options.empty() ? "" : " ").append(row.name);
        if (row.kind == value_kind::none) continue;
        const std::string_view paths = takes_files(row) ? "-f " : row.kind == value_kind::folder ? "-d " : "";
        out += together({"        ", row.name, ") COMPREPLY=( $(compgen ", paths, "-W '", value_words(row, io),
                         "' -- \"$cur\") ); return ;;\n"});
    }
    return out + together({"        esac\n        options='", options, "' words='", words_of(c, io), "' ;;\n"});
}

/// What zsh does for a value: files, words, both, or nothing.
inline std::string zsh_action(const option_row& row, const program& io) {
    const std::string words = value_words(row, io);
    const std::string_view paths = row.kind == value_kind::folder ? "_files -/" : "_files";
    if (takes_paths(row)) return words.empty() ? std::string(paths) : together({"{", paths, "; compadd -- ", words, "}"});
    return words.empty() ? " " : '(' + words + ')';
}
inline std::string zsh_arguments(const command& c, const program& io) {
    std::string out = "    _arguments";
    for (const option_row& row : c.options) {
        out +=
            together({" \\\n    '", row.repeats ? "*" : "", row.name, "[", inside_quotes(escaped(row.help, "[]:\\")), "]"});
        if (row.kind != value_kind::none)
            out += together({":", escaped(row.value.substr(0, row.value.find('|')), ":"), ":", zsh_action(row, io)});
        out += '\'';
    }
    return out + together({" \\\n    '*:", c.words == nullptr ? " " : "word", ":(", words_of(c, io), ")'\n"});
}

inline std::string fish_lines(const command& c, const program& io) {
    const std::string when = c.name.empty()
                                 ? together({"'not __fish_seen_subcommand_from ", names_of(io.commands, " "), "'"})
                                 : together({"'__fish_seen_subcommand_from ", c.name, "'"});
    std::string out;
    if (c.words != nullptr) out = together({"complete -c llmcost -n ", when, " -f -a '", words_of(c, io), "'\n"});
    for (const option_row& row : c.options) {
        out +=
            together({"complete -c llmcost -n ", when, " -l ", row.name.substr(2), " -d '", inside_quotes(row.help), "'"});
        if (row.kind != value_kind::none) out += takes_paths(row) ? " -r -F" : " -x";
        if (const std::string words = value_words(row, io); !words.empty()) out += together({" -a '", words, "'"});
        out += '\n';
    }
    return out;
}

}  // namespace detail

/// What a shell reads to complete command lines of the program.
[[nodiscard]] inline std::string completion(shell of, const program& io) {
    const command& page = *io.commands.front();
    std::string out;
    if (of == shell::fish) {
        out = "complete -c llmcost -f\n";
        for (const command* c : io.commands) out += detail::fish_lines(*c, io);
        return out;
    }
    if (of == shell::zsh) {
        out = "#compdef llmcost\ncase $words[2] in\n";
        for (const command* c : io.commands.subspan(1))
            out += detail::together({c->name, ")\n", detail::zsh_arguments(*c, io), "    ;;\n"});
        return out + detail::together({"*)\n", detail::zsh_arguments(page, io), "    ;;\nesac\n"});
    }
    out =
        "# bash completion for llmcost\n"
        "_llmcost() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= options words\n"
        "    COMPREPLY=()\n"
        "    (( COMP_CWORD > 1 )) && command=${COMP_WORDS[1]}\n"
        "    case $command in\n";
    for (const command* c : io.commands.subspan(1)) out += detail::bash_case(*c, io);
    return out + detail::bash_case(page, io) +
           "    esac\n"
           "    [[ $cur == -* ]] && words=$options\n"
           "    COMPREPLY=( $(compgen -W \"$words\" -- \"$cur\") )\n"
           "}\n"
           "complete -F _llmcost llmcost\n";
}

namespace detail {

inline std::string bold(std::string_view text) { return together({"\\fB", roff(text), "\\fR"}); }

/// A paragraph of the man page, below what it is about.
inline std::string paragraph(std::string_view about, std::string_view text) {
    return together({".TP\n", about, "\n", text.empty() ? "\\&" : roff(text), "\n"});
}
inline std::string paragraphs(std::span<const option_row> rows) {
    std::string out;
    for (const option_row& row : rows)
        out += paragraph(bold(row.name) + (row.value.empty() ? "" : together({" \\fI", roff(row.value), "\\fR"})), row.help);
    return out;
}

}  // namespace detail

/// The man page, in the roff of man(7).
[[nodiscard]] inline std::string man_page(const program& io) {
    const command& page = *io.commands.front();
    std::string out = detail::together(
        {".TH LLMCOST 1 \"\" \"llmcost ", version, "\"\n.SH NAME\nllmcost \\- ", page.meaning, "\n.SH SYNOPSIS\n.nf\n"});
    for (const command* c : io.commands) {
        std::string_view usage = c->usage;
        while (!usage.empty()) {
            const std::size_t end = std::min(usage.find('\n'), usage.size());
            out += detail::together(
                {"\\fBllmcost", c->name.empty() ? "" : " ", c->name, "\\fR ", detail::roff(usage.substr(0, end)), "\n"});
            usage.remove_prefix(std::min(end + 1, usage.size()));
        }
    }
    out +=
        ".fi\n.SH DESCRIPTION\nReads the configuration of a model and tells what a forward pass of its reference "
        "implementation executes: additions, multiplications and every other primitive, parameters, cache, activations, "
        "FLOPs; "
        "exact integers. No weights, no Python, no accelerator.\n.PP\nWithout metric and scope it prints the front page. "
        "With "
        "them it prints the figures that were asked for. A scope is a role, a class, a module path, a parameter name or a "
        "pattern, in which * stands for anything within one part of a path; a class or pattern sums its outermost modules.\n"
        ".SH OPTIONS\n" +
        detail::paragraphs(page.options) + ".SH COMMANDS\n";
    for (const command* c : io.commands.subspan(1))
        out += detail::together({".SS ", c->name, "\n", detail::roff(c->meaning), "\n", detail::paragraphs(c->options)});
    out += ".SH METRICS\n";
    for (const metric& m : metrics) out += detail::paragraph(detail::bold(m.name), m.meaning);
    out += ".SH SCOPES\nRoles: " + detail::words_of_roles(", ") + ".\n.SH EXAMPLES\n";
    for (const command* c : io.commands)
        for (const example_row& row : c->examples) out += detail::paragraph(detail::bold(row.line), row.meaning);
    out += ".SH EXIT STATUS\n";
    for (const detail::exit_row& row : detail::exit_rows) out += detail::paragraph(detail::bold(row.code), row.meaning);
    return out + ".SH ENVIRONMENT\n" +
           detail::paragraph(detail::bold("HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE"),
                             "as the tools of Hugging Face understand them") +
           detail::paragraph(detail::bold("NO_COLOR, FORCE_COLOR, TERM"),
                             "no colour, colour, and no colour where it is dumb");
}

}  // namespace llmcost::cli
