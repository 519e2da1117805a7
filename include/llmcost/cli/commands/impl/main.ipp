// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/main.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <iostream>

#include <llmcost/base/inline.hpp>

namespace llmcost::cli {

LLMCOST_INLINE streams process_streams() {
    std::ios::sync_with_stdio(false);
    std::size_t columns = 0;
    if (winsize size{}; ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    return {std::cout,
            std::cerr,
            std::cin,
            [](const char* name) { return std::getenv(name); },
            isatty(STDOUT_FILENO) == 1,
            isatty(STDIN_FILENO) == 1,
            columns};
}

}  // namespace llmcost::cli
