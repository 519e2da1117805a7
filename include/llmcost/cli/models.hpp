// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include <llmcost/cli/command.hpp>
#include <llmcost/cli/front_page_model.hpp>
#include <llmcost/cli/tables.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::cli {

/// What `llmcost models` prints: the model types that a row describes, and the configurations that are compiled in.
[[nodiscard]] inline answered models_answer(const arguments& given, const session& io) {
    const auto format = static_cast<output_format>(given.choice(option::format));
    if (format == output_format::json) {
        json_writer json;
        json.object().key("model_types").array();
        for (const architecture* a : io.models) json.value(a->model_type);
        json.end_array().key("bundled").array();
        for (const bundled_config& b : io.bundled)
            json.object().member("name", b.name).member("params", b.parameters).member("source", b.source).end_object();
        json.end_array().end_object();
        return json.text() + "\n";
    }
    const bool text = format == output_format::text;
    table t;
    if (text)
        t.columns = {{"bundled name"}, {"parameters", true}};
    else
        t.columns = {{"kind"}, {"name"}, {"params", true}, {"source"}};
    std::vector<std::string> types;
    for (const architecture* a : io.models) {
        types.emplace_back(a->model_type);
        if (!text) t.rows.push_back({"model_type", std::string(a->model_type), "", ""});
    }
    for (const bundled_config& b : io.bundled) {
        const std::string parameters = digits(count(b.parameters));
        if (text)
            t.rows.push_back({std::string(b.name), parameters});
        else
            t.rows.push_back({"bundled", std::string(b.name), parameters, std::string(b.source)});
    }
    if (!text) return written(t, format);
    return std::to_string(types.size()) + " model types, in the file's \"model_type\":\n" + wrapped(types, 80) + '\n' +
           plain(t);
}

inline constexpr std::array models_options = joined(std::array{option::format}, help_option);

inline constexpr command models_command{
    .name = "models",
    .meaning = "types and configurations that are known",
    .usage = "[--format FORMAT]",
    .about = "The model types that are known, and the configurations that are compiled in.\n",
    .options = models_options,
    .answer = models_answer};

}  // namespace llmcost::cli
