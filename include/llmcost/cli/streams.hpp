// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/detail/hub_options.hpp>

namespace llmcost::cli {

/// Exit codes; docs/cli.md and the man page explain them.
enum class exit_code : int {
    ok = 0,
    not_written = 1,
    usage = 2,
    configuration = 3,
    network = 4,
    overflow = 5,
    input = 6,
    rows = 7,
    internal = 70
};

/// What goes to the standard output, and how the program ends where all of it is written.
struct answered {
    answered() = default;
    answered(std::string written, exit_code ends = exit_code::ok) : text(std::move(written)), code(ends) {}

    std::string text;
    exit_code code = exit_code::ok;
};

/// What the program touches of the world, so that tests need none of it.
struct streams {
    std::ostream& out;
    std::ostream& err;
    std::istream& in;
    environment get = [](const char*) -> const char* { return nullptr; };  ///< looks up environment variables
    bool out_is_terminal = false;
    bool in_is_terminal = false;
};

/// Whether to colour: as `--color` or `--no-color` says, else never with NO_COLOR, always with FORCE_COLOR, else on a
/// terminal that is not dumb (no-color.org, force-color.org).
[[nodiscard]] inline bool wants_color(const arguments& args, const streams& io) {
    if (args.has(option::color) && args.has(option::no_color)) refuse("--color", "cannot stand together with --no-color");
    if (args.has(option::color) || args.has(option::no_color)) return args.has(option::color);
    const auto is_set = [&](const char* name) {
        const char* const text = io.get(name);
        return text != nullptr && *text != '\0';
    };
    if (is_set("NO_COLOR")) return false;
    if (is_set("FORCE_COLOR")) return true;
    const char* const terminal = io.get("TERM");
    return io.out_is_terminal && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace llmcost::cli
