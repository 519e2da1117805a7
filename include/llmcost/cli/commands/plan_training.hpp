// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/parallelism_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/step_estimate.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/serving/training_search.hpp>

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

/// The command line of a plan with `--training`.
struct training_plan_request {
    std::vector<std::int64_t> devices{};  ///< numbers of devices
    std::int64_t sequence = 0;            ///< 0: default
    std::int64_t global_batch = 0;        ///< sequences; 0: `global_batch_tokens`
    std::int64_t global_batch_tokens = 0;
    double tokens = 0;  ///< of the training; 0: not given
    training_search_space space{};
    memory_limit limit{};
    output_format format = output_format::text;
};

/// What is searched of a program: its sharding and recomputation.
struct training_strategy {
    split_rules rules = split_rules::megatron;
    bool is_sharded = true;  ///< distributed optimizer, or FSDP
    bool reshards_after_forward = true;
    recompute_mode recompute = recompute_mode::none;
};

/// The result of a plan: a search for each number of devices.
struct training_plan_response {
    deployment placed{};
    std::string model_name{};
    std::vector<std::string> model_options{};  ///< of the command line, for `llmcost train`
    std::string network{};                     ///< value of `--network`; empty: not given
    std::vector<training_strategy> strategies{};
    std::vector<training_search_result> results{};
    std::int64_t num_layers = 1;
    std::int64_t num_experts = 0;
    bool has_cuda = true;
    training_plan_request request{};
};

/// Whether a command line of `llmcost plan` plans training. Throws: `usage` for options of the other kind of plan.
[[nodiscard]] bool is_training_plan(const arguments& args);

/// The command line of `llmcost train` for a configuration, without its model and device.
[[nodiscard]] std::vector<std::string> train_options_of(const training_strategy& strategy, const training_candidate& c,
                                                        std::int64_t sequence, bool has_cuda);

/// `llmcost plan --training`.
[[nodiscard]] command_output run_training_plan(const arguments& args, const program& io);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/plan_training.ipp>  // IWYU pragma: export
#endif
