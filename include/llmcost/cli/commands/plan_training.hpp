// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/parallelism_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/step_estimate.hpp>
#include <llmcost/cli/commands/training_plan.hpp>

// `llmcost plan --training`: the fastest parallel configuration of a training job over devices, under memory.
//
// The steps of the command are those of `serve.hpp`: parse, validate, compute, print.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec devices{.name = "--devices",
                                     .value = "N|LIST",
                                     .type = value_type::number,
                                     .help =
                                         "maximum number of devices (default 8); with --training, their exact number, "
                                         "or a list"};
inline constexpr option_spec top_of_plan{
    .name = "--top",
    .value = "N",
    .type = value_type::number,
    .help = "number of deployments, or of configurations with --training, to print (default 5)"};
inline constexpr option_spec training_of_plan =
    with_help(option::training, "search the parallel configuration of a training job over --devices devices");
inline constexpr option_spec sequence_of_plan =
    with_help(option::sequence, "tokens of a training sequence (default 8192, at most the context of the model)");
inline constexpr option_spec global_batch_of_plan{.name = "--global-batch",
                                                  .aliases = {"--global-batch-size", "--gbs"},
                                                  .value = "N|Ntokens",
                                                  .type = value_type::text,
                                                  .help =
                                                      "sequences of a training step, or tokens: 512, 4Mtokens "
                                                      "(default 4Mtokens)"};
inline constexpr option_spec batch_of_plan =
    with_help(option::batch, "training sequences of a microbatch (default: 1, 2, 4, 8, 16)");
inline constexpr option_spec cp_of_plan = with_help(
    option::training_cp, "context-parallel size in training (default: 1, 2, 4 ... with 4096 tokens per rank)");
inline constexpr option_spec tokens_of_plan =
    with_help(option::tokens, "training tokens, e.g. 15T; reports days and, with --price, the price");
inline constexpr option_spec memory_of_plan =
    with_help(option::memory, "memory of a device in training (default: that of --device)");

}  // namespace option

/// The options of `llmcost plan` that require `--training`.
inline constexpr std::array training_plan_options{
    option::training_of_plan, option::sequence_of_plan, option::global_batch_of_plan, option::batch_of_plan,
    option::cp_of_plan,       option::tokens_of_plan,   option::memory_of_plan};

namespace detail {

/// Whether a command line of `llmcost plan` plans training. Throws: `usage` for options of the other kind of plan.
[[nodiscard]] bool is_training_plan(const arguments& args);

/// Searches the configurations of a command line of `llmcost plan --training`. Throws: `usage`.
[[nodiscard]] training_plan_response search_training_plans(const arguments& args, const program& io);

/// `llmcost plan --training`.
[[nodiscard]] command_output run_training_plan(const arguments& args, const program& io);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/plan_training.ipp>  // IWYU pragma: export
#endif
