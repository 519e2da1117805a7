// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/devices.hpp>
#include <llmcost/cli/models.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::models = llmcost::cli::models_command;
const llmcost::cli::command parts::devices = llmcost::cli::devices_command;
