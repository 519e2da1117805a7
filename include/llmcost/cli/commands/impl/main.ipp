// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/main.hpp>

#include <cstdlib>
#include <iostream>

#include <llmcost/base/inline.hpp>

namespace llmcost::cli {

LLMCOST_INLINE streams process_streams() {
    std::ios::sync_with_stdio(false);
    return {std::cout,
            std::cerr,
            std::cin,
            [](const char* name) { return std::getenv(name); },
            isatty(STDOUT_FILENO) == 1,
            isatty(STDIN_FILENO) == 1};
}

}  // namespace llmcost::cli
