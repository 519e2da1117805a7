// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/engine_memory_options.hpp>
#include <llmcost/cli/args/llama_cpp_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/sglang_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/llama_cpp_request.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/rank_options.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/sglang_memory.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/stored_bytes.hpp>

// `llmcost memory`: the memory of an inference step.
//
// The steps of the command are those of `serve.hpp`: parse, compute, print.
namespace llmcost::cli {

/// A parsed `llmcost memory` command line, without the workload.
struct memory_request {
    engine_memory_profile profile{};
    memory_limit limit{};
    output_format format = output_format::text;
    inference_sharding sharding{};
    llama_cpp_options llama_cpp{};                     ///< of `--engine llama.cpp`
    std::vector<detail::tensor_override> overrides{};  ///< of `--engine llama.cpp`
    std::optional<parsed_model> draft_model{};         ///< of `--engine llama.cpp`, vllm and sglang
};

/// The memory of one workload.
struct memory_response {
    inference_memory memory{};  ///< of each rank of the stage with the most
    std::int64_t stage = 0;
    layer_range layers{};                  ///< of this stage
    llama_cpp_memory llama_cpp{};          ///< buffers of each device; no devices with another engine
    maybe<std::int64_t> max_gpu_layers{};  ///< of `--engine llama.cpp` with a limit
    maybe<sglang_pools> pools{};           ///< of `--engine sglang` with a limit
    sglang_defaults pool_defaults{};       ///< of `pools`
    maybe<kv_cache_capacity> capacity{};   ///< KV cache that the memory limit leaves; none without a limit

    /// The bytes that a memory limit applies to: llama.cpp's largest device, or all memory of a rank.
    [[nodiscard]] count limited_bytes() const {
        return llama_cpp.devices.empty() ? memory.total_bytes() : detail::largest_device_bytes(llama_cpp);
    }
};

namespace detail {

/// Parses the options of an engine's memory management. Throws: `usage`.
engine_memory_profile parse_engine_memory_profile(const arguments& args);

/// Parses the command line of `llmcost memory`, without the workload. Throws: `usage`.
memory_request parse_memory_request(const arguments& args);

/// The memory of a workload.
memory_response compute(const memory_request& request, const parsed_model& read, const workload& load);

/// The profile for a model: without `--engine`, PyTorch's for a model that reads no tokens and has no KV cache.
engine_memory_profile profile_for_model(const engine_memory_profile& parsed, const arguments& args, const model& m,
                                        const workload& load);

/// The workload of one inference step. Throws: `usage`.
workload memory_workload(const arguments& args);

/// Prints the warning that a weight file differs from the configuration.
///
/// Throws: `unsupported` for a quantization whose layout is not known.
void warn_on_weights(const parsed_model& read, const streams& io);
struct memory_component {
    std::string_view name;
    std::string_view label;
    count bytes;
};

std::vector<memory_component> memory_components(const inference_memory& m);

/// The columns of a table of workloads.
inline constexpr std::array<std::string_view, 6> memory_columns{"weights",          "cache",   "cache_allocated",
                                                                "activations_peak", "runtime", "total"};

svg_picture memory_picture(const parsed_model& read, const workload& load, const inference_memory& m,
                           const memory_limit& limit);

}  // namespace detail

/// Runs `llmcost memory`.
[[nodiscard]] command_output run_memory(const arguments& args, const program& io);

inline constexpr std::array memory_options = concatenate(
    with_section("Model", model_options), with_section("Workload", memory_lists),
    with_section("Multimodal inputs", multimodal_options),
    with_section("Hardware and engine", concatenate(device_list_options, engine_memory_options)),
    with_section("Parallelism", rank_options), with_section("SGLang", sglang_option_specs),
    with_section("llama.cpp", llama_cpp_option_specs),
    with_section("Precision",
                 std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype}),
    with_section("Cost", std::array{option::price}), with_section("Output", std::array{option::format, option::plot}),
    help_option);

inline constexpr std::array<command_example, 5> memory_examples{{
    {"llmcost memory --model meta-llama/Llama-3.1-8B --dtype bfloat16 --sequence 8192 --memory 24GB",
     "a prefill of 8192 tokens in 24 GB"},
    {"llmcost memory --model Qwen/Qwen3-8B --batch 32 --past 4096 --sequence 1 --engine sglang",
     "a decode step of 32 sequences"},
    {"llmcost memory --model Qwen/Qwen3-8B --batch 1,8 --sequence 1024..32768:x2 --memory 80GB",
     "a table of workloads, with those that fit"},
    {"llmcost memory --model Qwen/Qwen3-8B --sequence 8192 --device h100,rtx_4090,l40s",
     "a table of devices: headroom, time, energy"},
    {"llmcost memory --model google/gemma-2-2b --engine none --format json",
     "weights, KV cache and activations in bytes"},
}};

inline constexpr command memory_command{
    .name = "memory",
    .summary = "Compute the memory of an inference step, and whether it fits",
    .usage = "(--model NAME | --config FILE) [options]",
    .description =
        "Computes the memory of an inference step: weights, KV cache as the engine allocates it, activation\n"
        "peak, and the memory of the engine itself. LIST: 1,8,64..512:x2. A list prints a table.\n"
        "--device h100,rtx_4090 or --device all prints a table of devices, with the time of the step.\n"
        "Exit code 8: the step does not fit into --memory or --device.\n",
    .options = memory_options,
    .run = run_memory,
    .examples = memory_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/memory.ipp>  // IWYU pragma: export
#endif
