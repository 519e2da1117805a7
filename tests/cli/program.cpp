// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string_view>
#include <utility>

#include <llmcost/cli/commands/program.hpp>

#include "parts.hpp"

namespace llmcost::testing {

outcome llmcost_program(const std::vector<std::string>& args, const surroundings& settings) {
    std::map<std::string, std::string> variables = settings.variables;
    variables.try_emplace("HF_HUB_OFFLINE", "1");
    variables.try_emplace("HF_HOME", "/nonexistent/hugging_face");
    const std::vector<std::string_view> views(args.begin(), args.end());
    std::ostringstream out, err;
    std::istringstream in(settings.in);
    const environment get = [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    };
    if (settings.full) out.setstate(std::ios::badbit);
    cli::program test_program = parts::full_program({out, err, in, get, settings.terminal, settings.terminal});
    test_program.chakra = nullptr;  // as without protobuf; tests/chakra holds what there is with it
    const int code = cli::run_commands(views, test_program);
    return {code, out.str(), err.str()};
}

outcome llmcost_line(const std::string& line, const surroundings& settings) {
    std::istringstream tokens(line);
    std::vector<std::string> args;
    for (std::string text; tokens >> text;) args.push_back(std::move(text));
    return llmcost_program(args, settings);
}

std::string printed(const std::string& line, const surroundings& settings, int code) {
    outcome got = llmcost_line(line, settings);
    INFO(line);
    CHECK(got.code == code);
    CHECK(got.err == "");
    return std::move(got.out);
}

std::string refused(const std::string& line, const surroundings& settings, int code) {
    outcome got = llmcost_line(line, settings);
    INFO(line);
    CHECK(got.code == code);
    CHECK(got.out == "");
    return std::move(got.err);
}

std::string refused_row(const std::string& line, const surroundings& settings) {
    outcome got = llmcost_line(line, settings);
    INFO(line);
    CHECK(got.code == 7);
    CHECK(has(got.out, ",error\n"));
    const std::size_t count = got.err.rfind(" (", got.err.find(" failed; see the column error)\n"));
    REQUIRE(count != std::string::npos);
    return got.err.substr(0, count) + '\n';
}

std::string config_of(const std::string& name) { return std::string(LLMCOST_TEST_DIR "/golden/") + name + ".json"; }

}  // namespace llmcost::testing
