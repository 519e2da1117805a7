// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/llama_cpp_latency.hpp>
#include <llmcost/cli/commands/llama_cpp_placement.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/serving/llama_cpp_step.hpp>

// `llmcost fit --engine llama.cpp`: the placements of a GGUF file that fit into a machine, fastest first.
namespace llmcost::cli {

namespace detail {

/// A placement with its memory and speed.
struct llama_cpp_fit {
    placed_model placed{};
    std::string_view key_type{};    ///< `--cache-type-k`
    std::string_view value_type{};  ///< `--cache-type-v`
    cache_request cache{};
    std::int64_t max_context = 0;  ///< largest context of each sequence that fits
    llama_cpp_memory memory{};
    llama_cpp_step_time prompt{};
    llama_cpp_step_time generation{};
};

/// The options of llama-server for a placement, after the file.
[[nodiscard]] std::vector<std::string> llama_server_options(const llama_cpp_fit& fit, const arguments& args);

/// Runs `llmcost fit --engine llama.cpp`.
[[nodiscard]] command_output run_llama_cpp_fit(const arguments& args, const program& io);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/llama_cpp_fit.ipp>  // IWYU pragma: export
#endif
