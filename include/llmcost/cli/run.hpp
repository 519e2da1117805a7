// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>

#include <llmcost/bundled/all.hpp>
#include <llmcost/bundled/verified_types.hpp>
#include <llmcost/cli/check.hpp>
#include <llmcost/cli/compare.hpp>
#include <llmcost/cli/devices.hpp>
#include <llmcost/cli/each_source.hpp>
#include <llmcost/cli/execution.hpp>
#include <llmcost/cli/fit.hpp>
#include <llmcost/cli/formula.hpp>
#include <llmcost/cli/graph.hpp>
#include <llmcost/cli/latency.hpp>
#include <llmcost/cli/levels.hpp>
#include <llmcost/cli/memory.hpp>
#include <llmcost/cli/models.hpp>
#include <llmcost/cli/op.hpp>
#include <llmcost/cli/ops.hpp>
#include <llmcost/cli/page.hpp>
#include <llmcost/cli/plan.hpp>
#include <llmcost/cli/program.hpp>
#include <llmcost/cli/report.hpp>
#include <llmcost/cli/serve.hpp>
#include <llmcost/cli/simulate.hpp>
#include <llmcost/cli/source.hpp>
#include <llmcost/cli/train.hpp>
#include <llmcost/cli/why.hpp>
#include <llmcost/registry.hpp>

// The whole program: all commands, all rows, all bundled configurations.
namespace llmcost::cli {

/// All commands, in the order of the help; the front page, which has no name, is the first.
inline constexpr std::array all_commands{
    &page_command,  &compare_command, &formula_command, &models_command, &devices_command, &memory_command,
    &train_command, &fit_command,     &check_command,   &graph_command,  &op_command,      &latency_command,
    &serve_command, &simulate_command, &plan_command,   &ops_command,    &levels_command,  &report_command,
    &why_command};

/// A program that knows everything.
[[nodiscard]] inline program whole_program(const streams& io) {
    return {
        io, every_model, bundled_configs, all_commands, read_subject_of, read_placement, read_each_subject, every_verified};
}

/// Runs the program: reads arguments (without its own name), writes the answer to `io.out` at once, or an error to `io.err`.
///
/// Gives the exit code; throws nothing that is not thrown by the streams.
[[nodiscard]] inline int run(std::span<const std::string_view> args, const streams& io) {
    return run_commands(args, whole_program(io));
}

}  // namespace llmcost::cli
