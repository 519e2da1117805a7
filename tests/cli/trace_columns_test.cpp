// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include <llmcost/simulation/request_trace.hpp>

using namespace llmcost::testing;

namespace {

/// Simulates the requests of a trace with this text.
outcome simulate_trace(const std::string& text) {
    const temporary_folder folder;
    write_file(folder.path() / "trace", text);
    outcome got =
        llmcost_line("simulate " + llama + " --device h200 --engine vllm --calibration none --format csv --trace " +
                     (folder.path() / "trace").string());
    if (const std::size_t place = got.err.find("trace: line "); place != std::string::npos) got.err.erase(0, place);
    return got;
}

}  // namespace

TEST_CASE("docs/cli.md lists every trace column in the row of its quantity") {
    const std::string page = read_file(LLMCOST_TEST_DIR "/../docs/cli.md");
    std::map<std::string, std::set<std::string>> expected, listed;
    for (const llmcost::trace_column_name& c : llmcost::trace_columns) {
        using llmcost::trace_column;
        const std::string row = c.holds == trace_column::input    ? "input tokens"
                                : c.holds == trace_column::output ? "output tokens"
                                : c.holds == trace_column::blocks ? "prefix blocks of the prompt"
                                : c.scale == 1                    ? "arrival, in seconds"
                                : c.scale == 1e-3                 ? "arrival, in milliseconds"
                                                                  : "arrival, in nanoseconds";
        expected[row].insert(std::string(c.name));
    }
    std::istringstream lines(page.substr(page.find("### Trace columns")));
    for (std::string line; std::getline(lines, line) && !line.starts_with("- ");) {
        const std::string row = line.substr(line.starts_with("| ") ? 2 : 0, line.find(" | ") - 2);
        if (!line.starts_with("| ") || expected.count(row) == 0) continue;
        for (std::size_t begin = line.find('`'); begin != std::string::npos;) {
            const std::size_t end = line.find('`', begin + 1);
            listed[row].insert(line.substr(begin + 1, end - begin - 1));
            begin = line.find('`', end + 1);
        }
    }
    CHECK(listed == expected);
}

TEST_CASE("lines of JSON have an arrival time in all lines or in none") {
    const std::string untimed = R"({"input_length": 10, "output_length": 5})"
                                "\n",
                      timed = R"({"timestamp": 3000, "input_length": 10, "output_length": 5})"
                              "\n";
    CHECK(simulate_trace(timed + timed).code == 0);
    for (const std::string& text : {timed + untimed + timed, untimed + timed}) {
        const outcome got = simulate_trace(text);
        CHECK(got.code == 6);
        CHECK(got.out == "");
        CHECK(got.err == "trace: line " + std::string(text.starts_with(timed) ? "2" : "1") +
                             ": expected an arrival time, as in other lines\n");
    }
}
