// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/main.hpp>
#include <llmcost/cli/program.hpp>
#include <llmcost/files/own_files.hpp>

#include "parts.hpp"

int main(int argc, char** argv) {
    llmcost::built_calibrations = LLMCOST_CALIBRATIONS;
    return llmcost::cli::run_commands(llmcost::cli::own_arguments(argc, argv), parts::whole(llmcost::cli::own_streams()));
}
