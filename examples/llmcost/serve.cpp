// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/execution.hpp>
#include <llmcost/cli/plan.hpp>
#include <llmcost/cli/serve.hpp>
#include <llmcost/cli/simulate.hpp>

#include "parts.hpp"

const llmcost::cli::command parts::serve = llmcost::cli::serve_command;
const llmcost::cli::command parts::simulate = llmcost::cli::simulate_command;
const llmcost::cli::command parts::plan = llmcost::cli::plan_command;

// rows of serve have kernels of their own: both compile them once
llmcost::cli::placement parts::place(const llmcost::cli::arguments& given, const llmcost::cli::program& io) {
    return llmcost::cli::read_placement(given, io);
}
