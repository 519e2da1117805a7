// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <llmcost/hub.hpp>
#include <llmcost/json.hpp>
#include <llmcost/reading/known_models.hpp>

// How images and sound are made ready is said in a file beside a configuration: it is read as its `preprocessor_config`.
namespace llmcost::cli {

namespace detail {

/// The names that such a file has, the older one first, which says it without a word around it.
inline constexpr const char* processor_files[]{"preprocessor_config.json", "processor_config.json"};

/// Whether a configuration is of a model that such a file concerns, and does not hold one yet.
inline bool wants_processor(const config_document& document, const known_models& models) {
    return document.read_with([&](config_view root) {
        if (!root.is_object() || root.contains("preprocessor_config")) return false;
        const auto type = root.find("model_type");
        if (!type || !type->is_string()) return false;
        const architecture* const row = models.find(type->as_string());
        return row != nullptr && row->read_processor != nullptr;
    });
}

inline void put_processor(config_document& document, const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in && text.empty()) return;
    (void)parse_config(text, file.string());  // what is wrong with it is said of the file
    document.set("preprocessor_config", text);
}

/// Takes what a file beside a configuration says, where there is one.
inline void add_processor_beside(config_document& document, const std::filesystem::path& folder, const known_models& models) {
    if (!wants_processor(document, models)) return;
    std::error_code none;
    for (const char* name : processor_files)
        if (std::filesystem::is_regular_file(folder / name, none)) return put_processor(document, folder / name);
}

/// The same of a repository: from the cache, or from the hub where it may be asked; a repository need not have one.
inline void add_processor_of(config_document& document, const repo_id& id, const hub_options& options,
                             const known_models& models) {
    if (!wants_processor(document, models)) return;
    for (const char* name : processor_files) {
        try {
            return put_processor(document, fetch(id, name, options).path);
        } catch (const error& e) {
            if (e.code() != errc::not_found && e.code() != errc::network) throw;
        }
    }
}

}  // namespace detail

}  // namespace llmcost::cli
