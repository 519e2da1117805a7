// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>

// Parses the queries of a model.
namespace llmcost::cli {

/// The options of a workload that accept lists.
inline constexpr std::array swept_options{accepts_list(option::batch),  accepts_list(option::sequence),
                                          accepts_list(option::past),   accepts_list(option::input),
                                          accepts_list(option::output), accepts_list(option::encoder_sequence)};

/// Parses a query of a model. Throws: `usage`.
[[nodiscard]] request understand(const arguments& args, const parsed_model& read,
                                 std::span<const command* const> commands = {});

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/parse_request.ipp>  // IWYU pragma: export
#endif
