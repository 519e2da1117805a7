// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <llmcost/custom/function_table.hpp>

// The JSON Schema of descriptions, made from the tables that read them.
namespace custom_schema {

using json = nlohmann::ordered_json;

inline json reference(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }

/// What a row's argument may be.
inline json argument(const llmcost::custom::argument_row& a) {
    using llmcost::custom::argument_kind;
    switch (a.kind) {
        case argument_kind::no_figure: return {{"description", "no figure follows from it"}};
        case argument_kind::rate: return {{"type", "number"}, {"minimum", 0}, {"maximum", 1}};
        case argument_kind::choice: {
            json enum_values = json::array();
            std::string_view rest = a.choices;
            while (!rest.empty()) {
                const std::size_t end = std::min(rest.find(' '), rest.size());
                enum_values.push_back(std::string(rest.substr(0, end)));
                rest.remove_prefix(std::min(end + 1, rest.size()));
            }
            return {{"enum", enum_values}};
        }
        default: return reference(a.is_list ? "numbers" : "number");
    }
}

/// If `key` names this row, its arguments are these.
inline json rule(const char* key, const llmcost::custom::layer_row& row) {
    json properties = json::object(), required = json::array();
    for (std::size_t i = 0; i < row.argument_count(); ++i) {
        properties[row.arguments[i].name] = argument(row.arguments[i]);
        if (row.arguments[i].required) required.push_back(row.arguments[i].name);
    }
    json named = {{"properties", {{key, {{"pattern", std::string("(^|\\.)") + row.name + "$"}}}}}, {"required", {key}}};
    if (key == std::string_view("type")) named["not"] = {{"required", {"layers"}}};
    json out = {{"if", named}, {"then", {{"properties", properties}}}};
    if (!required.empty()) out["then"]["required"] = required;
    return out;
}

inline json object(json properties, std::initializer_list<const char*> required, bool open = false) {
    properties["comment"] = json::object();
    json out = {{"type", "object"}, {"properties", properties}, {"required", json::array()}};
    for (const char* name : required) out["required"].push_back(name);
    if (!open) out["additionalProperties"] = false;
    return out;
}

inline json schema() {
    const json steps = reference("steps"), number = reference("number"), names = reference("names"),
               text = {{"type", "string"}};
    const json truth = {{"type", "boolean"}};
    json common = {{"input", names}, {"output", names}, {"repeat", number}, {"first", number}, {"index", text}};
    const auto add_common_properties = [&](json properties) {
        properties.update(common);
        return properties;
    };
    const json module = {{"type", text}, {"name", text},  {"class", text},
                         {"role", text}, {"idle", truth}, {"again", truth}};
    json container = module, rules = json::array(), functions = json::array();
    container["layers"] = steps;
    for (const auto& row : llmcost::custom::layer_table) rules.push_back(rule("type", row));
    for (const auto& row : llmcost::custom::function_table) functions.push_back(rule("function", row));
    json of_module = object(add_common_properties(module), {"type"}, true),
         of_function = object(add_common_properties({{"function", text}}), {"function"}, true);
    of_module["allOf"] = rules;
    of_module["not"] = {{"required", {"layers"}}};
    of_function["allOf"] = functions;
    json defs;
    defs["number"] = {{"description", "a whole number, or an expression such as \"4 * hidden_size\""},
                      {"type", {"integer", "boolean", "string"}}};
    defs["numbers"] = {{"anyOf", {number, {{"type", "array"}, {"items", number}}}}};
    defs["names"] = {{"anyOf", {text, {{"type", "array"}, {"items", text}}}}};
    defs["steps"] = {{"type", "array"}, {"minItems", 1}, {"items", reference("step")}};
    defs["step"] = {
        {"oneOf",
         {of_module, object(add_common_properties(container), {"layers"}), of_function,
          object(add_common_properties({{"residual", steps}, {"around", steps}, {"inplace", truth}}), {"residual"}),
          object(add_common_properties(
                     {{"parallel", {{"type", "array"}, {"items", steps}}}, {"join", text}, {"dim", number}}),
                 {"parallel"}),
          object(add_common_properties({{"if", number}, {"then", steps}, {"else", steps}}), {"if", "then"}),
          object(add_common_properties({{"parameter", text}, {"shape", reference("numbers")}}),
                 {"parameter", "shape", "output"}),
          object(add_common_properties({{"buffer", text}, {"shape", reference("numbers")}, {"dtype", text}}),
                 {"buffer", "shape"}),
          object(add_common_properties({{"refuse", text}}), {"refuse"})}}};
    defs["block"] = object(
        {{"arguments", {{"type", "object"}, {"additionalProperties", {{"anyOf", {number, {{"type", "null"}}}}}}}},
         {"input", names},
         {"output", names},
         {"layers", steps}},
        {"layers"});
    const json input = object({{"shape", reference("numbers")}, {"dtype", text}}, {"shape"});
    json root = object({{"name", text},
                        {"class", text},
                        {"dtype", text},
                        {"torch_dtype", text},
                        {"image_size", reference("numbers")},
                        {"sizes", {{"type", "object"}, {"additionalProperties", reference("numbers")}}},
                        {"variants", {{"type", "object"}}},
                        {"configuration", {{"type", "object"}}},
                        {"inputs", {{"type", "object"}, {"additionalProperties", input}}},
                        {"blocks", {{"type", "object"}, {"additionalProperties", reference("block")}}},
                        {"layers", steps},
                        {"output", names}},
                       {"inputs", "layers"});
    root["patternProperties"] = {{"^\\$", json::object()}};
    json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "A model that llmcost reads"},
                {"description", "See docs/own-models.md. Made from the tables of the library; do not edit."}};
    out.update(root);
    out["$defs"] = defs;
    return out;
}

}  // namespace custom_schema
