// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

#include <llmcost/cli/run.hpp>

#include <unistd.h>

namespace llmcost::cli {

/// Runs the program with the streams, the environment and the arguments of this process.
[[nodiscard]] inline int run_main(int argc, const char* const* argv) {
    const std::vector<std::string_view> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    std::ios::sync_with_stdio(false);
    return run(args, {std::cout, std::cerr, std::cin, [](const char* name) { return std::getenv(name); },
                      isatty(STDOUT_FILENO) == 1, isatty(STDIN_FILENO) == 1});
}

}  // namespace llmcost::cli
