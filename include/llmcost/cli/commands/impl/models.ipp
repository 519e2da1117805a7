// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/models.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/function_table.hpp>
#include <llmcost/custom/layer_table.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

/// The types whose name contains the pattern, and the configurations whose name or type contains it; case is ignored.
LLMCOST_INLINE known_list list_supported(const program& io, std::string_view pattern) {
    const std::string part = lower(pattern);
    const auto has = [&](std::string_view name) { return lower(name).find(part) != std::string::npos; };
    known_list out;
    for (const model_spec* spec : io.models) {
        if (!has(spec->model_type)) continue;
        const verified_type* const verified = find_verified(io.verified, spec->model_type);
        out.types.push_back(verified == nullptr ? verified_type{spec->model_type, "", "", "no", ""} : *verified);
    }
    for (const bundled_config& b : io.bundled)
        if (has(b.name) || has(type_of(b))) out.bundled.push_back(&b);
    return out;
}

/// The items of a comma-separated list.
LLMCOST_INLINE std::vector<std::string> parts_of(std::string_view list) {
    std::vector<std::string> out;
    while (!list.empty()) {
        const std::size_t comma = list.find(", ");
        out.emplace_back(list.substr(0, comma));
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 2);
    }
    return out;
}

LLMCOST_INLINE void write_list(json_writer& json, std::string_view key, std::string_view names) {
    json.key(key).array(true);
    for (const std::string& name : parts_of(names)) json.value(name);
    json.end_array();
}

LLMCOST_INLINE std::string models_json(const known_list& known, std::string_view reference) {
    json_writer json;
    json.object().key("model_types").array();
    for (const verified_type& v : known.types) json.value(v.model_type);
    json.end_array().member("reference", reference).key("held").array();
    for (const verified_type& v : known.types) {
        json.object().member("model_type", v.model_type);
        write_list(json, "held_against", v.configurations);
        write_list(json, "forward_passes", v.runs);
        write_list(json, "training", v.training == "no" ? std::string_view{} : v.training);
        write_list(json, "exceptions", v.exceptions);
        write_list(json, "shown", v.modalities);
        json.end_object();
    }
    json.end_array().key("bundled").array();
    for (const bundled_config* b : known.bundled) {
        json.object().member("name", b->name).member("params", b->parameters).member("source", b->source);
        json.member("model_type", type_of(*b)).end_object();
    }
    json.end_array().end_object();
    return json.text() + "\n";
}

/// Both lists in one table.
LLMCOST_INLINE table models_table(const known_list& known) {
    table t{{{"kind"},
             {"name"},
             {"params", true},
             {"source"},
             {"model_type"},
             {"held_against"},
             {"forward_passes"},
             {"training"},
             {"exceptions"},
             {"shown"}},
            {}};
    for (const verified_type& v : known.types) {
        const std::string verified(v.configurations.empty() ? not_verified : v.configurations);
        t.rows.push_back({"model_type", std::string(v.model_type), "", "", std::string(v.model_type), verified,
                          std::string(v.runs), std::string(v.training), std::string(v.exceptions),
                          std::string(v.modalities)});
    }
    for (const bundled_config* b : known.bundled)
        t.rows.push_back({"bundled", std::string(b->name), digits(count(b->parameters)), std::string(b->source),
                          std::string(type_of(*b)), "", "", "", "", ""});
    return t;
}

/// The lines of a model type: verified configurations, passes, modalities, training and exceptions.
LLMCOST_INLINE std::string type_text(const verified_type& v, std::size_t width) {
    constexpr std::size_t page = 100;
    const std::string indent(width + 2, ' ');
    const std::string name = left(v.model_type, width) + "  ";
    if (v.configurations.empty()) return name + std::string(not_verified) + '\n';
    std::string out, line = name;
    const std::vector<std::string> configurations = parts_of(v.configurations);
    for (std::size_t i = 0; i < configurations.size(); ++i) {
        const std::string part = configurations[i] + (i + 1 < configurations.size() ? "," : "");
        if (i > 0 && width_of(line) + 1 + width_of(part) > page) {
            out += line + '\n';
            line = indent;
        }
        line += (line == name || line == indent ? "" : " ") + part;
    }
    out += line + '\n';
    std::vector<std::string> parts{indent + (v.runs.empty() ? "only parameters" : std::string(v.runs))};
    if (!v.modalities.empty()) parts.push_back("inputs: " + std::string(v.modalities));
    parts.push_back(v.training == "no" ? "no training" : "training: " + std::string(v.training));
    out += wrapped(parts, page, indent);
    const std::vector<std::string> exceptions = parts_of(v.exceptions);
    for (std::size_t i = 0; i < exceptions.size(); ++i)
        out += indent + (i == 0 ? "except " : "       ") + exceptions[i] + '\n';
    return out;
}

LLMCOST_INLINE std::string models_text(const known_list& known, std::string_view reference) {
    std::string out;
    std::size_t width = 0;
    for (const verified_type& v : known.types) width = std::max(width, v.model_type.size());
    if (!known.types.empty())
        out = std::to_string(known.types.size()) + (known.types.size() == 1 ? " model type" : " model types") +
              " (\"model_type\" of config.json), verified against " + std::string(reference) + ":\n\n";
    for (const verified_type& v : known.types) out += type_text(v, width);
    if (known.bundled.empty()) return out;
    table t{{{"bundled name"}, {"parameters", true}, {"model type"}}, {}};
    for (const bundled_config* b : known.bundled)
        t.rows.push_back({std::string(b->name), digits(count(b->parameters)), std::string(type_of(*b))});
    return out + (out.empty() ? "" : "\n") + plain(t);
}

/// `kernel_size`, `stride=1`, `mode=nearest|bilinear`; a list has brackets.
LLMCOST_INLINE std::string argument_label(const custom::argument_row& argument) {
    using custom::argument_kind;
    std::string out = argument.name;
    if (argument.is_list) out += "[]";
    if (argument.required || argument.kind == argument_kind::no_figure) return out;
    if (argument.kind == argument_kind::choice) {
        std::string choices = argument.choices;
        std::replace(choices.begin(), choices.end(), ' ', '|');
        return out + '=' + choices;
    }
    if (argument.kind == argument_kind::truth) return out + (argument.default_value != 0 ? "=true" : "=false");
    return argument.kind == argument_kind::rate ? out : out + '=' + std::to_string(argument.default_value);
}

/// The layers and functions of custom models whose name contains a pattern.
template <std::size_t N>
void add_layers(table& t, const custom::layer_row (&rows)[N], std::string_view kind, const std::string& pattern) {
    for (const custom::layer_row& row : rows) {
        if (lower(row.name).find(pattern) == std::string::npos) continue;
        std::string arguments;
        for (std::size_t i = 0; i < row.argument_count(); ++i)
            arguments += (i == 0 ? "" : ", ") + argument_label(row.arguments[i]);
        std::string inputs = std::to_string(row.min_inputs);
        if (row.max_inputs > row.min_inputs)
            inputs += row.max_inputs > 8 ? " or more" : " to " + std::to_string(row.max_inputs);
        t.rows.push_back({std::string(kind), row.name, std::move(inputs), std::move(arguments)});
    }
}

/// `llmcost models --layers`.
LLMCOST_INLINE std::string layers_text(std::string_view pattern, output_format format) {
    table t{{{"kind"}, {"name"}, {"inputs"}, {"arguments"}}, {}};
    add_layers(t, custom::layer_table, "layer", lower(pattern));
    add_layers(t, custom::function_table, "function", lower(pattern));
    if (t.rows.empty()) {
        name_suggestions near(pattern);
        for (const custom::layer_row& row : custom::layer_table) near.add_candidate(row.name);
        for (const custom::layer_row& row : custom::function_table) near.add_candidate(row.name);
        throw_usage("models", "no layer and no function contains " + quote(pattern) + near.suggestion_text(""));
    }
    if (format != output_format::json) return written(t, format);
    json_writer json;
    json.object().key("layers").array();
    for (const std::vector<std::string>& row : t.rows)
        json.object()
            .member("kind", row[0])
            .member("name", row[1])
            .member("inputs", row[2])
            .member("arguments", row[3])
            .end_object();
    json.end_array().end_object();
    return json.text() + "\n";
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_models(const arguments& args, const program& io) {
    if (args.positional().size() > 1)
        throw_usage("models", "expected one argument, found also " + quote(args.positional()[1]));
    const std::string_view pattern = args.positional().empty() ? std::string_view{} : args.positional().front();
    if (args.has(option::layers))
        return detail::layers_text(pattern, static_cast<output_format>(args.choice(option::format)));
    const detail::known_list known = detail::list_supported(io, pattern);
    if (known.types.empty() && known.bundled.empty()) {
        name_suggestions near(pattern);
        for (const model_spec* spec : io.models) near.add_candidate(spec->model_type);
        throw_usage("models",
                    "no model type and no bundled configuration contains " + quote(pattern) + near.suggestion_text(""));
    }
    const auto format = static_cast<output_format>(args.choice(option::format));
    if (format == output_format::json) return detail::models_json(known, io.verified.reference);
    if (format == output_format::text) return detail::models_text(known, io.verified.reference);
    return written(detail::models_table(known), format);
}

}  // namespace llmcost::cli
