// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/maybe.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/engine_memory_options.hpp>
#include <llmcost/cli/args/llama_cpp_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/sglang_options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/rank_options.hpp>
#include <llmcost/files/engine_log.hpp>

// `llmcost check --engine-log`: compares the start-up log of an engine with the prediction of `llmcost memory`.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec engine_log{
    .name = "--engine-log",
    .value = "FILE",
    .type = value_type::file,
    .help = "start-up log of vllm, sglang or llama.cpp: compares its memory with the prediction"};

}  // namespace option

/// The options that a log states, and that a command line may replace.
inline constexpr std::array engine_log_overrides =
    concatenate(std::array{option::device, option::memory, option::memory_sequence, option::past, option::batch},
                engine_memory_options, rank_options, sglang_option_specs, llama_cpp_option_specs,
                std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype});

namespace detail {

/// A figure of a log with its prediction.
struct log_comparison {
    log_figure measured{};
    maybe<double> predicted{};
    std::string note{};  ///< terms of the prediction, or why there is none

    /// (predicted / measured − 1) · 100.
    [[nodiscard]] maybe<double> difference_percent() const;
};

/// The command line of `llmcost memory` for a log: options of the command line, then those of the log.
[[nodiscard]] std::vector<std::string> memory_command_line(const engine_log& log, const arguments& args,
                                                           const program& io);

}  // namespace detail

/// Runs `llmcost check --engine-log`.
///
/// Throws: `bad_value` for a file without a known line; `usage` if neither the log nor the command line has a model.
[[nodiscard]] command_output run_engine_log_check(const arguments& args, const program& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/engine_log_check.ipp>  // IWYU pragma: export
#endif
