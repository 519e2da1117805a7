// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/shell.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/cli/request/sweep_results.hpp>

// `llmcost sweep`: the counts of millions of workloads, and the time of steps, as rows.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec sweep_shard{
    .name = "--shard",
    .value = "K/N",
    .type = value_type::text,
    .help = "compute part K of N of the rows, K from 0, e.g. of a Slurm array (default 0/1)"};
inline constexpr option_spec sweep_threads{
    .name = "--threads", .value = "N", .type = value_type::number, .help = "threads (default: number of cores)"};
inline constexpr option_spec sweep_save{
    .name = "--save",
    .value = "DIR",
    .type = value_type::directory,
    .help = "write DIR/part-K-of-N.csv; a part that exists is complete and is not computed again"};
inline constexpr option_spec sweep_format{.name = "--format",
                                          .value = "FORMAT",
                                          .type = value_type::choice,
                                          .choices = "csv|json",
                                          .help = "csv, or json with one object per line (default csv)"};

}  // namespace option

namespace detail {

/// Reads the models and lists of a command line of `llmcost sweep`, with the step time of `llmcost latency`.
[[nodiscard]] std::unique_ptr<sweep> make_sweep(const arguments& args, const program& io);

/// The number of threads of a command line; by default one per core.
[[nodiscard]] std::size_t num_sweep_threads(const arguments& args);

}  // namespace detail

inline constexpr std::array sweep_options = concatenate(
    with_section("Workload",
                 std::array{accepts_list(option::batch), accepts_list(option::sequence), accepts_list(option::past),
                            option::encoder_sequence, option::logits, option::attention}),
    with_section("Multimodal inputs", multimodal_options),
    with_section("Hardware and engine", concatenate(std::array{option::device_list}, engine_options, parallel_options)),
    with_section("Rows",
                 std::array{option::sweep_shard, option::sweep_save, option::sweep_threads, option::sweep_format}),
    with_section("Model", model_options), help_option);

/// Runs `llmcost sweep`. The rows are written to standard output in blocks, as they are computed.
[[nodiscard]] command_output run_sweep(const arguments& args, const program& io);

inline constexpr std::array<command_example, 2> sweep_examples{{
    {"llmcost sweep -m Qwen/Qwen3-8B --batch 1..64:+1 --sequence 128..131072:x2 flops cache_bytes",
     "counts of 704 workloads"},
    {"llmcost sweep -m Qwen/Qwen3-8B --device h100,h200 --batch 1..256:x2 --shard 3/64 --save out",
     "part 3 of the time of steps on two devices"},
}};

inline constexpr command sweep_command{
    .name = "sweep",
    .summary = "Compute millions of workloads of models and devices, as rows",
    .usage = "(--model NAME | --config FILE)... [options] [METRIC...] [SCOPE]",
    .description =
        "Computes a row for each combination of models, devices, batches, sequences and past tokens. The\n"
        "last list varies fastest. With --device, a row also has the time and the memory of one step,\n"
        "as llmcost latency computes them. --shard computes a part of the rows: for job arrays.\n"
        "Exit code 7: some rows have no result; their column error contains the reason.\n",
    .options = sweep_options,
    .run = run_sweep,
    .examples = sweep_examples,
    .completions = query_completions};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/sweep.ipp>  // IWYU pragma: export
#endif
