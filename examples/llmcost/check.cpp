// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/check.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::check = llmcost::cli::check_command;
