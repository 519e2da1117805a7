// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/detail/hub_options.hpp>
#include <llmcost/reading/known_models.hpp>

namespace llmcost {

struct trace_node;

}  // namespace llmcost

namespace llmcost::cli {

struct command;
class arguments;
struct read_subject;
struct placement;
class subject_sink;

/// Writes what a device executes as bytes of a format.
using trace_writer = std::string (*)(const std::vector<trace_node>&);

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
    does_not_fit = 8,
    differs = 9,
    internal = 70
};

/// A file that an answer has beside its text.
struct written_file {
    std::string name;
    std::string text;
};

/// What goes to the standard output, and how the program ends where all of it is written.
struct answered {
    answered() = default;
    answered(std::string written, exit_code ends = exit_code::ok) : text(std::move(written)), code(ends) {}

    std::string text;
    exit_code code = exit_code::ok;
    written_file file{};  ///< none where it has no name
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

/// The streams, and what a program knows by its name.
struct program : streams {
    known_models models{};
    std::span<const bundled_config> bundled{};
    std::span<const command* const> commands{};  ///< the first is the front page, which has no name
    // pointers, so that no command compiles the reader of configurations, the hub and measured kernels once more
    read_subject (*read)(const arguments&, const program&) = nullptr;  ///< the model that a command line names
    placement (*place)(const arguments&, const program&) = nullptr;    ///< and on what device, and how, it is run
    bool (*read_each)(const arguments&, const program&, subject_sink&) = nullptr;  ///< the models, where it names several
    verified_table verified{};      ///< how its types are held against the reference
    trace_writer chakra = nullptr;  ///< null: built without protobuf
};

}  // namespace llmcost::cli
