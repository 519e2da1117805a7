// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>

// `llmcost mcp`: a Model Context Protocol server on standard input and output.
//
// Source: Model Context Protocol, specification (basic/lifecycle, basic/transports, server/tools, server/discover).
namespace llmcost::cli {

/// The protocol versions, oldest first. Clients negotiate the last one by `server/discover` and a version in each
/// request, the others by `initialize`. Source: Model Context Protocol, changelog of each version.
inline constexpr std::array<std::string_view, 5> mcp_versions{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
                                                              "2026-07-28"};

/// The state of a connection: answers JSON-RPC 2.0 messages.
class mcp_connection {
public:
    /// `is_offline`: the tools do not use the network.
    mcp_connection(const program& io, bool is_offline) : io_(&io), is_offline_(is_offline) {}

    /// The response to a message, without line breaks; empty for a notification. An error is a response, too.
    [[nodiscard]] std::string answer(std::string_view message);

private:
    const program* io_;
    bool is_offline_;
    std::string_view version_ = mcp_versions[3];  ///< of `initialize`, or the newest that `initialize` negotiates
};

/// Runs `llmcost mcp` until standard input ends. Throws: `output` if the client is gone.
[[nodiscard]] command_output run_mcp(const arguments& args, const program& io);

inline constexpr std::array mcp_options = concatenate(with_section("Server", std::array{option::offline}), help_option);

inline constexpr std::array<command_example, 2> mcp_examples{{
    {"claude mcp add llmcost -- llmcost mcp", "add the server to Claude Code"},
    {"llmcost mcp --offline", "only local files, cached and bundled configurations"},
}};

inline constexpr command mcp_command{
    .name = "mcp",
    .summary = "Serve the commands as tools of the Model Context Protocol (MCP)",
    .usage = "[options]",
    .description =
        "Reads JSON-RPC 2.0 messages of the Model Context Protocol from standard input, one per line, and\n"
        "writes the responses to standard output, until the input ends. Tools: count, memory, fit, train,\n"
        "latency, serve, compare, models. See docs/mcp.md.\n",
    .options = mcp_options,
    .run = run_mcp,
    .examples = mcp_examples};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/mcp.ipp>  // IWYU pragma: export
#endif
