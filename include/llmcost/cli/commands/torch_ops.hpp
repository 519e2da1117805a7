// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/plotted_pass.hpp>

namespace llmcost::cli::detail {

/// The output of `llmcost ops --engine torch`: the ATen operators of a step, as PyTorch's profiler lists them.
///
/// A row is an operator with its phase, type and operands; with `--group kind`, all calls of an operator.
/// Throws: `usage` for options that these rows do not have.
[[nodiscard]] command_output list_torch_operators(const arguments& args, const drawn_pass& d);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/torch_ops.ipp>  // IWYU pragma: export
#endif
