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
#include <llmcost/config/model_registry.hpp>
#include <llmcost/hub/options.hpp>

namespace llmcost {

struct trace_node;

}  // namespace llmcost

namespace llmcost::cli {

struct command;
class arguments;
struct parsed_model;
struct deployment;
class model_sink;

/// Writes what a device executes as bytes of a format.
using trace_writer = std::string (*)(const std::vector<trace_node>&);

/// Exit codes; docs/cli.md and the man page explain them.
enum class exit_code : int {
    ok = 0,
    write_error = 1,
    usage = 2,
    configuration = 3,
    network = 4,
    overflow = 5,
    input = 6,
    rows = 7,
    does_not_fit = 8,
    mismatch = 9,
    internal = 70
};

/// A file that an answer has beside its text.
struct output_file {
    std::string name;
    std::string text;
};

/// What goes to the standard output, and how the program ends where all of it is written.
struct command_output {
    command_output() = default;
    command_output(std::string written, exit_code ends = exit_code::ok) : text(std::move(written)), exit_status(ends) {}

    std::string text;
    exit_code exit_status = exit_code::ok;
    output_file file{};  ///< none where it has no name
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
    model_registry models{};
    std::span<const bundled_config> bundled{};
    std::span<const command* const> commands{};  ///< the first is the front page, which has no name
    // pointers, so that no command compiles the reader of configurations, the hub and measured kernels once more
    parsed_model (*read)(const arguments&, const program&) = nullptr;  ///< the model that a command line names
    deployment (*place)(const arguments&, const program&) = nullptr;   ///< and on what device, and how, it is run
    bool (*read_each)(const arguments&, const program&, model_sink&) = nullptr;  ///< the models, where it names several
    verified_type_table verified{};  ///< how its types are held against the reference
    trace_writer chakra = nullptr;   ///< null: built without protobuf
};

}  // namespace llmcost::cli
