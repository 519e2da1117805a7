// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/sglang_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/step_estimate.hpp>
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/commands/training_combinations.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

// `llmcost fit`: the largest batch, context and concurrency for a memory size.
//
// The steps of the command are those of `serve.hpp`: parse, validate, compute, print.
namespace llmcost::cli {

/// A parsed `llmcost fit` command line, without workload and training plan.
struct fit_request {
    memory_limit limit{};
    engine_memory_profile profile{};
    bool is_training = false;
    std::int64_t devices = 1;  ///< tensor-parallel devices
    output_format format = output_format::text;
};

namespace detail {

/// The results of `llmcost fit`.
struct fit_response {
    fit_figures figures{};
    std::int64_t min_devices = 0;  ///< fewest devices; 0: unknown
    std::vector<suggestion> suggestions{};
    std::vector<training_combination> combinations{};  ///< cheapest first
    std::string assumptions{};                         ///< of a training step: `bf16, sdpa, adamw`
};

}  // namespace detail

/// Runs `llmcost fit`.
[[nodiscard]] command_output run_fit(const arguments& args, const program& io);

inline constexpr std::array fit_options = concatenate(
    with_section("Model", model_options),
    with_section("Workload",
                 std::array{option::batch, option::memory_sequence, option::past, option::encoder_sequence}),
    with_section("Multimodal inputs", multimodal_options), with_section("Training", std::array{option::training}),
    without_first_section(training_options), std::array{option::fit_devices},
    with_section("Hardware and engine",
                 concatenate(device_list_options, engine_memory_options, std::array{option::network})),
    with_section("SGLang", sglang_option_specs), with_section("llama.cpp", llama_cpp_fit_options),
    with_section("Cost", std::array{option::price}),
    with_section("Precision",
                 std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype}),
    with_section("Output", std::array{option::format}), help_option);

inline constexpr std::array<command_example, 3> fit_examples{{
    {"llmcost fit --model meta-llama/Llama-3.1-8B --dtype bfloat16 --memory 24GB --sequence 8192",
     "the largest batch and the longest context"},
    {"llmcost fit --model Qwen/Qwen3-8B --training --memory 24GB --sequence 2048",
     "changes with which a training step fits"},
    {"llmcost fit --model Qwen/Qwen3-30B-A3B --quantization q4_k_m --engine llama.cpp --device rtx_4070_ti_super",
     "command lines of llama-server, and the settings of Ollama and LM Studio"},
}};

inline constexpr command fit_command{
    .name = "fit",
    .summary = "Find the largest batch, context and concurrency that fit into memory",
    .usage = "(--model NAME | --config FILE) (--device NAME | --memory SIZE) [options]",
    .description =
        "Computes the largest batch, the longest context, the highest concurrency and the fewest devices\n"
        "for a memory size. If the workload does not fit, lists single changes and the memory that each\n"
        "of them requires. With --training, also lists combinations that fit, cheapest first.\n"
        "--device h100,rtx_4090 or --device all prints a table of devices.\n"
        "With --engine llama.cpp, finds -ngl, --n-cpu-moe, -ot, -ts, the context and the types of the\n"
        "KV cache, and prints command lines of llama-server, fastest first.\n"
        "Exit code 8: the workload does not fit into --memory or --device.\n",
    .options = fit_options,
    .run = run_fit,
    .examples = fit_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/fit.ipp>  // IWYU pragma: export
#endif
