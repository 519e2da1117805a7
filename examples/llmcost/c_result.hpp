// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <llmcost/c/llmcost.h>
#include <llmcost/cli/args/streams.hpp>

/// The output of a command line. Without one, it is that of an error in llmcost.
struct llmcost_result {
    int exit_code = static_cast<int>(llmcost::cli::exit_code::internal);
    std::string output{};
    std::string messages{};
};
