// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/streams.hpp>

#include <unistd.h>

namespace llmcost::cli {

/// The arguments of this process without the program name.
[[nodiscard]] inline std::vector<std::string_view> process_arguments(int argc, const char* const* argv) {
    return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

/// The streams, the environment and the terminal of this process.
[[nodiscard]] inline streams process_streams() {
    std::ios::sync_with_stdio(false);
    return {std::cout,
            std::cerr,
            std::cin,
            [](const char* name) { return std::getenv(name); },
            isatty(STDOUT_FILENO) == 1,
            isatty(STDIN_FILENO) == 1};
}

}  // namespace llmcost::cli
