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
#include <llmcost/report/json_writer.hpp>
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

namespace llmcost::cli::detail {

/// The name of a kind of value in JSON.
LLMCOST_INLINE std::string_view value_type_name(value_type type) {
    switch (type) {
        case value_type::none: return "none";
        case value_type::text: return "text";
        case value_type::file: return "file";
        case value_type::directory: return "directory";
        case value_type::number: return "number";
        case value_type::choice: return "choice";
        case value_type::dtype: return "dtype";
        case value_type::image: return "image";
    }
    return "none";
}

LLMCOST_INLINE void write_option(json_writer& json, const option_spec& row, std::string_view section) {
    json.object().member("name", row.name).key("aliases").array(true);
    row.for_each_alias([&](std::string_view alias) { json.value(alias); });
    json.end_array().member("section", section).member("value", row.value);
    json.member("type", value_type_name(row.type)).key("choices").array(true);
    for_each_choice(row.choices, [&](std::string_view choice) { json.value(choice); });
    json.end_array().member("repeatable", row.is_repeatable).member("help", row.help).end_object();
}

LLMCOST_INLINE void write_command(json_writer& json, const command& c) {
    json.object().member("name", c.name).member("summary", c.summary).member("usage", c.usage);
    json.member("description", c.description).key("options").array();
    std::string_view section;
    for (const option_spec& row : c.options) {
        if (!row.section.empty()) section = row.section;
        write_option(json, row, section);
    }
    json.end_array().key("examples").array();
    for (const command_example& e : c.examples)
        json.object().member("command_line", e.command_line).member("description", e.description).end_object();
    json.end_array().end_object();
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string help_json(const command& c) {
    json_writer json;
    detail::write_command(json, c);
    return json.text() + '\n';
}

LLMCOST_INLINE std::string help_json(const program& program) {
    json_writer json;
    json.object().member("version", std::string_view(version)).key("commands").array();
    for (const command* c : program.commands) detail::write_command(json, *c);
    json.end_array().key("metrics").array();
    for (const metric& m : metrics) json.object().member("name", m.name).member("meaning", m.meaning).end_object();
    json.end_array().key("scopes").array(true);
    for (std::size_t i = 1; i < std::size(role_names); ++i) json.value(std::string_view(role_names[i]));
    json.end_array().key("exit_codes").array();
    for (const detail::exit_code_description& row : detail::exit_rows)
        json.object().member("code", row.code).member("meaning", row.meaning).end_object();
    json.end_array().end_object();
    return json.text() + '\n';
}

}  // namespace llmcost::cli
