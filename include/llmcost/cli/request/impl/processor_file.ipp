// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/processor_file.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/hub.hpp>
#include <llmcost/json.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::cli::detail {

/// Whether the model of a configuration uses processor files.
LLMCOST_INLINE bool needs_processors(const config_document& document, const model_registry& models) {
    return document.read_with([&](config_view root) {
        if (!root.is_object()) return false;
        const auto type = root.find("model_type");
        if (!type || !type->is_string()) return false;
        const model_spec* const row = models.find(type->as_string());
        return row != nullptr && (row->parse_image_processor != nullptr || row->parse_feature_extractor != nullptr);
    });
}

/// Whether a configuration has a key already.
LLMCOST_INLINE bool holds(const config_document& document, const char* key) {
    return document.read_with([&](config_view root) { return root.contains(key); });
}

LLMCOST_INLINE void set_processor_config(config_document& document, const char* key,
                                         const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in && text.empty()) return;
    (void)parse_config(text, file.string(), {}, document_kind::processor);  // errors contain the file name
    document.set(key, text);
}

LLMCOST_INLINE void add_processor_configs(config_document& document, const std::filesystem::path& folder,
                                          const model_registry& models) {
    if (!needs_processors(document, models)) return;
    std::error_code none;
    for (const auto& [key, name] : processor_files)
        if (!holds(document, key) && std::filesystem::is_regular_file(folder / name, none))
            set_processor_config(document, key, folder / name);
}

LLMCOST_INLINE void add_processors_of(config_document& document, const repo_id& id, const hub_options& options,
                                      const model_registry& models) {
    if (!needs_processors(document, models)) return;
    for (const auto& [key, name] : processor_files) {
        if (holds(document, key)) continue;
        try {
            set_processor_config(document, key, fetch(id, name, options).path);
        } catch (const error& e) {
            if (e.code() != errc::not_found && e.code() != errc::network) throw;
        }
    }
}

}  // namespace llmcost::cli::detail
