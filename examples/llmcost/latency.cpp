// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/local.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::latency = llmcost::cli::latency_command;
const llmcost::cli::command parts::local = llmcost::cli::local_command;
