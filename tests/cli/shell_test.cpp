// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include <llmcost/base/version.hpp>
#include <llmcost/bundled/all.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/program.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/generated/verified_types.hpp>
#include <llmcost/report/metrics.hpp>

#include <unistd.h>

#include "parts.hpp"

using namespace llmcost::testing;
using llmcost::cli::command;

namespace {

const std::span<const command* const> all_commands = parts::full_program({std::cout, std::cerr, std::cin}).commands;
const std::span<const llmcost::cli::option_spec> options_of_page = parts::page.options;

std::string dashes_for_roff(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '-' ? std::string("\\-") : std::string(1, c);
    return out;
}

/// The text between `begin` and `end`; empty without `begin`.
std::string text_between(std::string_view text, std::string_view begin, std::string_view end) {
    const std::size_t position = text.find(begin);
    if (position == std::string_view::npos) return {};
    text.remove_prefix(position + begin.size());
    return std::string(text.substr(0, text.find(end)));
}

}  // namespace

/// Calls `visit` with the name and each alias of an option.
template <class Visit>
void for_each_name(const llmcost::cli::option_spec& row, Visit visit) {
    visit(row.name);
    row.for_each_alias(visit);
}

TEST_CASE("the help of the program has all commands and options") {
    const std::string help = printed("--help");
    CHECK(help == printed("-h"));
    for (const command* c : all_commands.subspan(1))
        CHECK_MESSAGE(has(help, "\n  " + std::string(c->name) + ' '), c->name);
    for (const auto& row : options_of_page) CHECK_MESSAGE(has(help, row.name), row.name);
    CHECK(has(help, "Exit codes: llmcost --man\n"));
}

TEST_CASE("help has at most 100 columns") {
    for (const command* c : all_commands) {
        std::istringstream in(printed(std::string(c->name) + " --help"));
        bool is_option = true;
        for (std::string line; std::getline(in, line);) {
            is_option = is_option && line.find("Operator types") == std::string::npos;
            if (is_option) CHECK_MESSAGE(llmcost::cli::width_of(line) <= 100, line);
        }
    }
}

TEST_CASE("options have a help text, a value name and unique names") {
    for (const command* c : all_commands)
        for (const auto& row : c->options) {
            CAPTURE(c->name);
            CAPTURE(row.name);
            CHECK_FALSE(row.help.empty());
            CHECK((row.help.ends_with("...") || !row.help.ends_with('.')));
            CHECK((row.type == llmcost::cli::value_type::none) == row.value.empty());
            CHECK((row.type == llmcost::cli::value_type::choice) == !row.choices.empty());
            for (const auto& other_row : c->options)  // names are unique in a command
                for_each_name(other_row,
                              [&](std::string_view name) { CHECK(row.is_named(name) == (&row == &other_row)); });
        }
}

TEST_CASE("aliases of other tools are accepted") {
    const std::string llama = "--format json --model meta-llama/Llama-3.2-1B ";
    const std::string expected = printed(llama + "--batch 2 --sequence 7 --cache-dtype fp8 flops cache_bytes");
    CHECK(printed("--format json -m meta-llama/Llama-3.2-1B -b 2 -s 7 --kv-cache-dtype fp8 flops cache_bytes") ==
          expected);
    for (const std::string name : {"--seq-len 7", "--seqlen=7", "--seq_len 7"})
        CHECK(printed(llama + "-b=2 --cache-dtype fp8 flops cache_bytes " + name) == expected);
    const std::string request = printed(llama + "--input 9 --output 3 flops");
    CHECK(printed(llama + "--isl 9 --osl 3 flops") == request);
    CHECK(printed(llama + "--input-len 9 --output-len 3 flops") == request);
    const std::string server = "serve --format json --model meta-llama/Llama-3.2-1B --calibration none ";
    CHECK(printed(server + "-d h200 --tensor-parallel-size 2 --pipeline-parallel-size 2 --data-parallel-size 2 "
                           "--max-concurrency 4 --num-speculative-tokens 2") ==
          printed(server + "--device h200 --tp 2 --pp 2 --dp 2 --concurrency 4 --draft 2"));
    CHECK(refused(llama + "-s 1 --seqlen 2") == "llmcost: --sequence: given more than once\n");
    CHECK(has(refused(llama + "--seqlem 2"), "no option '--seqlem'; nearest: --seqlen"));
    CHECK(has(refused("serve --version 1"), "no option '--version'; nearest: --engine-version"));
}

TEST_CASE("the version") { CHECK(printed("--version") == "llmcost " + std::string(llmcost::version) + '\n'); }

TEST_CASE("completions know every option, metric and choice") {
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const std::string text = printed(std::string("--completion ") + shell);
        for (const auto& row : options_of_page)
            for_each_name(row, [&](std::string_view name) {
                const bool is_long = name.starts_with("--");
                const std::string in_fish = (is_long ? "-l " : "-s ") + std::string(name.substr(is_long ? 2 : 1));
                CHECK_MESSAGE(has(text, shell == std::string_view("fish") ? in_fish : std::string(name)), name);
            });
        for (const auto& metric : llmcost::metrics) CHECK(has(text, metric.name));
        for (const char* completion : {"markdown", "bfloat16", "transformer", "meta-llama/Llama-3.2-1B"})
            CHECK_MESSAGE(has(text, completion), completion);
    }
    CHECK(llmcost_line("--completion tcsh").code == 2);
}

TEST_CASE("the man page has every option, metric and exit code") {
    const std::string page = printed("--man");
    CHECK(page.starts_with(".TH LLMCOST 1 "));
    for (const auto& row : options_of_page)
        CHECK_MESSAGE(has(page, "\\fB" + dashes_for_roff(row.name) + "\\fR"), row.name);
    for (const auto& metric : llmcost::metrics) CHECK(has(page, "\\fB" + std::string(metric.name) + "\\fR"));
    for (const char* code : {"0", "1", "2", "3", "4", "5", "6", "7", "70"})
        CHECK(has(page, ".TP\n\\fB" + std::string(code) + "\\fR\n"));
    std::istringstream in(page);
    for (std::string line; std::getline(in, line);)
        CHECK_MESSAGE((!line.empty() && line.front() != '\'' && line.front() != ' '), line);
}

TEST_CASE("help, completions and the man page have every option of every command") {
    const std::string page = printed("--man"), bash = printed("--completion bash");
    const std::string zsh = printed("--completion zsh"), fish = printed("--completion fish");
    for (const command* c : all_commands.subspan(1)) {
        const std::string name(c->name);
        INFO(name);
        CHECK(has(printed("--help"), "\n  " + name + ' '));
        CHECK(has(page, "\n\\fBllmcost " + name + "\\fR "));
        const std::string in_page = text_between(page, ".SS " + name + '\n', "\n.S");
        const std::string in_bash = text_between(bash, "\n    " + name + ")\n", "' ;;\n");
        const std::string in_zsh = text_between(zsh, '\n' + name + ")\n", ";;\n");
        const std::string help = printed(name + " --help");
        for (const auto& row : c->options) {
            for_each_name(row, [&](std::string_view option_name) {
                const std::string option(option_name);
                INFO(option);
                CHECK(has(help, option));
                CHECK(has(in_page, "\\fB" + dashes_for_roff(option) + "\\fR"));
                CHECK(has(' ' + text_between(in_bash, "options='", "'") + ' ', ' ' + option + ' '));
                CHECK(has(in_zsh, (row.is_repeatable ? "'*" : "'") + option + '['));
            });
            CHECK(has(fish, "from " + name + "' -l " + std::string(row.name.substr(2)) + " -d '"));
        }
    }
    for (const std::string& shell : {zsh, fish}) CHECK(has(shell, "the model'\\''s image size"));
    CHECK(has(page, "\\fB\\-\\-prefix\\-hit\\fR \\fIX\\fR\n"));
}

TEST_CASE("completions know the values of the command's own option") {
    const std::string bash = printed("--completion bash"), zsh = printed("--completion zsh");
    const auto command_completions = [&](const std::string& name) {
        return text_between(bash, "\n    " + name + ")\n", "' ;;\n");
    };
    CHECK(has(command_completions("latency"), "-d|--device) COMPREPLY=( $(compgen -f -W 'h100_sxm "));
    CHECK(has(command_completions("latency"), "--engine) COMPREPLY=( $(compgen -W 'trtllm vllm sglang' "));
    CHECK(has(command_completions("latency"),
              "--execution) COMPREPLY=( $(compgen -W 'graph stream eager compile reduce-overhead' "));
    CHECK(has(command_completions("latency"), "--format) COMPREPLY=( $(compgen -W 'text json csv markdown latex' "));
    CHECK(has(command_completions("latency"), "--model) COMPREPLY=( $(compgen -f -W '"));
    CHECK(has(command_completions("serve"), "--format) COMPREPLY=( $(compgen -W 'text json csv markdown latex' "));
    CHECK(has(command_completions("serve"), "--configs) COMPREPLY=( $(compgen -d -W '' "));
    CHECK(has(command_completions("serve"),
              "--dtype) COMPREPLY=( $(compgen -W 'float32 bfloat16 float16 fp8 fp8_block "));
    CHECK(has(command_completions("op"), "words='gemm "));
    CHECK(has(command_completions("*"), "--format) COMPREPLY=( $(compgen -W 'text json csv markdown latex' "));
    CHECK(has(text_between(zsh, "\nserve)\n", ";;\n"), ":NAME:{_files; compadd -- h100_sxm "));
}

TEST_CASE("bash completes what is typed") {
    const auto file = std::filesystem::temp_directory_path() / ("llmcost_completion_" + std::to_string(::getpid()));
    std::ofstream(file) << printed("--completion bash");
    const auto completed = [&](const std::string& command_line, int word_index) {
        const std::string line = "bash -c 'source " + file.string() + "; COMP_WORDS=(" + command_line +
                                 "); COMP_CWORD=" + std::to_string(word_index) +
                                 "; _llmcost; echo \"${COMPREPLY[*]}\"'";
        std::string out(4096, '\0');
        FILE* const pipe = ::popen(line.c_str(), "r");
        REQUIRE(pipe != nullptr);
        out.resize(std::fread(out.data(), 1, out.size(), pipe));
        ::pclose(pipe);
        return out;
    };
    CHECK(completed("llmcost ser", 1) == "serve\n");
    CHECK(completed("llmcost serve --conc", 2) == "--concurrency\n");
    CHECK(completed("llmcost latency --engine v", 3) == "vllm\n");
    CHECK(completed("llmcost latency --device h200", 3) == "h200_sxm\n");
    CHECK(completed("llmcost op gem", 2) == "gemm\n");
    CHECK(completed("llmcost --attention c", 2) == "causal\n");
    std::filesystem::remove(file);
}

TEST_CASE("docs/options.md has the options of every command") {
    std::ifstream in(LLMCOST_TEST_DIR "/../docs/options.md");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::ptrdiff_t rows = 0;
    for (const command* c : all_commands) {
        std::string table = "\n## llmcost" + (c->name.empty() ? "" : ' ' + std::string(c->name)) + '\n' +
                            std::string(c->summary) + "\n\n| option | value | meaning |\n| --- | --- | --- |\n";
        for (const auto& row : c->options) {
            std::string names, value;
            for_each_name(row, [&](std::string_view name) {
                names += (names.empty() ? "`" : ", `") + std::string(name) + '`';
                ++rows;
            });
            for (const char letter : row.value) value += letter == '|' ? std::string("\\|") : std::string(1, letter);
            table += "| " + names + " | " + value + (value.empty() ? "| " : " | ") + std::string(row.help) + " |\n";
        }
        CHECK_MESSAGE(has(text, table), "expected ", table);
    }
    CHECK(std::count(text.begin(), text.end(), '`') == 2 * rows);
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
    CHECK(list["model_types"].size() == parts::registry.count);
    CHECK(list["bundled"].size() == llmcost::bundled_configs.size());
    for (const llmcost::model_spec* row : parts::registry) CHECK_MESSAGE(has(text, row->model_type), row->model_type);
    for (const auto& bundled : llmcost::bundled_configs) CHECK_MESSAGE(has(text, bundled.name), bundled.name);
    CHECK(has(printed("models --format csv"), "\nbundled,meta-llama/Llama-3.2-1B,1235814400,"));
    CHECK(has(printed("models --format markdown"), "| bundled | meta-llama/Llama-3.2-1B | 1,235,814,400 |"));
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) CHECK_MESSAGE(llmcost::cli::width_of(line) <= 100, line);
    for (const auto& bundled : llmcost::bundled_configs)
        if (bundled.variant.empty())
            CHECK(nlohmann::json::parse(bundled.json)["model_type"] == llmcost::type_of(bundled));
}

TEST_CASE("models says what each type is held against") {
    CHECK(has(printed("models"), ", verified against " + std::string(llmcost::verified_reference) + ":\n"));
    const std::string text = printed("models t5");
    CHECK(has(text, " model types (\"model_type\" of config.json)"));
    const std::string indent(std::string_view("t5gemma2").size() + 2, ' ');  // the widest name among them
    CHECK(has(text, "\nt5        google-t5/t5-small, small variants\n" + indent + "decode, extend, prefill"));
    CHECK(has(text, "\n" + indent + "except decode: the reference cannot run it\n" + indent +
                        "       extend: the reference cannot run it\n"));
    CHECK_FALSE(has(text, "bert"));
    const auto list = nlohmann::json::parse(printed("models --format json"));
    CHECK(list["reference"] == llmcost::verified_reference);
    CHECK(list["held"].size() == parts::registry.count);
    const auto verified_types = nlohmann::json::parse(printed("models t5 --format json"))["held"];
    const auto t5 = std::find_if(verified_types.begin(), verified_types.end(),
                                 [](const auto& h) { return h["model_type"] == "t5"; });
    REQUIRE(t5 != verified_types.end());
    CHECK((*t5)["held_against"] == nlohmann::json{"google-t5/t5-small", "small variants"});
    CHECK((*t5)["forward_passes"] == nlohmann::json{"decode", "extend", "prefill"});
    CHECK((*t5)["training"][0] == "saved bytes");
    CHECK((*t5)["exceptions"][0] == "decode: the reference cannot run it");
    CHECK(has(printed("models t5 --format csv"),
              "\nmodel_type,t5,,,t5,\"google-t5/t5-small, small variants\",\"decode, extend, prefill\","));
    for (const auto& v : llmcost::verified_types)
        if (v.configurations.empty()) {
            const std::string name(v.model_type);
            const std::string description =
                text_between(printed("models " + name), "\n" + name + "  ", "\n");  // padded to the widest
            CHECK(description.substr(std::min(description.find_first_not_of(' '), description.size())) ==
                  llmcost::not_verified);
            CHECK(has(printed("models " + name + " --format markdown"), "| not verified with a reference run |"));
        }
}

TEST_CASE("models of a part of a name") {
    CHECK(has(printed("models LLAMA-3.2-1b"), "meta-llama/Llama-3.2-1B  "));
    CHECK_FALSE(has(printed("models LLAMA-3.2-1b"), "model type,"));
    CHECK(has(printed("models gemma2"), "google/gemma-2-2b"));
    CHECK(refused("models llamma") ==
          "llmcost: models: no model type and no bundled configuration contains 'llamma'; nearest: llama, llama4, "
          "llava\n");
    CHECK(refused("models a b") == "llmcost: models: expected one argument, found also 'b'\n");
}

TEST_CASE("devices lists every datasheet") {
    const std::string text = printed("devices");
    const auto list = nlohmann::json::parse(printed("devices --format json"))["devices"];
    CHECK(list.size() == std::size(llmcost::devices));
    for (const auto& d : llmcost::devices) CHECK_MESSAGE(has(text, d.names[0]), d.names[0]);
    CHECK(list[0]["name"] == "h100_sxm");
    CHECK(list[0]["bf16"] == 989.4);
    CHECK_FALSE(list[0].contains("fp4"));
    CHECK(has(printed("devices --format csv"),
              "\nl4,L4,NVIDIA,0.49,,30.3,60,121,121,242,242,,24,22.03,300,48,58,31,31,72,\n"));
    CHECK(has(text, "h100_nvl                         835.5  1,670.5  1,670.5        -   94     93.1"));
    CHECK(llmcost_line("devices more").code == 2);
}

TEST_CASE("models --layers lists what a custom model can contain") {
    const std::string all = printed("models --layers");
    for (const char* name : {"Linear", "LSTM", "GRU", "RNN", "Transformer", "TransformerEncoderLayer", "softmax"})
        CHECK_MESSAGE(has(all, name), name);
    CHECK(has(printed("models --layers LSTM --format csv"), "input_size, hidden_size, num_layers=1, bias=true"));
    CHECK(has(refused("models --layers LSTN"), "nearest: LSTM"));
}

TEST_CASE("every bundled configuration of a known type gets its page, with its parameters") {
    for (const auto& bundled : llmcost::bundled_configs) {
        const auto config = nlohmann::json::parse(bundled.json);
        if (!bundled.variant.empty()) continue;  // the test of goldens holds what is described
        if (parts::registry.find(config["model_type"].get<std::string>()) == nullptr) continue;
        const std::string name(bundled.name);
        const std::string model_option = "--model " + name;
        CHECK_MESSAGE(printed("--format csv params " + model_option) ==
                          "scope,params\nall," + std::to_string(bundled.parameters) + '\n',
                      name);
        const std::string page = printed(model_option);
        CHECK_MESSAGE(page.starts_with(name), name);
        std::istringstream in(page);
        for (std::string line; std::getline(in, line);) CHECK_MESSAGE(llmcost::cli::width_of(line) <= 80, line);
    }
}

TEST_CASE("docs/cli.md names every option, metric and exit code") {
    std::ifstream in(LLMCOST_TEST_DIR "/../docs/cli.md");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const command* c : all_commands)
        for (const auto& row : c->options) CHECK_MESSAGE(has(text, row.name), row.name);
    for (const auto& metric : llmcost::metrics)
        CHECK_MESSAGE(has(text, '`' + std::string(metric.name) + '`'), metric.name);
    for (const char* code : {"0", "1", "2", "3", "4", "5", "6", "7", "70"})
        CHECK(has(text, "| " + std::string(code) + " | "));
}
