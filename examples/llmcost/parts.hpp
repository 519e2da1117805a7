// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/command.hpp>

#include "registry.hpp"

// The program's parts. With LLMCOST_BUILD_PARTS each is compiled by itself: what is changed is compiled, and nothing
// else.
namespace parts {

extern const llmcost::cli::command page, compare, formula, models, devices, memory, train, fit, check, graph, op,
    latency, serve, simulate, plan, calibrate, sweep, ops, levels, local, report, why, mcp;
extern const llmcost::cli::trace_writer chakra;
llmcost::cli::parsed_model read(const llmcost::cli::arguments& args, const llmcost::cli::program& io);
llmcost::cli::deployment place(const llmcost::cli::arguments& args, const llmcost::cli::program& io);
bool read_each(const llmcost::cli::arguments& args, const llmcost::cli::program& io, llmcost::cli::model_sink& sink);

/// The program: all of its parts.
llmcost::cli::program full_program(const llmcost::cli::streams& io);

}  // namespace parts
