// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/llama_cpp_device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>

// `llmcost local`: the GGUF models that run on a local machine, and their speed with llama.cpp.
namespace llmcost::cli {

/// A bundled model and the types of its published GGUF files.
struct local_model {
    std::string_view name;
    std::string_view first_quantization = "q4_k_m";
    std::string_view second_quantization = "q8_0";
};

/// The models of `llmcost local`, smallest first.
inline constexpr local_model local_models[]{
    {"meta-llama/Llama-3.2-3B-Instruct"},
    {"google/gemma-3-4b-it"},
    {"Qwen/Qwen3-4B"},
    {"mistralai/Mistral-7B-Instruct-v0.3"},
    {"meta-llama/Llama-3.1-8B-Instruct"},
    {"Qwen/Qwen3-8B"},
    {"microsoft/phi-4"},
    {"Qwen/Qwen3-14B"},
    {"openai/gpt-oss-20b", "mxfp4", {}},
    {"google/gemma-4-26B-A4B-it"},
    {"Qwen/Qwen3-30B-A3B"},
    {"Qwen/Qwen3-32B"},
    {"mistralai/Mixtral-8x7B-Instruct-v0.1"},
    {"meta-llama/Llama-3.3-70B-Instruct"},
    {"Qwen/Qwen3-Next-80B-A3B-Instruct"},
    {"openai/gpt-oss-120b", "mxfp4", {}},
    {"Qwen/Qwen3-235B-A22B"},
};

/// Runs `llmcost local`.
[[nodiscard]] command_output run_local(const arguments& args, const program& io);

inline constexpr std::array local_options =
    concatenate(with_section("Hardware", std::array{option::device, option::ram, option::backend, option::host_device}),
                with_section("Workload", std::array{option::local_context, option::cache_type_k, option::cache_type_v,
                                                    option::flash_attn, option::ubatch_size}),
                with_section("Model", concatenate(std::array{option::quantization}, model_options)),
                with_section("Output", std::array{option::format}), help_option);

inline constexpr std::array<command_example, 3> local_examples{{
    {"llmcost local --device \"RTX 4070 Ti SUPER\" --ram 64GB", "the models that run on this card"},
    {"llmcost local --model Qwen/Qwen3-30B-A3B", "the devices that run this model"},
    {"llmcost local --device raspberry_pi_5 --ram 8GB --format json", "members of each row"},
}};

inline constexpr command local_command{
    .name = "local",
    .summary = "List the GGUF models that run on a local machine, and their speed",
    .usage = "(--device NAME [--ram SIZE] | --model NAME) [options]",
    .description =
        "Lists popular models by quantization that fit into the memory of a device: file size, largest\n"
        "context, prompt and generation speed with llama.cpp. With --ram, layers or experts that do not fit\n"
        "into the device stay on the CPU. With --model, lists the devices that run one model.\n",
    .options = local_options,
    .run = run_local,
    .examples = local_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/local.ipp>  // IWYU pragma: export
#endif
