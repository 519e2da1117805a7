// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/commands/program.hpp>

#include <sys/stat.h>

#include "parts.hpp"

// Every option of every command with invalid or unusual values: the program ends with a documented exit code, and says
// why.
namespace llmcost::testing {
namespace {

using cli::option_spec, cli::value_type;

/// A folder of its own as working directory, since some options write files.
class working_folder {
public:
    working_folder() {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_ / "folder");
        std::filesystem::current_path(folder_);
        std::filesystem::create_directories("pipes");
        for (const char* const name : {"pipes/config.json", "pipes/preprocessor_config.json"}) (void)mkfifo(name, 0600);
        std::filesystem::create_symlink("nowhere", "dangling.json");
        std::ofstream("runs.csv") << "isl,osl,concurrency,ttft_ms,tpot_ms\n16,4,1,10,3\n";
        std::ofstream("empty.json").flush();
        std::ofstream("list.json") << "[[1], {\"a\": null}]";
        std::ofstream("cut.csv") << "arrival,input,output\n0,1";
    }
    ~working_folder() {
        std::filesystem::current_path(before_);
        std::filesystem::remove_all(folder_);
    }
    working_folder(const working_folder&) = delete;
    working_folder& operator=(const working_folder&) = delete;

private:
    std::filesystem::path before_ = std::filesystem::current_path(),
                          folder_ = std::filesystem::temp_directory_path() / "llmcost_option_values";
};

const std::vector<std::string>& nasty_values(value_type type) {
    static const std::vector<std::string> texts{"",
                                                "0",
                                                "-1",
                                                "24",
                                                "1,2",
                                                ",",
                                                "=",
                                                "a=1",
                                                "=1",
                                                "a,b",
                                                "1x1",
                                                "x",
                                                "1e99",
                                                "nan",
                                                "1@2x3",
                                                "h100,a100",
                                                "-",
                                                "a b\x1b[31m\n",
                                                "\xff\xfe",
                                                "a=b=c",
                                                "{}",
                                                "1:2",
                                                "ttft=",
                                                "lora:r=0",
                                                "99999999999999999999999"};
    static const std::vector<std::string> numbers{"",    "0",   "-1",  "1",    "2.5",  "1e9",
                                                  "nan", "inf", "0x1", " 1",   "8_19", "9223372036854775807",
                                                  "k",   "1,2", "-0",  "1e400"};
    static const std::vector<std::string> files{
        "",          ".",       "/",         "pipes", "folder", "dangling.json", "empty.json",
        "list.json", "cut.csv", "nowhere/x", "\xff",  "-",      "/dev/full"};
    static const std::vector<std::string> names{"", "quatsch", "text", "TEXT", "|", "-1"};
    switch (type) {
        case value_type::none: break;
        case value_type::text: return texts;
        case value_type::number: return numbers;
        case value_type::file:
        case value_type::directory:
        case value_type::image: return files;
        case value_type::choice:
        case value_type::dtype: return names;
    }
    static const std::vector<std::string> given{"1"};
    return given;
}

/// What a command needs besides the option under test.
const std::vector<std::string>& sensible_line(std::string_view command) {
    static const std::string config = config_of("variant__qwen3_sliding");
    static const std::map<std::string_view, std::vector<std::string>> lines{
        {"op", {"op", "gemm", "--m", "8", "--n", "16", "--k", "32", "--device", "h100"}},
        {"devices", {"devices"}},
        {"models", {"models"}},
        {"compare", {"compare", "--config", config, "--config", config}},
        {"fit", {"fit", "--config", config, "--memory", "1GB"}},
        {"latency", {"latency", "--config", config, "--device", "h100"}},
        {"serve", {"serve", "--config", config, "--device", "h100", "--input", "16", "--output", "4"}},
        {"simulate",
         {"simulate", "--config", config, "--device", "h100", "--engine", "vllm", "--input", "16", "--output", "4",
          "--requests", "4", "--concurrency", "2"}},
        {"plan",
         {"plan", "--config", config, "--device", "h100", "--engine", "vllm", "--input", "16", "--output", "4",
          "--requests", "4", "--slo", "ttft=1s"}},
        {"calibrate", {"calibrate", "--config", config, "--device", "h100", "--engine", "vllm", "--from", "runs.csv"}},
        {"why", {"why", "flops", "--config", config}},
        {"formula", {"formula", "flops", "--config", config}},
    };
    static std::map<std::string_view, std::vector<std::string>> others;
    if (const auto found = lines.find(command); found != lines.end()) return found->second;
    std::vector<std::string>& line = others[command];
    if (line.empty()) {
        if (!command.empty()) line.emplace_back(command);
        line.insert(line.end(), {"--config", config, "--sequence", "16"});
    }
    return line;
}

/// The line without an option and its value, which the test gives itself.
std::vector<std::string> line_without(std::vector<std::string> line, const option_spec& o) {
    for (auto argument = line.begin(); argument != line.end();)
        argument = o.is_named(*argument) && !o.is_repeatable
                       ? line.erase(argument, argument + (o.type == value_type::none ? 1 : 2))
                       : argument + 1;
    return line;
}

/// One line on standard error for a failure, and a documented exit code.
void expect_documented_end(const std::vector<std::string>& line) {
    std::string command_line;
    for (const std::string& argument : line) command_line.append(" '").append(argument).append("'");
    INFO(command_line);
    const outcome got = llmcost_program(line);
    INFO(got.err);
    CHECK(got.code >= 0);
    CHECK(got.code <= static_cast<int>(cli::exit_code::mismatch));
    CHECK((got.code != 0 || got.err.find("internal error") == std::string::npos));
    if (got.code > 0 && got.code < static_cast<int>(cli::exit_code::rows)) {
        CHECK(std::ranges::count(got.err, '\n') >= 1);
        CHECK(got.err.find('\x1b') == std::string::npos);
        CHECK(got.err.find("basic_string") == std::string::npos);
    }
}

}  // namespace

TEST_CASE("no option value of any command ends the program in an undocumented way") {
    const working_folder folder;
    const std::span<const cli::command* const> all = parts::full_program({std::cout, std::cerr, std::cin}).commands;
    for (const cli::command* c : all) {
        const std::vector<std::string>& usual = sensible_line(c->name);
        const std::span<const option_spec> options =
            c->options_of != nullptr && usual.size() > 1 ? c->options_of(usual[1]) : c->options;
        for (const option_spec& o : options) {
            const std::vector<std::string> begin = line_without(usual, o);
            const auto run_with = [&](const std::string& value) {
                std::vector<std::string> line = begin;
                line.emplace_back(o.name);
                if (o.type != value_type::none) line.push_back(value);
                expect_documented_end(line);
                line = begin;
                line.push_back(std::string(o.name) + '=' + value);
                if (value.empty()) expect_documented_end(line);
            };
            for (const std::string& value : nasty_values(o.type)) run_with(value);
            if (o.type == value_type::choice)
                cli::for_each_choice(o.choices, [&](std::string_view choice) { run_with(std::string(choice)); });
        }
    }
}

TEST_CASE("no first argument of any command ends the program in an undocumented way") {
    const working_folder folder;
    const std::span<const cli::command* const> all = parts::full_program({std::cout, std::cerr, std::cin}).commands;
    for (const cli::command* c : all)
        for (const value_type type : {value_type::text, value_type::file, value_type::choice})
            for (const std::string& value : nasty_values(type))
                for (const char* further : {"--device", "--m", "--foo", "--config"}) {
                    std::vector<std::string> line;
                    if (!c->name.empty()) line.emplace_back(c->name);
                    line.insert(line.end(), {value, further, "h100"});
                    expect_documented_end(line);
                }
}

}  // namespace llmcost::testing
