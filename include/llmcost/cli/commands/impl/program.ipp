// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/program.hpp>

#include <algorithm>
#include <exception>
#include <fstream>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/help.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// Prints an error in one line without control characters; returns the exit code.
LLMCOST_INLINE int fail(const streams& io, std::string_view message, exit_code code) {
    io.err << "llmcost: " << printable(message) << '\n';
    io.err.flush();
    return static_cast<int>(code);
}

/// Whether the arguments contain `--help`. All other arguments are then ignored.
LLMCOST_INLINE bool has_help_option(std::span<const std::string_view> args) {
    const auto end = std::find(args.begin(), args.end(), "--");
    return std::any_of(args.begin(), end, [](std::string_view arg) { return option::help.is_named(arg); });
}

LLMCOST_INLINE command_output answer_of(const command& c, std::span<const std::string_view> args, const program& io) {
    if (has_help_option(args)) return c.name.empty() ? help_text(io) : help_text(c);
    const arguments parsed_args(c.name, options_of(c, args), args);
    if (c.completions == nullptr && !parsed_args.positional().empty())
        throw_usage(c.name, "expected only options, found " + quote(parsed_args.positional().front()));
    return c.run(parsed_args, io);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE int run_commands(std::span<const std::string_view> args, const program& io) {
    const std::string_view first = args.empty() ? std::string_view{} : args.front();
    const command* const named = find_command(io.commands, first);
    const command& selected_command = named == nullptr ? *io.commands.front() : *named;
    if (named != nullptr) args = args.subspan(1);
    command_output got;
    try {
        got = detail::answer_of(selected_command, args, io);
    } catch (const error& e) {
        std::string hint;
        if (e.code() == errc::usage && named == nullptr) hint = suggest_command(io.commands, first);
        if (e.code() == errc::usage && hint.empty())
            hint = suggest_command_for_option(io.commands, selected_command, args);
        return detail::fail(io, e.what() + hint, exit_code_of(e.code()));
    } catch (const overflow_error& e) {
        return detail::fail(io, e.what(), exit_code::overflow);
    } catch (const workload_error& e) {
        const bool sequence = has_option(selected_command.options, option::sequence.name);
        return detail::fail(
            io, positions_text(e) + (sequence ? " (--sequence, --past, --encoder-sequence)" : " (--input, --output)"),
            exit_code::usage);
    } catch (const description_error& e) {
        return detail::fail(io, std::string("the configuration is not supported: ") + e.what(),
                            exit_code::configuration);
    } catch (const std::bad_alloc&) {
        return detail::fail(io, "out of host memory", exit_code::overflow);
    } catch (const std::exception& e) {
        return detail::fail(io, std::string("internal error (a bug in llmcost): ") + e.what(), exit_code::internal);
    }
    if (!got.file.name.empty()) {
        std::ofstream file(got.file.name, std::ios::binary);
        file.write(got.file.text.data(), static_cast<std::streamsize>(got.file.text.size()));
        file.close();
        if (!file) return detail::fail(io, got.file.name + ": cannot be written", exit_code::write_error);
    }
    io.out.write(got.text.data(), static_cast<std::streamsize>(got.text.size()));
    io.out.flush();
    return io.out ? static_cast<int>(got.exit_status)
                  : detail::fail(io, "the output cannot be written", exit_code::write_error);
}

}  // namespace llmcost::cli
