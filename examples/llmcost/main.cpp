// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/main.hpp>
#include <llmcost/cli/program.hpp>

#include "parts.hpp"

int main(int argc, char** argv) {
    static constexpr const llmcost::cli::command* all[]{
        &parts::page,  &parts::compare, &parts::formula, &parts::models, &parts::devices, &parts::memory,
        &parts::train, &parts::fit,     &parts::check,   &parts::graph,  &parts::op,      &parts::latency,
        &parts::serve, &parts::simulate, &parts::plan,   &parts::ops,    &parts::levels,  &parts::report,
        &parts::why};
    return llmcost::cli::run_commands(llmcost::cli::own_arguments(argc, argv),
                                      {llmcost::cli::own_streams(), parts::rows, parts::configurations, all, parts::read,
                                       parts::place, parts::read_each, parts::verified, parts::chakra});
}
