// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/serving/llama_cpp_server.hpp>

// `llmcost serve --engine llama.cpp`: llama-server with parallel slots.
namespace llmcost::cli {

namespace detail {

/// The metrics of a number of users.
struct llama_cpp_serve_row {
    llama_cpp_load load{};
    llama_cpp_serving_metrics metrics{};
    llama_cpp_serving_metrics lower{};  ///< of the shortest times of the intervals
    llama_cpp_serving_metrics upper{};  ///< of the longest times
    llama_cpp_memory memory{};
};

/// Runs `llmcost serve --engine llama.cpp`.
[[nodiscard]] command_output run_llama_cpp_serve(const arguments& args, const program& io);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/llama_cpp_serve.ipp>  // IWYU pragma: export
#endif
