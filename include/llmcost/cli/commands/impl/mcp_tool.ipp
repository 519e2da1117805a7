// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/mcp_tool.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/synonyms.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

/// The command of a tool, which must exist.
LLMCOST_INLINE const command& command_of(const program& io, std::string_view name) {
    const command* const found = name.empty() ? io.commands.front() : find_command(io.commands, name);
    if (found == nullptr) throw_usage("mcp", "the program has no command " + quote(name));
    return *found;
}

LLMCOST_INLINE const option_spec* find_option(const command& c, std::string_view name) {
    const auto found = std::find_if(c.options.begin(), c.options.end(),
                                    [&](const option_spec& row) { return row.name.substr(2) == name; });
    return found == c.options.end() ? nullptr : &*found;
}

/// `cache_dtype` for `cache-dtype`.
LLMCOST_INLINE std::string argument_name(std::string_view option_name) {
    std::string name(option_name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// The lines of a text as one line.
LLMCOST_INLINE std::string one_line(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c != '\n')
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    while (out.ends_with(' ')) out.pop_back();
    return out;
}

/// Whether an option accepts a list or a range in addition to a number: `N|LIST`, `N|LOW..HIGH`.
LLMCOST_INLINE bool accepts_list_or_range(const option_spec& row) { return row.value.starts_with("N|"); }

/// The JSON Schema type of an option's value: the members `type`, `enum` or `anyOf`, and `items`.
LLMCOST_INLINE void write_value_type(json_writer& json, const option_spec& row) {
    const std::string_view number = row.value.starts_with("N") ? "integer" : "number";
    if (row.is_repeatable) {
        json.member("type", "array").key("items").object().member("type", "string").end_object();
    } else if (row.type == value_type::none) {
        json.member("type", "boolean");
    } else if (accepts_list_or_range(row)) {
        json.key("anyOf").array();
        json.object().member("type", number).end_object().object().member("type", "string").end_object().end_array();
    } else if (row.type == value_type::number) {
        json.member("type", number);
    } else {
        json.member("type", "string");
    }
    if (row.choices.empty()) return;
    json.key("enum").array();
    for_each_choice(row.choices, [&](std::string_view choice) { json.value(choice); });
    json.end_array();
}

/// The first names that complete a value, so that a client sees how they are written.
LLMCOST_INLINE void write_examples(json_writer& json, const option_spec& row, const program& io) {
    constexpr std::size_t max_examples = 8;
    if (row.completions == nullptr) return;
    const std::vector<std::string_view> names = row.completions(io);
    json.key("examples").array();
    for (std::size_t i = 0; i < std::min(names.size(), max_examples); ++i) json.value(names[i]);
    json.end_array();
}

LLMCOST_INLINE std::string description_of(const mcp_tool& tool, const mcp_option& row) {
    const std::string with = "with " + std::string(tool.alternative) + ": ";
    if (row.option == nullptr) return with + std::string(row.alternative->help);
    std::string out(row.option->help);
    if (tool.alternative.empty()) return out;
    if (row.alternative == nullptr) return out + "; not with " + std::string(tool.alternative);
    return row.option->help == row.alternative->help ? out : out + "; " + with + std::string(row.alternative->help);
}

LLMCOST_INLINE void write_property(json_writer& json, const mcp_tool& tool, const mcp_option& row, const program& io) {
    const option_spec& typed = row.option == nullptr ? *row.alternative
                               : row.alternative != nullptr && accepts_list_or_range(*row.alternative)
                                   ? *row.alternative
                                   : *row.option;
    json.key(row.name).object();
    write_value_type(json, typed);
    json.member("description", std::string_view(description_of(tool, row)));
    write_examples(json, typed, io);
    json.end_object();
}

/// An array of names, as a property.
LLMCOST_INLINE void write_names(json_writer& json, std::string_view name, std::string_view description,
                                std::int64_t min_items) {
    json.key(name).object().member("type", "array").key("items").object().member("type", "string").end_object();
    if (min_items > 0) json.member("minItems", min_items);
    json.member("description", description).end_object();
}

LLMCOST_INLINE void write_positional(json_writer& json, const mcp_tool& tool) {
    if (tool.positional == mcp_positional::models_query) write_names(json, "models", option::model.help, 2);
    if (tool.positional == mcp_positional::name)
        json.key("name").object().member("type", "string").member("description", "part of a name").end_object();
    if (tool.positional != mcp_positional::query && tool.positional != mcp_positional::models_query) return;
    json.key("metrics").object().member("type", "array").key("items").object().member("type", "string");
    json.key("enum").array();
    for (const metric& m : metrics) json.value(m.name);
    json.end_array().end_object().member("description", "metrics of the answer (default: all)").end_object();
    json.key("scope").object().member("type", "string");
    json.member("description",
                "part of the model: a role, a class such as torch.nn.Linear, or a module path such as "
                "model.layers.*.mlp (default all)");
    json.key("examples").array();
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) json.value(name);
    json.end_array().end_object();
}

LLMCOST_INLINE void write_input_schema(json_writer& json, const mcp_tool& tool, const program& io) {
    json.object().member("type", "object").key("properties").object();
    if (tool.has_model) {
        json.key("model").object().member("type", "string").member("description", option::model.help);
        write_examples(json, option::model, io);
        json.end_object().key("config").object().member("type", "object");
        json.member("description", "content of a config.json, instead of model").end_object();
    }
    write_positional(json, tool);
    if (!tool.alternative.empty()) {
        const command& alternative = command_of(io, tool.alternative);
        json.key(tool.alternative).object().member("type", "boolean");
        json.member("description", std::string_view(one_line(alternative.summary))).end_object();
    }
    for (const mcp_option& row : options_of(tool, io)) write_property(json, tool, row, io);
    json.end_object();
    if (tool.positional == mcp_positional::models_query) json.key("required").array().value("models").end_array();
    json.member("additionalProperties", false).end_object();
}

/// The text of a scalar as the value of an option. Throws: `usage` for an object.
LLMCOST_INLINE std::string scalar_text(std::string_view name, const nlohmann::ordered_json& value) {
    constexpr double max_exact = 9007199254740992;  // 2^53: integers up to it have an exact double
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) {
        const double number = value.get<double>();
        if (std::nearbyint(number) == number && std::abs(number) <= max_exact)
            return std::to_string(static_cast<std::int64_t>(number));
    }
    if (value.is_number() || value.is_boolean()) return value.dump();
    throw_usage(name, "expected a string or a number, found " + std::string(value.is_null()    ? "null"
                                                                            : value.is_array() ? "an array"
                                                                                               : "an object"));
}

/// The elements of an array, or the value itself.
LLMCOST_INLINE std::vector<std::string> texts_of(std::string_view name, const nlohmann::ordered_json& value) {
    if (!value.is_array()) return {scalar_text(name, value)};
    std::vector<std::string> texts;
    for (const nlohmann::ordered_json& item : value) texts.push_back(scalar_text(name, item));
    return texts;
}

/// The boolean value of an argument. Throws: `usage`.
LLMCOST_INLINE bool truth_of(std::string_view name, const nlohmann::ordered_json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value == "true" || value == "false") return value == "true";
    throw_usage(name, "expected true or false, found " +
                          quote(value.is_string() ? scalar_text(name, value) : std::string(value.type_name())));
}

/// `memory: no argument 'bach'; nearest: batch`.
[[noreturn]] LLMCOST_INLINE void refuse_argument(const mcp_tool& tool, std::string_view name, const program& io) {
    std::vector<std::string> names;
    if (tool.has_model) names = {"model", "config"};
    if (tool.positional == mcp_positional::models_query) names.emplace_back("models");
    if (tool.positional == mcp_positional::name) names.emplace_back("name");
    if (tool.positional == mcp_positional::query || tool.positional == mcp_positional::models_query)
        names.insert(names.end(), {"metrics", "scope"});
    if (!tool.alternative.empty()) names.emplace_back(tool.alternative);
    for (const mcp_option& row : options_of(tool, io)) names.push_back(row.name);
    std::string option_name = "--" + std::string(name);
    std::replace(option_name.begin(), option_name.end(), '_', '-');
    if (const option_synonym* const synonym = find_option_synonym(option_name)) {
        const command& c = command_of(io, tool.command);
        if (const std::string use = replacement_of(*synonym, c.options, std::nullopt); !use.empty())
            throw_usage(tool.name, "no argument " + quote(name) + "; use " + use);
    }
    name_suggestions near(name);
    for (const std::string& known : names) near.add_candidate(known);
    throw_usage(tool.name, "no argument " + quote(name) + near.suggestion_or_list());
}

/// Appends an option with its value. Arrays are lists `1,8,64`, or several options if the option is repeatable.
LLMCOST_INLINE void append_option(std::vector<std::string>& line, const option_spec& row, std::string_view name,
                                  const nlohmann::ordered_json& value) {
    if (row.type == value_type::none) {
        if (truth_of(name, value)) line.emplace_back(row.name);
        return;
    }
    const std::vector<std::string> texts = texts_of(name, value);
    std::string list;
    for (const std::string& text : texts) {
        if (row.is_repeatable)
            line.push_back(std::string(row.name) + '=' + text);
        else
            list += (list.empty() ? "" : ",") + text;
    }
    if (!row.is_repeatable) line.push_back(std::string(row.name) + '=' + list);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE const mcp_tool* find_mcp_tool(std::string_view name) noexcept {
    const auto found =
        std::find_if(mcp_tools.begin(), mcp_tools.end(), [&](const mcp_tool& tool) { return tool.name == name; });
    return found == mcp_tools.end() ? nullptr : &*found;
}

LLMCOST_INLINE std::vector<mcp_option> options_of(const mcp_tool& tool, const program& io) {
    const command& c = detail::command_of(io, tool.command);
    const command* const alternative = tool.alternative.empty() ? nullptr : &detail::command_of(io, tool.alternative);
    std::vector<mcp_option> out;
    for_each_choice(tool.options, [&](std::string_view name) {
        mcp_option row{detail::argument_name(name), detail::find_option(c, name),
                       alternative == nullptr ? nullptr : detail::find_option(*alternative, name)};
        if (row.option == nullptr && row.alternative == nullptr)
            throw_usage(tool.name, "the command has no option " + quote(name));
        out.push_back(std::move(row));
    });
    return out;
}

LLMCOST_INLINE std::string tool_json(const mcp_tool& tool, const program& io, bool has_output_schema) {
    const command& c = detail::command_of(io, tool.command);
    std::string description = std::string(c.summary) + ". " + detail::one_line(c.description);
    if (!tool.alternative.empty()) {
        const command& alternative = detail::command_of(io, tool.alternative);
        description.append(" With ").append(tool.alternative).append(": ");
        description.append(detail::one_line(alternative.description));
    }
    json_writer json(0);
    json.object().member("name", tool.name).member("description", std::string_view(description));
    json.key("inputSchema");
    detail::write_input_schema(json, tool, io);
    if (has_output_schema) json.key("outputSchema").object().member("type", "object").end_object();
    json.key("annotations").object().member("title", std::string_view("llmcost " + std::string(tool.name)));
    json.member("readOnlyHint", true).member("destructiveHint", false).member("idempotentHint", true);
    json.member("openWorldHint", tool.name != "models").end_object().end_object();
    return json.text();
}

LLMCOST_INLINE std::vector<std::string_view> mcp_command_line::with_format(std::string_view format_option) const {
    std::vector<std::string_view> out(options.begin(), options.end());
    out.push_back(format_option);
    if (positional.empty()) return out;
    out.emplace_back("--");
    out.insert(out.end(), positional.begin(), positional.end());
    return out;
}

LLMCOST_INLINE mcp_command_line command_line_of(const mcp_tool& tool, const nlohmann::ordered_json& arguments,
                                                const program& io) {
    mcp_command_line out;
    const auto alternative = tool.alternative.empty() ? arguments.end() : arguments.find(tool.alternative);
    out.uses_alternative =
        alternative != arguments.end() && !alternative->is_null() && detail::truth_of(tool.alternative, *alternative);
    const std::string_view name = out.uses_alternative ? tool.alternative : tool.command;
    if (!name.empty()) out.options.emplace_back(name);
    const std::vector<mcp_option> rows = options_of(tool, io);
    const bool has_query = tool.positional == mcp_positional::query || tool.positional == mcp_positional::models_query;
    std::vector<std::string> query;
    for (const auto& argument : arguments.items()) {
        const std::string& key = argument.key();
        const nlohmann::ordered_json& value = argument.value();
        if (value.is_null() || (!tool.alternative.empty() && key == tool.alternative)) continue;
        if (tool.has_model && key == "model") {
            out.options.push_back("--model=" + detail::scalar_text(key, value));
        } else if (tool.has_model && key == "config") {
            if (!value.is_object() && !value.is_string())
                throw_usage(key, "expected an object, found " + std::string(value.type_name()));
            out.options.emplace_back("--config=-");
            out.input = value.is_string() ? value.get<std::string>() : value.dump();
        } else if ((has_query && (key == "metrics" || key == "scope")) ||
                   (tool.positional == mcp_positional::models_query && key == "models") ||
                   (tool.positional == mcp_positional::name && key == "name")) {
            std::vector<std::string> texts = detail::texts_of(key, value);
            std::vector<std::string>& target = key == "models" || key == "name" ? out.positional : query;
            target.insert(target.end(), texts.begin(), texts.end());
        } else {
            const auto row = std::find_if(rows.begin(), rows.end(), [&](const mcp_option& o) {
                const option_spec& spec = o.option == nullptr ? *o.alternative : *o.option;
                return o.name == key || spec.is_named("--" + key);
            });
            if (row == rows.end()) detail::refuse_argument(tool, key, io);
            const option_spec* const spec = out.uses_alternative ? row->alternative : row->option;
            if (spec == nullptr)
                throw_usage(key, std::string(out.uses_alternative ? "cannot be combined with " : "requires ") +
                                     std::string(tool.alternative));
            detail::append_option(out.options, *spec, key, value);
        }
    }
    out.positional.insert(out.positional.end(), query.begin(), query.end());
    return out;
}

}  // namespace llmcost::cli
