// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>

// `llmcost formula`: metrics as polynomials in batch, sequence and past, with their ranges of validity.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec formula_format{
    .name = "--format",
    .value = "FORMAT",
    .type = value_type::choice,
    .choices = "text|latex|c|python|json",
    .help = "functions of B, S and P as text, latex, c, python or json (default text)"};
inline constexpr option_spec formula_terms{.name = "--terms",
                                           .help = "print a sum over modules; equal terms of layers are combined"};
inline constexpr option_spec named_sizes{
    .name = "--named-sizes",
    .help = "print coefficients as polynomials in the sizes of the model: h, L, V, heads; text or latex"};

}  // namespace option

/// Runs `llmcost formula`.
[[nodiscard]] command_output run_formula(const arguments& args, const program& io);

/// The completions of the arguments: metrics and scopes.
[[nodiscard]] std::vector<std::string_view> formula_completions(const program&);

inline constexpr std::array formula_options = concatenate(
    with_section("Model", model_options),
    with_section("Workload", std::array{option::encoder_sequence, option::logits, option::attention}),
    with_section("Multimodal inputs", multimodal_options),
    with_section("Precision",
                 std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype}),
    with_section("Output", std::array{option::formula_terms, option::named_sizes, option::formula_format}),
    help_option);

inline constexpr std::array<command_example, 5> formula_examples{{
    {"llmcost formula --model meta-llama/Llama-3.2-1B add attn", "additions of attention"},
    {"llmcost formula --model meta-llama/Llama-3.2-1B mult attn --terms", "one term per module"},
    {"llmcost formula --model meta-llama/Llama-3.2-1B mult --named-sizes", "in hidden size, layers and heads"},
    {"llmcost formula --model google/gemma-2-2b mult flops --format c", "C functions"},
    {"llmcost formula --model Qwen/Qwen3-Next-80B-A3B-Instruct cache --format latex", "LaTeX, for a paper"},
}};

inline constexpr command formula_command{
    .name = "formula",
    .summary = "Derive metrics as polynomials in batch, sequence and past",
    .usage = "(--model NAME | --config FILE) [options] [METRIC...] [SCOPE]",
    .description =
        "Derives metrics as functions of B sequences with S new tokens and P tokens in the KV cache, or of\n"
        "B images of a fixed size. The functions are polynomials with their ranges of validity. They are\n"
        "interpolated from exact counts and verified at further points. The default METRIC is flops.\n",
    .options = formula_options,
    .run = run_formula,
    .examples = formula_examples,
    .completions = formula_completions};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/formula.ipp>  // IWYU pragma: export
#endif
