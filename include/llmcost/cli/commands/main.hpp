// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include <llmcost/cli/args/streams.hpp>

namespace llmcost::cli {

/// The arguments of this process without the program name.
[[nodiscard]] inline std::vector<std::string_view> process_arguments(int argc, const char* const* argv) {
    return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

/// The streams, the environment and the terminal of this process.
[[nodiscard]] streams process_streams();

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/main.ipp>  // IWYU pragma: export
#endif
