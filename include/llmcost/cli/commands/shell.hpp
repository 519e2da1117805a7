// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/streams.hpp>

// The man page and the shell completions, from the table of commands.
namespace llmcost::cli {

/// The supported shells, in the order of `--completion`.
enum class shell { bash, zsh, fish };

/// The completions of positional arguments: metrics, roles and commands.
[[nodiscard]] std::vector<std::string_view> query_completions(const program& io);

/// The completion script of a shell.
[[nodiscard]] std::string completion(shell target, const program& io);

/// The man page, in the roff of man(7).
[[nodiscard]] std::string man_page(const program& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/shell.ipp>  // IWYU pragma: export
#endif
