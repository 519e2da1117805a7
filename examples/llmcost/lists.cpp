// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/devices.hpp>
#include <llmcost/cli/commands/models.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::models = llmcost::cli::models_command;
const llmcost::cli::command parts::devices = llmcost::cli::devices_command;
