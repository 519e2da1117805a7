// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <span>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/pages/help.hpp>
#include <llmcost/text/error.hpp>

// Runs a command: arguments in, output and exit code out.
namespace llmcost::cli {

/// The exit code of an error.
[[nodiscard]] constexpr exit_code exit_code_of(errc code) noexcept {
    switch (code) {
        case errc::usage: return exit_code::usage;
        case errc::input: return exit_code::input;
        case errc::output: return exit_code::write_error;
        case errc::network: return exit_code::network;
        case errc::overflow: return exit_code::overflow;
        case errc::does_not_fit: return exit_code::does_not_fit;
        case errc::unknown_model_type:
        case errc::missing_key:
        case errc::bad_value:
        case errc::unsupported:
        case errc::io:
        case errc::not_found:
        case errc::no_access: break;
    }
    return exit_code::configuration;
}

/// Writes the message of the exception that is being handled to `io.err`, with a hint for a usage error of a command
/// line; returns the exit code. Call it in a `catch` block.
int report_current_exception(const program& io, const command& c, std::span<const std::string_view> args);

/// Runs a command of the program. Writes its output to `io.out`, or an error to `io.err`; returns the exit code.
///
/// `args` does not contain the program name. Throws only exceptions of the streams.
[[nodiscard]] int run_commands(std::span<const std::string_view> args, const program& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/program.ipp>  // IWYU pragma: export
#endif
