// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string_view>

#include <llmcost/base/config_view.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/hub.hpp>
#include <llmcost/json.hpp>

// Finds the configuration of a command line.
namespace llmcost::cli {

/// Throws: `usage` for a command line without a configuration, or with two.
void require_single_source(const arguments& args, const program& io);

/// Reads the configuration of a name and applies `--quantization` and `--set`.
///
/// `--config` reads a file or standard input. `--model` searches a local file, the Hugging Face cache, the bundled
/// configurations and the Hub. Otherwise the configuration is that of the weight file.
[[nodiscard]] located_config find_config(std::string_view name, const arguments& args, const program& io);

/// The model of a configuration, or of its `--part`.
///
/// `listener` observes which keys are read. Without a listener, errors about unknown types have no similar types.
parsed_model read_found(located_config found, const arguments& args, const program& io,
                        config_observer* listener = nullptr);

/// Reads the model of a command line; warns about unused keys that are similar to used ones.
[[nodiscard]] parsed_model parse_model(const arguments& args, const program& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/config_lookup.ipp>  // IWYU pragma: export
#endif
