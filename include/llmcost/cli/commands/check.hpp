// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/engine_log_check.hpp>
#include <llmcost/files/check_tensors.hpp>
#include <llmcost/files/stored_tensor.hpp>

// `llmcost check`: compares the tensors of a weight file with those that its configuration predicts, or an engine log.
namespace llmcost::cli {

namespace detail {

/// A comparison: the model name, the tensors of the file, and the differences.
struct checked_file {
    std::string name;
    const stored_tensors& weights;
    const tensor_check& found;
    const std::string& head;  ///< as `parsed_model::head`
};

}  // namespace detail

/// Runs `llmcost check`. The exit code is `mismatch` if the file and the configuration differ.
[[nodiscard]] command_output run_check(const arguments& args, const program& io);

inline constexpr std::array check_options =
    concatenate(with_section("Model", model_options), with_section("Engine log", std::array{option::engine_log}),
                engine_log_overrides, with_section("Output", std::array{option::format}), help_option);

inline constexpr std::array<command_example, 3> check_examples{{
    {"llmcost check --gguf model-Q4_K_M.gguf", "a GGUF file and its own metadata"},
    {"llmcost check --model meta-llama/Llama-3.2-1B --safetensors .", "a checkpoint and its configuration"},
    {"llmcost check --engine-log server.log --device h100", "the memory that an engine logged, and the prediction"},
}};

inline constexpr command check_command{
    .name = "check",
    .summary = "Compare a weight file or an engine log with the prediction",
    .usage = "(--gguf FILE | --safetensors PATH | --engine-log FILE) [--model NAME] [options]",
    .description =
        "Compares the tensors of a weight file with those that its configuration predicts: names, shapes\n"
        "and types. Reads only the headers of the file, and two tables if its head may be tied.\n"
        "Exit code 9: the tensors differ. The differences are printed.\n"
        "--engine-log reads the start-up log of vllm, sglang or llama.cpp and compares its figures with those\n"
        "of llmcost memory. Model and options are those of the log; options of the command line replace them.\n",
    .options = check_options,
    .run = run_check,
    .examples = check_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/check.ipp>  // IWYU pragma: export
#endif
