// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/levels.hpp>
#include <llmcost/cli/commands/ops.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::ops = llmcost::cli::ops_command;
const llmcost::cli::command parts::levels = llmcost::cli::levels_command;
