// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/pages/convention_page.hpp>

// `llmcost why`: explains the difference from another FLOP counter.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec counter{.name = "--against",
                                     .value = "TOOL",
                                     .type = value_type::text,
                                     .help = "counter to compare line by line (default: table of all counters)",
                                     .completions = detail::counter_names};
inline constexpr option_spec counted_attention{.name = "--attention-implementation",
                                               .value = "TYPE",
                                               .type = value_type::choice,
                                               .choices = "eager|sdpa",
                                               .help = "eager, or sdpa (fused) (default eager)"};
inline constexpr option_spec counted_tensors{
    .name = "--tensors-as",
    .value = "TYPE",
    .type = value_type::choice,
    .choices = "real|meta",
    .help = "tensors with which the counter is run: real or meta (default real)"};

}  // namespace option

/// Runs `llmcost why`.
[[nodiscard]] command_output run_why(const arguments& args, const program& io);

inline constexpr std::array why_options = concatenate(
    with_section("Model", model_options),
    with_section("Counter", std::array{option::counter, option::counted_attention, option::counted_tensors}),
    with_section("Workload",
                 std::array{option::batch, option::sequence, option::past, option::encoder_sequence, option::logits}),
    with_section("Multimodal inputs", multimodal_options), with_section("Output", std::array{option::format}),
    help_option);

inline constexpr std::array<command_example, 3> why_examples{{
    {"llmcost why --model meta-llama/Llama-3.2-1B --batch 16 --sequence 200", "a table of all counters"},
    {"llmcost why --model openai-community/gpt2 --against calflops", "the difference line by line"},
    {"llmcost why --model Qwen/Qwen3-0.6B --against thop --format json", "the difference as JSON"},
}};

inline constexpr command why_command{
    .name = "why",
    .summary = "Explain the difference from other FLOP counters",
    .usage = "(--model NAME | --config FILE) [--against TOOL] [options]",
    .description =
        "Computes what other FLOP counters report for a forward pass. With --against, explains the\n"
        "difference from one counter line by line: operations, both counts, reason and source line.\n",
    .options = why_options,
    .run = run_why,
    .examples = why_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/why.ipp>  // IWYU pragma: export
#endif
