// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/mcp.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::mcp = llmcost::cli::mcp_command;
