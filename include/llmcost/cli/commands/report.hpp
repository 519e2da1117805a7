// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/report_data.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/commands/train.hpp>

// `llmcost report`: an HTML page of a model and a workload, and its charts as files.
namespace llmcost::cli {

/// Runs `llmcost report`. Writes the page to its file, or to standard output.
[[nodiscard]] command_output run_report(const arguments& args, const program& io);

inline constexpr std::array report_options = concatenate(
    with_section("Model", model_options),
    with_section("Workload",
                 concatenate(report_lists, std::array{option::encoder_sequence, option::logits, option::attention})),
    with_section("Multimodal inputs", multimodal_options), with_section("Training", std::array{option::with_step}),
    without_first_section(training_options),
    with_section(
        "Hardware and engine",
        std::array{option::reported_on, option::calibration,
                   with_help(option::allocator,
                             "engine whose memory management is used: vllm, sglang, trtllm, transformers, "
                             "pytorch or none (default vllm; pytorch for models without tokens); torch: memory "
                             "and times of PyTorch"),
                   option::torch_execution, option::torch_host, option::tf32}),
    with_section("Precision",
                 std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype}),
    with_section("Output", std::array{option::html, option::svg}), help_option);

inline constexpr std::array<command_example, 3> report_examples{{
    {"llmcost report --model meta-llama/Llama-3.2-1B --html llama.html", "a report of one model"},
    {"llmcost report --model Qwen/Qwen3-8B --device h200 --training --precision bf16 --html qwen.html",
     "a report with a training step"},
    {"llmcost report --model openai-community/gpt2 --batch 1,8,64 --sequence 128..1024:x2 --svg pictures",
     "charts as SVG files"},
}};

inline constexpr command report_command{
    .name = "report",
    .summary = "Write an HTML report of a model and a workload",
    .usage = "(--model NAME | --config FILE) [options]",
    .description =
        "Writes an HTML page without external resources: metrics, memory, modules, a roofline, the graph\n"
        "of a layer, and sweeps. LIST, e.g. 1,8,64..512:x2, sets the values of a sweep; its first value is\n"
        "the workload of all other sections.\n"
        "Exit code 8: the workload does not fit into the memory of --device.\n",
    .options = report_options,
    .run = run_report,
    .examples = report_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/report.ipp>  // IWYU pragma: export
#endif
