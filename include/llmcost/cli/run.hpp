// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>

#include <llmcost/bundled/all.hpp>
#include <llmcost/cli/commands/calibrate.hpp>
#include <llmcost/cli/commands/check.hpp>
#include <llmcost/cli/commands/compare.hpp>
#include <llmcost/cli/commands/default_command.hpp>
#include <llmcost/cli/commands/devices.hpp>
#include <llmcost/cli/commands/fit.hpp>
#include <llmcost/cli/commands/formula.hpp>
#include <llmcost/cli/commands/graph.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/levels.hpp>
#include <llmcost/cli/commands/local.hpp>
#include <llmcost/cli/commands/mcp.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/models.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/ops.hpp>
#include <llmcost/cli/commands/plan.hpp>
#include <llmcost/cli/commands/program.hpp>
#include <llmcost/cli/commands/report.hpp>
#include <llmcost/cli/commands/serve.hpp>
#include <llmcost/cli/commands/simulate.hpp>
#include <llmcost/cli/commands/sweep.hpp>
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/commands/why.hpp>
#include <llmcost/cli/request/config_lookup.hpp>
#include <llmcost/cli/request/for_each_model.hpp>
#include <llmcost/cli/request/parse_deployment.hpp>
#include <llmcost/generated/verified_types.hpp>
#include <llmcost/registry.hpp>

// The whole program: all commands, all rows, all bundled configurations.
namespace llmcost::cli {

/// All commands, in the order of the help; the front page, which has no name, is the first.
inline constexpr std::array all_commands{
    &page_command,   &compare_command,  &formula_command, &models_command,    &devices_command, &memory_command,
    &train_command,  &fit_command,      &check_command,   &graph_command,     &op_command,      &latency_command,
    &serve_command,  &simulate_command, &plan_command,    &calibrate_command, &sweep_command,   &ops_command,
    &levels_command, &local_command,    &report_command,  &why_command,       &mcp_command};

/// A program that knows everything.
[[nodiscard]] inline program whole_program(const streams& io) {
    return {io,          all_models,       bundled_configs,   all_commands,
            parse_model, parse_deployment, read_each_subject, every_verified};
}

/// Runs the program: reads arguments (without its own name), writes the answer to `io.out` at once, or an error to
/// `io.err`.
///
/// Gives the exit code; throws nothing that is not thrown by the streams.
[[nodiscard]] inline int run(std::span<const std::string_view> args, const streams& io) {
    return run_commands(args, whole_program(io));
}

}  // namespace llmcost::cli
