// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <llmcost/bundled/all.hpp>
#include <llmcost/cli/front_page_model.hpp>
#include <llmcost/cli/tables.hpp>
#include <llmcost/registry.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::cli {

/// What `llmcost models` prints: the model types that a row describes, and the configurations that are compiled in.
[[nodiscard]] inline std::string models_text(output_format format) {
    if (format == output_format::json) {
        json_writer json;
        json.object().key("model_types").array();
        for (const architecture* a : architectures) json.value(a->model_type);
        json.end_array().key("bundled").array();
        for (const bundled_config& b : bundled_configs)
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
    for (const architecture* a : architectures) {
        types.emplace_back(a->model_type);
        if (!text) t.rows.push_back({"model_type", std::string(a->model_type), "", ""});
    }
    for (const bundled_config& b : bundled_configs) {
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

}  // namespace llmcost::cli
