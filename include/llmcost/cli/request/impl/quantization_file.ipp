// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/quantization_file.hpp>

#include <filesystem>
#include <optional>
#include <system_error>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/quantization_block.hpp>
#include <llmcost/cli/request/processor_file.hpp>
#include <llmcost/hub.hpp>
#include <llmcost/hub/options.hpp>
#include <llmcost/json.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::cli::detail {

/// Whether a configuration lacks a quantization, or the algorithms of ModelOpt's MIXED_PRECISION.
LLMCOST_INLINE bool lacks_quantization(const config_document& document) {
    return document.read_with([](config_view root) {
        if (!root.is_object()) return false;
        for (const literal key : {"quantization_config", "compression_config"})
            if (const auto block = root.find(key); block && !block->is_null() && !block->is_object()) return false;
        const auto found = find_quantization(root);
        if (!found) return true;
        const auto algorithm = found->find("quant_algo");
        return algorithm && algorithm->is_string() && algorithm->as_string() == "MIXED_PRECISION" &&
               !found->contains("quantized_layers");
    });
}

LLMCOST_INLINE void add_quantization_file(config_document& document, const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / quantization_file;
    if (is_present(file) && lacks_quantization(document)) set_file(document, "quantization_config", {file, {}, {}});
}

LLMCOST_INLINE void add_quantization_file_of(config_document& document, const repo_id& id, const hub_options& options,
                                             const std::optional<std::filesystem::path>& downloaded_config) {
    if (!lacks_quantization(document)) return;
    if (const auto cached = find_in_cache(id, quantization_file, options))
        return set_file(document, "quantization_config", *cached);
    if (!downloaded_config) return;
    try {
        set_file(document, "quantization_config", fetch(id, quantization_file, options));
    } catch (const error& e) {
        if (e.code() == errc::not_found) return;
        std::error_code none;
        std::filesystem::remove(*downloaded_config, none);
        throw;
    }
}

}  // namespace llmcost::cli::detail
