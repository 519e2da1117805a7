// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/main.hpp>

#include <cstdlib>
#include <iostream>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/system.hpp>

namespace llmcost::cli {

LLMCOST_INLINE streams process_streams() {
    std::ios::sync_with_stdio(false);
    namespace sys = llmcost::detail::sys;
    sys::prepare_standard_streams();
    return {std::cout,
            std::cerr,
            std::cin,
            [](const char* name) { return std::getenv(name); },
            sys::is_output_terminal(),
            sys::is_input_terminal(),
            sys::terminal_columns()};
}

}  // namespace llmcost::cli
