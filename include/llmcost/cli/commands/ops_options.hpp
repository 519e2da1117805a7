// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/cli/args/options.hpp>

// The options of `llmcost ops` in addition to those of a pass.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec backward =
    with_help(option_spec{.name = "--backward"}, "include the backward pass and gradients of a training step");
inline constexpr option_spec bookkeeping{.name = "--bookkeeping",
                                         .help = "include operations without cost: view, transpose ..."};
inline constexpr option_spec expand{.name = "--expand", .help = "list each layer separately"};
inline constexpr option_spec group{.name = "--group",
                                   .value = "GROUP",
                                   .type = value_type::choice,
                                   .choices = "kind|module|layer",
                                   .help = "group operations by kind, module or layer"};
inline constexpr option_spec sort{.name = "--sort",
                                  .value = "KEY",
                                  .type = value_type::choice,
                                  .choices = "name|flops|bytes|intensity|params|kept|time",
                                  .help =
                                      "sort key: name, or largest first by flops, bytes, intensity, params, kept "
                                      "(bytes saved for backward) or time (default: execution order)"};
inline constexpr option_spec filter{.name = "--filter",
                                    .value = "TEXT",
                                    .type = value_type::text,
                                    .help = "only rows whose name, operation or class contains TEXT"};

}  // namespace option

namespace detail {

/// The keys of `--sort`.
enum class sort_field : std::uint8_t { name, flops, bytes, intensity, params, saved, time };

}  // namespace detail

}  // namespace llmcost::cli
