// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/calibrate_text.hpp>
#include <llmcost/cli/commands/calibration_rows.hpp>
#include <llmcost/cli/commands/serve_request.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/server.hpp>

// `llmcost calibrate`: fits the constants of an engine to results of its benchmarks.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec from{.name = "--from",
                                  .value = "FILE",
                                  .type = value_type::file,
                                  .help =
                                      "results of benchmarks: JSON, JSON Lines, Prometheus text or CSV "
                                      "(docs/calibrate-engine.md); more files may follow",
                                  .is_repeatable = true};
inline constexpr option_spec calibration_out{.name = "--out",
                                             .aliases = {"-o"},
                                             .value = "FILE",
                                             .type = value_type::file,
                                             .help = "write the calibration to a file, for --calibration"};

}  // namespace option

inline constexpr std::array calibrate_options = concatenate(
    with_section("Runs",
                 std::array{option::from, with_help(option::input, "input tokens per request, if the file has none"),
                            with_help(option::output, "output tokens per request, if the file has none"),
                            with_help(option::concurrency, "concurrent requests, if the file has none"),
                            with_help(option::configs,
                                      "configurations of the column model_path of CSV files, named "
                                      "org__name.json")}),
    with_section("Parallelism", std::array{option::tp, option::pp, option::dp, option::ep}),
    with_section("Hardware and engine", hardware_options),
    with_section("Precision", concatenate(precision_options, std::array{option::quantization, option::routing})),
    with_section("Model", model_options), with_section("Output", std::array{option::calibration_out, option::format}),
    help_option);

namespace detail {

/// Fits the constants, and estimates their errors on rows that took no part.
[[nodiscard]] calibrate_response compute_calibration(calibration_rows data, const std::string& version,
                                                     const std::string& source);

}  // namespace detail

/// Runs `llmcost calibrate`.
[[nodiscard]] command_output run_calibrate(const arguments& args, const program& io);

inline constexpr std::array<command_example, 2> calibrate_examples{{
    {"llmcost calibrate --engine vllm --device h100 --model Qwen/Qwen3-8B --from serve.json --out engine.json",
     "from a result of vllm bench serve"},
    {"llmcost plan --engine vllm --device h100 --model Qwen/Qwen3-8B --slo ttft=1s,tpot=30ms --calibration engine.json",
     "a plan with the calibrated engine"},
}};

inline constexpr command calibrate_command{
    .name = "calibrate",
    .summary = "Fit the constants of an engine to results of its benchmarks",
    .usage =
        "--engine NAME --device NAME (--model NAME | --config FILE)\n--from FILE [FILE ...] [options]\n"
        "--engine NAME --configs DIR --from RUNS.csv [FILE ...] [options]",
    .description =
        "Reads results of vllm bench serve, latency and throughput, SGLang bench_serving and\n"
        "bench_one_batch, AIPerf, GenAI-Perf and InferenceX, metrics of Prometheus, or a CSV.\n"
        "Fits host times and factors of kernel times, with the shipped constants as priors, and\n"
        "estimates the error on runs that took no part. --out writes a file for --calibration of\n"
        "serve, simulate, plan and latency. See docs/calibrate-engine.md.\n"
        "For kernel measurements on a local GPU, use llmcost-calibrate.\n",
    .options = calibrate_options,
    .run = run_calibrate,
    .examples = calibrate_examples,
    .completions = [](const program&) { return std::vector<std::string_view>{}; },
    .has_model_arguments = true};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/calibrate.ipp>  // IWYU pragma: export
#endif
