// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>

// The options of eager PyTorch programs, which `latency` and `train` time.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec torch_host{.name = "--host",
                                        .value = "NAME|MICROSECONDS",
                                        .type = value_type::text,
                                        .help =
                                            "host of --engine torch: h100 or h200 (measured), or microseconds per "
                                            "kernel that it launches (default h100)"};

}  // namespace option

/// Name of `--engine` for eager PyTorch.
inline constexpr std::string_view torch_engine_name = "torch";

/// Microseconds per kernel of `--host`. Throws: `usage`.
[[nodiscard]] double parse_torch_host(const arguments& args);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/torch_options.ipp>  // IWYU pragma: export
#endif
