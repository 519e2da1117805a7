// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/cli/commands/main.hpp>
#include <llmcost/cli/commands/program.hpp>
#include <llmcost/files/user_files.hpp>

#include "parts.hpp"

int main(int argc, char** argv) {
    llmcost::built_calibrations = LLMCOST_CALIBRATIONS;
    return llmcost::cli::run_commands(llmcost::cli::process_arguments(argc, argv),
                                      parts::full_program(llmcost::cli::process_streams()));
}
