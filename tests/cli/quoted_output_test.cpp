// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// The README and the quick start quote outputs, shortened: each quoted line is a line of the command's output.
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

using namespace llmcost::testing;

namespace {

/// The measurements of the repository, as for a program that is not installed.
class repository_calibrations {
public:
    repository_calibrations() {
        if (const char* previous = std::getenv(name)) previous_ = previous;
        ::setenv(name, LLMCOST_TEST_DIR "/../configs/calibrations", 1);
    }
    repository_calibrations(const repository_calibrations&) = delete;
    repository_calibrations& operator=(const repository_calibrations&) = delete;
    ~repository_calibrations() { previous_.empty() ? ::unsetenv(name) : ::setenv(name, previous_.c_str(), 1); }

private:
    static constexpr const char* name = "LLMCOST_CALIBRATIONS";
    std::string previous_;
};

/// The words of a line, separated by one blank.
std::string words_of(const std::string& line) {
    std::istringstream in(line);
    std::string out;
    for (std::string word; in >> word;) out += (out.empty() ? "" : " ") + word;
    return out;
}

/// Compares the quoted lines of all blocks of a page; returns the number of commands.
int check_quotes(const std::string& page) {
    const repository_calibrations calibrations;
    std::istringstream in(read_file(std::string(LLMCOST_TEST_DIR "/../") + page));
    const std::string prompt = "$ llmcost";
    std::string command_line;
    std::set<std::string> output;
    int num_commands = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("```")) {
            command_line.clear();
        } else if (line.starts_with("$ ")) {
            command_line.clear();
            if (!line.starts_with(prompt) || line.find_first_of("|>'\"") != std::string::npos) continue;
            command_line = line.substr(prompt.size(), line.find(" #") - prompt.size());
            std::istringstream answer(llmcost_line(command_line).out);
            output.clear();
            for (std::string printed_line; std::getline(answer, printed_line);) output.insert(words_of(printed_line));
            ++num_commands;
        } else if (!command_line.empty() && !line.empty() && line != "…") {
            CHECK_MESSAGE(output.contains(words_of(line)), page << ": llmcost" << command_line << "\n" << line);
        }
    }
    return num_commands;
}

}  // namespace

TEST_CASE("the README and the quick start quote what the commands print") {
    CHECK(check_quotes("README.md") >= 5);
    CHECK(check_quotes("docs/quick-start.md") >= 5);
}
