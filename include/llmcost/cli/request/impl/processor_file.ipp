// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/processor_file.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/hub.hpp>
#include <llmcost/hub/cache.hpp>
#include <llmcost/hub/options.hpp>
#include <llmcost/json.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

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

LLMCOST_INLINE std::string read_text(const hub_file& file) {
    constexpr std::size_t maximum = config_limits{}.text + 1;  // one byte more, to see that there is no more
    return file.content
               ? *file.content
               : llmcost::detail::read_regular_file(file.path.string(), maximum, printable(file.path.string()));
}

LLMCOST_INLINE bool is_present(const std::filesystem::path& file) {
    std::error_code none;
    return std::filesystem::symlink_status(file, none).type() != std::filesystem::file_type::not_found;
}

LLMCOST_INLINE void set_file(config_document& document, const char* key, const hub_file& file) {
    const std::string text = read_text(file);
    (void)parse_config(text, file.path.string(), {}, document_kind::processor);  // errors contain the file name
    document.set(key, text);
}

/// Whether a snapshot of the cache contains the file, even if it cannot be read.
LLMCOST_INLINE bool is_in_snapshot(const repo_id& id, const char* name, const hub_options& options) {
    if (options.cache_dir.empty()) return false;
    const llmcost::detail::hub::repo_cache cache(options.cache_dir, id.name);
    const auto commit = cache.commit_of(id.revision);
    return commit && is_present(cache.snapshot(*commit, name));
}

LLMCOST_INLINE void add_processor_configs(config_document& document, const std::filesystem::path& folder,
                                          const model_registry& models) {
    if (!needs_processors(document, models)) return;
    for (const auto& [key, name] : processor_files)
        if (!holds(document, key) && is_present(folder / name)) set_file(document, key, {folder / name, {}, {}});
}

LLMCOST_INLINE void add_processors_of(config_document& document, const repo_id& id, const hub_options& options,
                                      const model_registry& models) {
    if (!needs_processors(document, models)) return;
    for (const auto& [key, name] : processor_files) {
        if (holds(document, key) || (options.offline && !is_in_snapshot(id, name, options))) continue;
        try {
            set_file(document, key, fetch(id, name, options));
        } catch (const error& e) {
            if (e.code() != errc::not_found) throw;
        }
    }
}

}  // namespace llmcost::cli::detail
