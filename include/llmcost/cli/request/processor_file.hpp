// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

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

/// Adds the processor files in the directory of a configuration.
void add_processor_configs(config_document& document, const std::filesystem::path& folder,
                           const model_registry& models);

/// Adds the processor files of a repository, from the cache or the Hub; missing files are ignored.
void add_processors_of(config_document& document, const repo_id& id, const hub_options& options,
                       const model_registry& models);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/processor_file.ipp>  // IWYU pragma: export
#endif
