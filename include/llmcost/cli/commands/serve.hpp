// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/serve_request.hpp>

// `llmcost serve`: latency and throughput of an inference server, in closed form.
//
// A command has four steps.
//   Parse:     arguments -> request.     Reports syntax errors and conflicting options.
//   Validate:  request, deployment.      Reports what the model, the engine or the device does not support.
//   Compute:   request -> response.      No input or output.
//   Print:     response -> text, JSON.   No computation.
namespace llmcost::cli {

namespace detail {

// ---- validate

// ---- compute

}  // namespace detail

/// Runs `llmcost serve`.
[[nodiscard]] command_output run_serve(const arguments& args, const program& io);

inline constexpr std::array<command_example, 3> serve_examples{{
    {"llmcost serve --model Qwen/Qwen3-8B --device h200 --engine vllm --concurrency 16", "16 concurrent requests"},
    {"llmcost serve --model Qwen/Qwen3-8B --device h200 --engine vllm --slo ttft=0.5s,tpot=30ms",
     "the highest concurrency that meets the latency targets"},
    {"llmcost serve --model Qwen/Qwen3-8B --quantization q4_k_m --device rtx_4090 --engine llama.cpp --concurrency 8",
     "llama-server with 1, 2, 4 and 8 users"},
}};

inline constexpr command serve_command{
    .name = "serve",
    .summary = "Estimate latency and throughput of an inference server",
    .usage = "(--model NAME | --config FILE) --device NAME [options]\n--configs DIR [options] < RUNS.csv",
    .description =
        "Estimates time to first token (TTFT), time per output token (TPOT) and throughput of a server\n"
        "with continuous batching. The estimate is a closed form and describes the mean of a steady load.\n"
        "For bursts, percentiles and request traces, use llmcost simulate.\n"
        "With --engine llama.cpp, prints a table of 1, 2, 4 ... up to --concurrency users (default 16).\n"
        "\n"
        "With --configs, reads benchmark runs from standard input (columns model_path, system, backend,\n"
        "isl, osl, batch_size, tp_size ...). Appends predicted_ttft_ms, predicted_tpot_ms and error to\n"
        "each row. See docs/cli.md.\n"
        "Exit code 7: some rows have no result. Exit code 8: the model does not fit into the memory of\n"
        "the device.\n",
    .options = serve_options,
    .run = run_serve,
    .examples = serve_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/serve.ipp>  // IWYU pragma: export
#endif
