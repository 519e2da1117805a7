// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <llmcost/config/model_registry.hpp>
#include <llmcost/hub.hpp>
#include <llmcost/hub/options.hpp>
#include <llmcost/json.hpp>

// Reads the processor files next to a configuration (image processors, feature extractors) as parts of it.
namespace llmcost::cli {

namespace detail {

/// A processor file, and the key of the configuration that holds it.
struct processor_file {
    const char* key;
    const char* name;
};
/// The newer format has one object per processor.
inline constexpr processor_file processor_files[]{{"preprocessor_config", "preprocessor_config.json"},
                                                  {"processor_config", "processor_config.json"}};

/// The text of a file next to a configuration. Throws: `io` for a file that cannot be read, and for anything else than
/// a regular file.
[[nodiscard]] std::string read_text(const hub_file& file);

/// Whether a directory has an entry of this name, even if it cannot be read.
[[nodiscard]] bool is_present(const std::filesystem::path& file);

/// Sets a key of a configuration to the content of a file.
void set_file(config_document& document, const char* key, const hub_file& file);

/// Adds the processor files in the directory of a configuration.
void add_processor_configs(config_document& document, const std::filesystem::path& folder,
                           const model_registry& models);

/// Adds the processor files of a repository, from the cache or the Hub. Files that the repository does not have are
/// ignored, and offline those that are not cached. Other errors are thrown.
void add_processors_of(config_document& document, const repo_id& id, const hub_options& options,
                       const model_registry& models);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/processor_file.ipp>  // IWYU pragma: export
#endif
