// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/default_command.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::page = llmcost::cli::page_command;
