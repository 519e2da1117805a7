// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/plotted_pass.hpp>
#include <llmcost/cli/request/training_job_options.hpp>

// `llmcost levels`: a forward pass by model, layers and operation types, or a training step by module.
namespace llmcost::cli {

/// Runs `llmcost levels`.
[[nodiscard]] command_output levels_answer(const arguments& args, const program& io);

inline constexpr std::array levels_options = concatenate(
    pass_options, with_section("Training", std::array{option::training, option::optimizer, option::recomputation}),
    with_section("Output", std::array{option::largest, option::format}), help_option);

inline constexpr std::array<command_example, 3> levels_examples{{
    {"llmcost levels --model openai-community/gpt2", "the model, its layers and operations, largest first"},
    {"llmcost levels --model Qwen/Qwen3-8B --device h200 --top 5", "the slowest five layers and operations"},
    {"llmcost levels --model Qwen/Qwen3-0.6B --device h200 --engine torch --training",
     "forward and backward of each module in a training step of PyTorch"},
}};

inline constexpr command levels_command{
    .name = "levels",
    .summary = "Summarize a forward pass by model, layers and operation types",
    .usage = "(--model NAME | --config FILE) [options]",
    .description =
        "Computes a forward pass at three levels: the model, its layers, and its operation types, largest\n"
        "first. With --device, estimates their times and lists the slowest first. With --training, lists\n"
        "forward, backward and optimizer of a training step by module, with the time of llmcost latency.\n",
    .options = levels_options,
    .run = levels_answer,
    .examples = levels_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/levels.ipp>  // IWYU pragma: export
#endif
