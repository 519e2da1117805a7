// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/json.hpp>

// Weight files (GGUF, safetensors): their configuration and tensors.
namespace llmcost::cli::detail {

/// Whether a name ends with `.gguf`.
inline bool looks_like_gguf(std::string_view name) { return name.ends_with(".gguf"); }

/// The configuration and the weights of a GGUF file.
located_config from_gguf(const std::string& path);

/// The `config.json` in the directory of safetensors weights. Throws: `usage` if there is none.
std::string find_sibling_config(const std::string& path);

/// Adds the weight file of a command line to a configuration. Throws: `usage` for two different files.
void add_weights(located_config& found, const arguments& args);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/weight_source.ipp>  // IWYU pragma: export
#endif
