// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

/// Serializes an execution trace of a device.
using trace_writer = std::string (*)(const std::vector<trace_node>&);

/// The exit codes of the program (docs/cli.md).
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

/// A file that a command writes in addition to its text.
struct output_file {
    std::string name;
    std::string text;
};

/// The output of a command: text for standard output, an exit code, and optionally a file.
struct command_output {
    command_output() = default;
    command_output(std::string written, exit_code ends = exit_code::ok) : text(std::move(written)), exit_status(ends) {}

    std::string text;
    exit_code exit_status = exit_code::ok;
    output_file file{};                ///< not written if its name is empty
    std::vector<output_file> files{};  ///< further files; their directory is created
};

/// The streams, the environment and the terminal, as parameters so that tests can replace them.
struct streams {
    std::ostream& out;
    std::ostream& err;
    std::istream& in;
    environment get = [](const char*) -> const char* { return nullptr; };  ///< looks up environment variables
    bool out_is_terminal = false;
    bool in_is_terminal = false;
    std::size_t columns = 0;  ///< width of the terminal; 0: unknown
};

/// The streams, and the models, configurations and commands of a program.
struct program : streams {
    model_registry models{};
    std::span<const bundled_config> bundled{};
    std::span<const command* const> commands{};  ///< the first is the front page, which has no name
    // function pointers, so that commands do not compile config reading, Hub access and kernel data again
    parsed_model (*read)(const arguments&, const program&) = nullptr;  ///< reads the model of a command line
    deployment (*place)(const arguments&, const program&) = nullptr;  ///< reads the model, its device and its execution
    bool (*read_each)(const arguments&, const program&, model_sink&) = nullptr;  ///< reads several models
    verified_type_table verified{};                                              ///< how the model types were verified
    trace_writer chakra = nullptr;                                               ///< null: built without protobuf
};

}  // namespace llmcost::cli
