// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/draft_deployment.hpp>
#include <llmcost/cli/commands/simulate_request.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/serving/multimodal_step.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/simulate.hpp>

// `llmcost simulate`: requests through the scheduler of an engine, step by step.
//
// The steps of the command are those of `serve.hpp`: parse, validate, compute, print.
namespace llmcost::cli {

namespace detail {

// ---- validate

/// Sets bandwidth and latency of KV cache transfers between devices.
void set_network(simulation_config& config, const device& target_device);

// ---- compute

// ---- print

/// The engine and the requests of a command line of `llmcost simulate`. Throws: `usage`, `does_not_fit`.
class prepared_simulation {
public:
    prepared_simulation(const arguments& args, const program& io);
    prepared_simulation(const prepared_simulation&) = delete;
    prepared_simulation& operator=(const prepared_simulation&) = delete;

    simulate_request request;
    deployment placed;
    multimodal_cost multimodal_inputs;
    requested_workload load;
    std::optional<server> simulated_server{};
    deployed_draft draft{};
    simulated_engine engine{};  ///< refers to `simulated_server`
};

}  // namespace detail

/// Runs `llmcost simulate`.
[[nodiscard]] command_output run_simulate(const arguments& args, const program& io);

inline constexpr std::array<command_example, 3> simulate_examples{{
    {"llmcost simulate --model Qwen/Qwen3-8B --device h200 --engine vllm --concurrency 64", "64 concurrent clients"},
    {"llmcost simulate --model Qwen/Qwen3-8B --device h200 --engine sglang --rate 8 --input 500..2000 --output "
     "100..400",
     "8 requests per second"},
    {"llmcost simulate --model Qwen/Qwen3-8B --device h200 --engine vllm --trace requests.csv --plot",
     "a recorded trace, drawn over time"},
}};

inline constexpr command simulate_command{
    .name = "simulate",
    .summary = "Simulate requests through an engine's scheduler: percentiles",
    .usage =
        "(--model NAME | --config FILE) --device NAME --engine NAME\n[--concurrency N | --rate X | --trace FILE] "
        "[options]",
    .description =
        "Simulates requests through the scheduler of an inference engine, step by step (docs/serving.md).\n"
        "Reports percentiles of time to first token (TTFT), time per output token (TPOT), inter-token\n"
        "latency (ITL) and end-to-end latency. For a closed form, use llmcost serve.\n",
    .options = simulate_options,
    .run = run_simulate,
    .examples = simulate_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/simulate.ipp>  // IWYU pragma: export
#endif
