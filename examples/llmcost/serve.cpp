// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/calibrate.hpp>
#include <llmcost/cli/commands/plan.hpp>
#include <llmcost/cli/commands/serve.hpp>
#include <llmcost/cli/commands/simulate.hpp>
#include <llmcost/cli/request/parse_deployment.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::serve = llmcost::cli::serve_command;
const llmcost::cli::command parts::simulate = llmcost::cli::simulate_command;
const llmcost::cli::command parts::plan = llmcost::cli::plan_command;
const llmcost::cli::command parts::calibrate = llmcost::cli::calibrate_command;

// rows of serve have kernels of their own: both compile them once
llmcost::cli::deployment parts::place(const llmcost::cli::arguments& args, const llmcost::cli::program& io) {
    return llmcost::cli::parse_deployment(args, io);
}
