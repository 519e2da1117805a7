// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/c/llmcost.h>
#include <llmcost/base/version.hpp>
#include <llmcost/cli/commands/main.hpp>
#include <llmcost/cli/commands/program.hpp>
#include <llmcost/files/user_files.hpp>

#include "c_result.hpp"
#include "parts.hpp"

namespace {

std::string calibration_directory;

/// A text and its number of bytes, unless `size` is null.
const char* text_of(const std::string& text, std::size_t* size) {
    if (size != nullptr) *size = text.size();
    return text.c_str();
}

}  // namespace

const char* llmcost_version() {
    static const std::string text{std::string_view(llmcost::version)};
    return text.c_str();
}

void llmcost_set_calibrations(const char* directory) {
    calibration_directory = directory;
    llmcost::built_calibrations = calibration_directory.c_str();
}

llmcost_result* llmcost_run(std::size_t count, const char* const* arguments, const char* input,
                            std::size_t input_size) {
    auto* const result = new (std::nothrow) llmcost_result;
    if (result == nullptr) return nullptr;
    try {
        std::ostringstream output;
        std::ostringstream messages;
        std::istringstream typed(input == nullptr ? std::string() : std::string(input, input_size));
        const std::vector<std::string_view> args(arguments, arguments + count);
        const llmcost::cli::streams io{output, messages, typed,
                                       [](const char* name) -> const char* { return std::getenv(name); }};
        result->exit_code = llmcost::cli::run_commands(args, parts::full_program(io));
        result->output = output.str();
        result->messages = messages.str();
    } catch (const std::bad_alloc&) {
        delete result;
        return nullptr;
    } catch (const std::exception& e) {
        result->messages = e.what();
    }
    return result;
}

int llmcost_exit_code(const llmcost_result* result) { return result->exit_code; }

const char* llmcost_output(const llmcost_result* result, std::size_t* size) { return text_of(result->output, size); }

const char* llmcost_messages(const llmcost_result* result, std::size_t* size) {
    return text_of(result->messages, size);
}

void llmcost_free(llmcost_result* result) { delete result; }

int llmcost_main(std::size_t count, const char* const* arguments) {
    const std::vector<std::string_view> args(arguments, arguments + count);
    return llmcost::cli::run_commands(args, parts::full_program(llmcost::cli::process_streams()));
}
