// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include <llmcost/hub.hpp>
#include <llmcost/hub/options.hpp>
#include <llmcost/json.hpp>

// Reads the quantization that ModelOpt writes to a separate file next to a configuration.
namespace llmcost::cli::detail {

/// The file of ModelOpt 0.29 and before; later versions write `quantization_config` to the configuration too.
///
/// Source: vllm/transformers_utils/config.py, `get_config`.
inline constexpr const char* quantization_file = "hf_quant_config.json";

/// Adds the file in the directory of a configuration as `quantization_config`, if the configuration has no complete
/// quantization of its own. A missing file is ignored.
///
/// Throws: `io` for a file that cannot be read, and the errors of `parse_config`.
void add_quantization_file(config_document& document, const std::filesystem::path& folder);

/// Adds the file of a repository, from the cache. With the path of a configuration that was downloaded now, also from
/// the Hub; a missing file is ignored. If the download fails, the configuration is removed from the cache: a later run
/// would use it without its quantization.
void add_quantization_file_of(config_document& document, const repo_id& id, const hub_options& options,
                              const std::optional<std::filesystem::path>& downloaded_config);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/quantization_file.ipp>  // IWYU pragma: export
#endif
