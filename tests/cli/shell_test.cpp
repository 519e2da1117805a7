// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include <llmcost/base/version.hpp>
#include <llmcost/bundled/all.hpp>
#include <llmcost/cli/options.hpp>
#include <llmcost/cli/text.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/registry.hpp>
#include <llmcost/report/metrics.hpp>

using namespace llmcost::testing;
using llmcost::cli::option_table;

namespace {

std::string dashes_for_roff(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '-' ? std::string("\\-") : std::string(1, c);
    return out;
}

}  // namespace

TEST_CASE("the help fits a screen and has every option") {
    const std::string help = printed("--help");
    CHECK(help == printed("-h"));
    std::istringstream in(help);
    int lines = 0;
    for (std::string line; std::getline(in, line); ++lines) CHECK_MESSAGE(llmcost::cli::width_of(line) <= 80, line);
    CHECK(lines <= 40);
    for (const auto& row : option_table) CHECK_MESSAGE(has(help, std::string(row.name) + ' '), row.name);
    CHECK(has(help, "exit code: 0 ok, 2 usage, 3 configuration, 4 network, 5 overflow, 6 input, 7 row\n"));
}

TEST_CASE("the version") { CHECK(printed("--version") == "llmcost " + std::string(llmcost::version) + '\n'); }

TEST_CASE("completions know every option, metric and choice") {
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const std::string text = printed(std::string("--completion ") + shell);
        for (const auto& row : option_table)
            CHECK_MESSAGE(has(text, shell == std::string_view("fish") ? "-l " + std::string(row.name.substr(2))
                                                                      : std::string(row.name)),
                          row.name);
        for (const auto& metric : llmcost::metrics) CHECK(has(text, metric.name));
        for (const char* word : {"markdown", "bfloat16", "transformer", "meta-llama/Llama-3.2-1B"})
            CHECK_MESSAGE(has(text, word), word);
    }
    CHECK(llmcost_line("--completion tcsh").code == 2);
}

TEST_CASE("the man page has every option, metric and exit code") {
    const std::string page = printed("--man");
    CHECK(page.starts_with(".TH LLMCOST 1 "));
    for (const auto& row : option_table) CHECK_MESSAGE(has(page, "\\fB" + dashes_for_roff(row.name) + "\\fR"), row.name);
    for (const auto& metric : llmcost::metrics) CHECK(has(page, "\\fB" + std::string(metric.name) + "\\fR"));
    for (const char* code : {"0", "1", "2", "3", "4", "5", "6", "7", "70"})
        CHECK(has(page, ".TP\n\\fB" + std::string(code) + "\\fR\n"));
    std::istringstream in(page);
    for (std::string line; std::getline(in, line);)
        CHECK_MESSAGE((!line.empty() && line.front() != '\'' && line.front() != ' '), line);
}

TEST_CASE("completions and the man page have the commands and their options") {
    const std::string page = printed("--man"), bash = printed("--completion bash");
    const std::string zsh = printed("--completion zsh"), fish = printed("--completion fish");
    for (const std::string name : {"models", "devices", "op", "latency", "serve"}) {
        INFO(name);
        CHECK(has(page, ".B llmcost " + name + '\n'));
        CHECK(has(page, ".SS " + name + '\n'));
        CHECK(has(bash, ' ' + name + ") "));
        CHECK(has(zsh, '\n' + name + ")\n"));
        if (name == "models" || name == "devices") continue;
        std::istringstream help(printed(name + " --help"));
        int options = 0;
        for (std::string line; std::getline(help, line);) {
            if (!line.starts_with("  --")) continue;
            const std::string option = line.substr(2, line.find(' ', 2) - 2);
            INFO(option);
            CHECK(has(page, "\\fB" + dashes_for_roff(option) + "\\fR"));
            CHECK(has(bash, option));
            CHECK(has(zsh, "\n    '" + option + '['));
            CHECK(has(fish, "from " + name + "' -l " + option.substr(2) + " -d '"));
            ++options;
        }
        CHECK(options > 5);
    }
    for (const std::string& shell : {zsh, fish}) CHECK(has(shell, "a device'\\''s file"));
    CHECK(has(page, "\\fB\\-\\-prefix\\-hit\\fR \\fIX\\fR\n"));
}

TEST_CASE("a word that is nearly a command is told so") {
    CHECK(has(llmcost_line("serv --model meta-llama/Llama-3.2-1B").err, "; nearest command: serve\n"));
    CHECK(has(llmcost_line("latancy --model x/y --device h200").err, "; nearest command: latency\n"));
    CHECK(has(llmcost_line("device").err, "; nearest command: devices\n"));
    CHECK_FALSE(has(llmcost_line("mlp").err, "nearest command"));
    CHECK_FALSE(has(llmcost_line("serve --device h200").err, "nearest command"));
}

TEST_CASE("models lists every row and every bundled name") {
    const std::string text = printed("models");
    const auto list = nlohmann::json::parse(printed("models --format json"));
    CHECK(list["model_types"].size() == llmcost::architecture_count);
    CHECK(list["bundled"].size() == llmcost::bundled_configs.size());
    for (const auto* row : llmcost::architectures) CHECK_MESSAGE(has(text, row->model_type), row->model_type);
    for (const auto& bundled : llmcost::bundled_configs) CHECK_MESSAGE(has(text, bundled.name), bundled.name);
    CHECK(has(printed("models --format csv"), "\nbundled,meta-llama/Llama-3.2-1B,1235814400,"));
    CHECK(has(printed("models --format markdown"), "| bundled | meta-llama/Llama-3.2-1B | 1,235,814,400 |"));
    CHECK(llmcost_line("models more").code == 2);
}

TEST_CASE("devices lists every datasheet") {
    const std::string text = printed("devices");
    const auto list = nlohmann::json::parse(printed("devices --format json"))["devices"];
    CHECK(list.size() == std::size(llmcost::devices));
    for (const auto& d : llmcost::devices) CHECK_MESSAGE(has(text, d.names[0]), d.names[0]);
    CHECK(list[0]["name"] == "h100_sxm");
    CHECK(list[0]["bf16"] == 989.4);
    CHECK_FALSE(list[0].contains("fp4"));
    CHECK(has(printed("devices --format csv"), "\nl4,L4,NVIDIA,0.49,,30.3,60,121,121,242,242,,24,300,48,58,31,31,72\n"));
    CHECK(has(text, "h100_nvl                         835.5  1,670.5  1,670.5       -   94"));
    CHECK(llmcost_line("devices more").code == 2);
}

TEST_CASE("every bundled configuration of a known type gets its page, with its parameters") {
    for (const auto& bundled : llmcost::bundled_configs) {
        const auto config = nlohmann::json::parse(bundled.json);
        if (llmcost::find_architecture(config["model_type"].get<std::string>()) == nullptr) continue;
        const std::string name(bundled.name);
        CHECK_MESSAGE(printed("--format csv params --model " + name) ==
                          "scope,params\nall," + std::to_string(bundled.parameters) + '\n',
                      name);
        const std::string page = printed("--model " + name);
        CHECK_MESSAGE(page.starts_with(name), name);
        std::istringstream in(page);
        for (std::string line; std::getline(in, line);) CHECK_MESSAGE(llmcost::cli::width_of(line) <= 80, line);
    }
}

TEST_CASE("docs/cli.md names every option, metric and exit code") {
    std::ifstream in(LLMCOST_TEST_DIR "/../docs/cli.md");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const auto& row : option_table) CHECK_MESSAGE(has(text, row.name), row.name);
    for (const auto& metric : llmcost::metrics) CHECK_MESSAGE(has(text, '`' + std::string(metric.name) + '`'), metric.name);
    for (const char* code : {"0", "1", "2", "3", "4", "5", "6", "7", "70"})
        CHECK(has(text, "| " + std::string(code) + " | "));
}
