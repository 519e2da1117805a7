// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/torch/kernel.hpp>

// The options of PyTorch programs, which `latency` and `train` time.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec torch_host{.name = "--host",
                                        .value = "NAME|MICROSECONDS",
                                        .type = value_type::text,
                                        .help =
                                            "host of --engine torch: h100 or h200 (measured), or microseconds per "
                                            "kernel that it launches (default h100)"};

inline constexpr option_spec torch_execution{
    .name = "--execution",
    .value = "TYPE",
    .type = value_type::choice,
    .choices = "graph|stream|eager|compile|reduce-overhead",
    .help =
        "graph: fused kernels in a CUDA graph; stream: fused, launched one by one; eager: not fused; "
        "torch also: compile (torch.compile), reduce-overhead (compile in CUDA graphs) (default graph; "
        "torch: eager)"};
inline constexpr option_spec compile{.name = "--compile",
                                     .aliases = {"--torch-compile"},
                                     .help = "torch.compile of the model (Inductor, on a CUDA device)"};
inline constexpr option_spec compile_mode{
    .name = "--compile-mode",
    .aliases = {"--torch-compile-mode"},
    .value = "MODE",
    .type = value_type::choice,
    .choices = "default|reduce-overhead",
    .help = "mode of torch.compile: default, or reduce-overhead with CUDA graphs (implies --compile)"};
inline constexpr option_spec tf32{.name = "--tf32",
                                  .value = "on|off",
                                  .type = value_type::choice,
                                  .choices = "on|off",
                                  .help =
                                      "of --engine torch: float32 products and convolutions in TF32 (default: "
                                      "convolutions only, as PyTorch)"};

}  // namespace option

/// Name of `--engine` for eager PyTorch.
inline constexpr std::string_view torch_engine_name = "torch";

/// How `--execution` runs a PyTorch program, after the values of an inference engine.
inline constexpr int execution_compile = 3, execution_reduce_overhead = 4;

/// Whether `--compile` or `--compile-mode` requests `torch.compile`.
[[nodiscard]] inline bool is_compiled(const arguments& args) {
    return args.has(option::compile) || args.has(option::compile_mode);
}
/// The mode of `--tf32`.
[[nodiscard]] tf32_mode parse_tf32(const arguments& args);

/// Microseconds per kernel of `--host`. Throws: `usage`.
[[nodiscard]] double parse_torch_host(const arguments& args);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/torch_options.ipp>  // IWYU pragma: export
#endif
