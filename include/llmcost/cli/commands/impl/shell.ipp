// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/shell.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/version.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/pages/help.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::vector<std::string_view> query_completions(const program& io) {
    std::vector<std::string_view> completions;
    for (const command* c : io.commands.subspan(1)) completions.push_back(c->name);
    for (const metric& m : metrics) completions.push_back(m.name);
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) completions.push_back(name);
    return completions;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string concatenate_text(std::initializer_list<std::string_view> parts) {
    std::string out;
    for (const std::string_view part : parts) out += part;
    return out;
}

LLMCOST_INLINE std::string with_blanks(const std::vector<std::string_view>& completions) {
    std::string out;
    for (const std::string_view name : completions) out.append(out.empty() ? "" : " ").append(name);
    return out;
}

/// The completions of an option value, separated by blanks; empty: any value.
LLMCOST_INLINE std::string value_completions(const option_spec& row, const program& io) {
    std::vector<std::string_view> completions;
    if (row.completions != nullptr) completions = row.completions(io);
    if (row.type == value_type::choice)
        for_each_choice(row.choices, [&](std::string_view name) { completions.push_back(name); });
    if (row.type == value_type::dtype)
        for (const dtype_row& type : dtype_table) completions.push_back(type.name);
    return with_blanks(completions);
}

/// The completions of the positional arguments of a command.
LLMCOST_INLINE std::string positional_completions(const command& c, const program& io) {
    return c.completions == nullptr ? std::string{} : with_blanks(c.completions(io));
}

LLMCOST_INLINE bool accepts_files(const option_spec& row) {
    return row.type == value_type::file || row.type == value_type::image;
}

LLMCOST_INLINE bool accepts_paths(const option_spec& row) {
    return accepts_files(row) || row.type == value_type::directory;
}

/// A text with a backslash before each of some characters.
LLMCOST_INLINE std::string escaped(std::string_view text, std::string_view characters) {
    std::string out;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

/// A text escaped for single quotes in zsh and fish.
LLMCOST_INLINE std::string inside_quotes(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out;
}

/// A text escaped for roff: searchable dashes, no requests at line starts.
LLMCOST_INLINE std::string roff(std::string_view text) {
    std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
    for (const char c : text) {
        if (c == '-' || c == '\\') out += '\\';
        out += c == '\\' ? 'e' : c;
    }
    return out;
}

/// The bash completion of a command: option values, options and positional arguments.
LLMCOST_INLINE std::string bash_case(const command& c, const program& io) {
    std::string out = concatenate_text({"    ", c.name.empty() ? "*" : c.name, ")\n        case $prev in\n"}), options;
    for (const option_spec& row : c.options) {
        std::string names;
        row.for_each_alias([&](std::string_view alias) {
            options.append(options.empty() ? "" : " ").append(alias);
            names.append(alias).append("|");
        });
        options.append(options.empty() ? "" : " ").append(row.name);
        names += row.name;
        if (row.type == value_type::none) continue;
        const std::string_view paths = accepts_files(row) ? "-f " : row.type == value_type::directory ? "-d " : "";
        out += concatenate_text({"        ", names, ") COMPREPLY=( $(compgen ", paths, "-W '",
                                 value_completions(row, io), "' -- \"$cur\") ); return ;;\n"});
    }
    return out + concatenate_text({"        esac\n        options='", options, "' words='",
                                   positional_completions(c, io), "' ;;\n"});
}

/// The zsh action for an option value: files, names, both, or none.
LLMCOST_INLINE std::string zsh_action(const option_spec& row, const program& io) {
    const std::string completions = value_completions(row, io);
    const std::string_view paths = row.type == value_type::directory ? "_files -/" : "_files";
    if (accepts_paths(row))
        return completions.empty() ? std::string(paths)
                                   : concatenate_text({"{", paths, "; compadd -- ", completions, "}"});
    return completions.empty() ? " " : '(' + completions + ')';
}

LLMCOST_INLINE std::string zsh_arguments(const command& c, const program& io) {
    std::string out = "    _arguments";
    for (const option_spec& row : c.options) {
        const auto add = [&](std::string_view name) {
            out += concatenate_text({" \\\n    '", row.is_repeatable ? "*" : "", name, "[",
                                     inside_quotes(escaped(row.help, "[]:\\")), "]"});
            if (row.type != value_type::none)
                out += concatenate_text(
                    {":", escaped(row.value.substr(0, row.value.find('|')), ":"), ":", zsh_action(row, io)});
            out += '\'';
        };
        add(row.name);
        row.for_each_alias(add);
    }
    return out + concatenate_text({" \\\n    '*:", c.completions == nullptr ? " " : "word", ":(",
                                   positional_completions(c, io), ")'\n"});
}

LLMCOST_INLINE std::string fish_lines(const command& c, const program& io) {
    const std::string condition =
        c.name.empty() ? concatenate_text({"'not __fish_seen_subcommand_from ", names_of(io.commands, " "), "'"})
                       : concatenate_text({"'__fish_seen_subcommand_from ", c.name, "'"});
    std::string out;
    if (c.completions != nullptr)
        out =
            concatenate_text({"complete -c llmcost -n ", condition, " -f -a '", positional_completions(c, io), "'\n"});
    for (const option_spec& row : c.options) {
        out += concatenate_text(
            {"complete -c llmcost -n ", condition, " -l ", row.name.substr(2), " -d '", inside_quotes(row.help), "'"});
        row.for_each_alias([&](std::string_view alias) {
            const bool is_long = alias.starts_with("--");
            out += concatenate_text({is_long ? " -l " : " -s ", alias.substr(is_long ? 2 : 1)});
        });
        if (row.type != value_type::none) out += accepts_paths(row) ? " -r -F" : " -x";
        if (const std::string completions = value_completions(row, io); !completions.empty())
            out += concatenate_text({" -a '", completions, "'"});
        out += '\n';
    }
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string completion(shell target, const program& io) {
    const command& page = *io.commands.front();
    std::string out;
    if (target == shell::fish) {
        out = "complete -c llmcost -f\n";
        for (const command* c : io.commands) out += detail::fish_lines(*c, io);
        return out;
    }
    if (target == shell::zsh) {
        out = "#compdef llmcost\ncase $words[2] in\n";
        for (const command* c : io.commands.subspan(1))
            out += detail::concatenate_text({c->name, ")\n", detail::zsh_arguments(*c, io), "    ;;\n"});
        return out + detail::concatenate_text({"*)\n", detail::zsh_arguments(page, io), "    ;;\nesac\n"});
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
           "complete -o nosort -F _llmcost llmcost 2> /dev/null || complete -F _llmcost llmcost\n";
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string bold(std::string_view text) { return concatenate_text({"\\fB", roff(text), "\\fR"}); }

/// A paragraph of the man page with a tag.
LLMCOST_INLINE std::string paragraph(std::string_view about, std::string_view text) {
    return concatenate_text({".TP\n", about, "\n", text.empty() ? "\\&" : roff(text), "\n"});
}

LLMCOST_INLINE std::string paragraphs(std::span<const option_spec> rows) {
    std::string out;
    for (const option_spec& row : rows) {
        std::string names;
        row.for_each_alias([&](std::string_view alias) {
            if (!alias.starts_with("--")) names += bold(alias) + ", ";
        });
        names += bold(row.name);
        row.for_each_alias([&](std::string_view alias) {
            if (alias.starts_with("--")) names += ", " + bold(alias);
        });
        out += paragraph(names + (row.value.empty() ? "" : concatenate_text({" \\fI", roff(row.value), "\\fR"})),
                         row.help);
    }
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string man_page(const program& io) {
    const command& page = *io.commands.front();
    std::string out = detail::concatenate_text({".TH LLMCOST 1 \"\" \"llmcost ", version, "\"\n.SH NAME\nllmcost \\- ",
                                                page.summary, "\n.SH SYNOPSIS\n.nf\n"});
    for (const command* c : io.commands) {
        std::string_view usage = c->usage;
        while (!usage.empty()) {
            const std::size_t end = std::min(usage.find('\n'), usage.size());
            out += detail::concatenate_text({"\\fBllmcost", c->name.empty() ? "" : " ", c->name, "\\fR ",
                                             detail::roff(usage.substr(0, end)), "\n"});
            usage.remove_prefix(std::min(end + 1, usage.size()));
        }
    }
    out +=
        ".fi\n.SH DESCRIPTION\nComputes the exact cost of a forward pass from the configuration of a model: FLOPs, "
        "operations by type, parameters, KV cache and activations, as in the reference implementation. Weights, Python "
        "and a GPU are not required.\n.PP\nWithout METRIC and SCOPE, prints the front page of the model. With them, "
        "prints the metrics of a scope. A scope is a role, a class, a module path, a parameter name or a pattern, in "
        "which * matches anything inside one part of a path. A class or a pattern sums its outermost modules.\n"
        ".SH OPTIONS\n" +
        detail::paragraphs(page.options) + ".SH COMMANDS\n";
    for (const command* c : io.commands.subspan(1))
        out += detail::concatenate_text(
            {".SS ", c->name, "\n", detail::roff(c->summary), "\n", detail::paragraphs(c->options)});
    out += ".SH METRICS\n";
    for (const metric& m : metrics) out += detail::paragraph(detail::bold(m.name), m.meaning);
    out += ".SH SCOPES\nRoles: " + detail::role_list(", ") + ".\n.SH EXAMPLES\n";
    for (const command* c : io.commands)
        for (const command_example& row : c->examples)
            out += detail::paragraph(detail::bold(row.command_line), row.description);
    out += ".SH EXIT STATUS\n";
    for (const detail::exit_code_description& row : detail::exit_rows)
        out += detail::paragraph(detail::bold(row.code), row.meaning);
    return out + ".SH ENVIRONMENT\n" +
           detail::paragraph(detail::bold("HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE"),
                             "as in the Hugging Face tools") +
           detail::paragraph(detail::bold("NO_COLOR, FORCE_COLOR, TERM"), "no color; color; no color if it is dumb");
}

}  // namespace llmcost::cli
