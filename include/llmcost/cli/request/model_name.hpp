// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/streams.hpp>

// Names of models as people write them: repositories, their addresses, and names without an organization.
namespace llmcost::cli {

/// `org/name[@revision]` for the address of a repository or of one of its files; other names unchanged.
///
/// `https://huggingface.co/Qwen/Qwen3-8B/tree/main` is `Qwen/Qwen3-8B`.
[[nodiscard]] std::string repository_of_address(std::string_view name);

/// The bundled name of a model without its organization, e.g. `Qwen/Qwen3-8B` for `qwen3-8b`; ignores case.
///
/// Empty if there is none. Throws: `usage` if several organizations have a model of this name.
[[nodiscard]] std::string_view complete_model_name(std::span<const bundled_config> bundled, std::string_view name);

/// `; similar bundled names: …` for a name that was not found, or an empty text.
///
/// Similar are names that differ in at most two characters, names with a part that begins with its letters and digits,
/// and other sizes of its series. Another version is not similar.
[[nodiscard]] std::string similar_bundled_names(std::span<const bundled_config> bundled, std::string_view name);

/// Whether an argument without an option is a model: an address, `org/name`, a bundled name, or a configuration file.
[[nodiscard]] bool is_model_argument(std::string_view text, const program& io);

/// Moves the first positional arguments to `--model`, if they are models, and no option selects a model.
void move_models_to_option(const command& c, arguments& args, const program& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/model_name.ipp>  // IWYU pragma: export
#endif
