// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/program.hpp>

#include "parts.hpp"

llmcost::cli::program parts::full_program(const llmcost::cli::streams& io) {
    static constexpr const llmcost::cli::command* all[]{
        &page,  &compare,  &formula, &models,    &devices, &memory, &train,  &fit,   &check,  &graph, &op, &latency,
        &serve, &simulate, &plan,    &calibrate, &sweep,   &ops,    &levels, &local, &report, &why,   &mcp};
    return {io, registry, configurations, all, read, place, read_each, verified, chakra};
}
