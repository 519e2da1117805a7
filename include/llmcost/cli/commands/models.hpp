// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>

// `llmcost models`: supported model types, how each one was verified, and the bundled configurations.
namespace llmcost::cli {

namespace detail {

/// The model types and bundled configurations that match a pattern.
struct known_list {
    std::vector<verified_type> types;
    std::vector<const bundled_config*> bundled;
};

}  // namespace detail

namespace option {

inline constexpr option_spec layers{
    .name = "--layers", .help = "list the layers and functions of custom models with their arguments instead"};

}  // namespace option

/// Runs `llmcost models`. An argument selects names that contain it. Throws: `usage` if none do.
[[nodiscard]] command_output run_models(const arguments& args, const program& io);

inline constexpr std::array models_options =
    concatenate(with_section("Output", std::array{option::layers, option::format}), help_option);

inline constexpr command models_command{
    .name = "models",
    .summary = "List supported model types and bundled configurations",
    .usage = "[PART OF A NAME] [options]",
    .description =
        "Lists the supported model types, how each one was verified, and the bundled configurations. With\n"
        "an argument, lists only those whose names contain it. --layers lists what a custom model can\n"
        "contain: see docs/own-models.md.\n",
    .options = models_options,
    .run = run_models,
    .completions = type_names};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/models.ipp>  // IWYU pragma: export
#endif
