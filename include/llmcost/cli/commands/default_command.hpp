// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <utility>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/shell.hpp>
#include <llmcost/cli/pages/convention_page.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/cli/request/request.hpp>

// The default command: front page, queries, lists, version, man page and completions.
namespace llmcost::cli {

inline constexpr std::array page_options = concatenate(
    with_section("Model", concatenate(model_options, std::array{option::mtp})),
    with_section("Workload",
                 concatenate(swept_options, std::array{option::ragged_batch, option::logits, option::attention})),
    with_section("Multimodal inputs", multimodal_options),
    with_section("Training", std::array{option::training, option::adapter}),
    with_section("Precision",
                 std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype}),
    with_section("Output",
                 std::array{option::format, option::plot, option::scopes, option::tensors, option::tree, option::depth,
                            option::unused, option::convention, option::color, option::no_color}),
    with_section("Program", std::array{option::completion, option::man, option::version}), help_option);

/// The output of a request in its format.
[[nodiscard]] std::string answer(const request& q);

/// Runs the default command.
[[nodiscard]] command_output run_default(const arguments& args, const program& io);

inline constexpr std::array<command_example, 7> page_examples{{
    {"llmcost --model meta-llama/Llama-3.2-1B", "the front page: parameters, bytes, counts"},
    {"llmcost --config config.json --batch 16 --sequence 200 mult attn", "multiplications of attention"},
    {"llmcost --model Qwen/Qwen3-0.6B --tree --depth 3 params flops", "the module tree with two columns"},
    {"llmcost --model google/gemma-2-2b --input 1000 --output 200", "prefill and decode of a request"},
    {"llmcost --model Qwen/Qwen3-0.6B --model google/gemma-2-2b params flops", "a table with one row per model"},
    {"llmcost --model Qwen/Qwen3-0.6B --batch 1,8 --sequence 1024..131072:x2 --format csv",
     "a table with one row per workload"},
    {"llmcost --config - --set num_hidden_layers=2 --format json --scopes", "all modules as JSON"},
}};

inline constexpr command page_command{
    .name = "",
    .summary = "Compute the exact cost of a neural network from its config.json",
    .usage = "(--model NAME | --config FILE)... [options] [METRIC...] [SCOPE]",
    .description =
        "Computes the exact cost of a forward pass: FLOPs, operations by type, parameters, KV cache and\n"
        "activations. Without METRIC and SCOPE, prints the front page of the model.\n"
        "\n"
        "METRIC: add, mult ... flops, params, cache, act. SCOPE: attn, mlp ... all, a class such as\n"
        "torch.nn.Linear, or a module path such as model.layers.*.mlp. LIST: 1,8,64..512:x2.\n",
    .options = page_options,
    .run = run_default,
    .examples = page_examples,
    .completions = query_completions};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/default_command.ipp>  // IWYU pragma: export
#endif
