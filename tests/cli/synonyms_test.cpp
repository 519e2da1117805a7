// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/synonyms.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/terminal_plot.hpp>
#include <llmcost/report/chart.hpp>

using namespace llmcost::testing;
namespace cli = llmcost::cli;

// Options, commands, metrics, sizes and names as users of other programs write them.

namespace {

const std::string qwen = " --model Qwen/Qwen3-0.6B";

}  // namespace

TEST_CASE("each replacement of an option of another program is an option of a command") {
    std::string options;  // one per line
    for (const std::string command : {"", "memory", "train", "fit", "serve", "simulate", "plan", "latency"}) {
        std::istringstream help(printed(command + " --help"));
        for (std::string word; help >> word;) {
            while (!word.empty() && (word.back() == ',' || word.back() == '.' || word.back() == ';')) word.pop_back();
            if (word.starts_with("--")) options += " " + word + "\n";
        }
    }
    for (const cli::option_synonym& synonym : cli::option_synonyms) {
        INFO(synonym.names);
        CHECK(synonym.replacements.empty() != synonym.note.empty());
        cli::for_each_choice(synonym.replacements, [&](std::string_view replacement) {
            const bool found = has(options, " " + std::string(replacement.substr(0, replacement.find(' '))) + "\n");
            CHECK_MESSAGE(found, replacement);
        });
    }
}

TEST_CASE("no name of an option of another program occurs twice") {
    std::vector<std::string_view> names;
    for (const cli::option_synonym& synonym : cli::option_synonyms)
        cli::for_each_choice(synonym.names, [&](std::string_view name) {
            CHECK_MESSAGE(std::find(names.begin(), names.end(), name) == names.end(), name);
            names.push_back(name);
        });
}

TEST_CASE("options of other programs are answered with their names here") {
    const auto use = [](const std::string& line) {
        const std::string text = refused(line);
        const std::size_t begin = text.find("; use ");
        REQUIRE(begin != std::string::npos);
        return text.substr(begin + 6, text.size() - begin - 7);
    };
    CHECK(use("memory --context 2048" + qwen) == "--sequence 2048; --context is an option of llmcost fit, local");
    CHECK(use("memory --ctx 2048" + qwen) == "--sequence 2048");
    CHECK(use("memory --batch-size 8" + qwen) == "--batch 8");
    CHECK(use("memory --gpu h100" + qwen) == "--device h100");
    CHECK(use("memory --vram 24GB" + qwen) == "--memory 24GB");
    CHECK(use("serve --gpus 4" + qwen) == "--tp 4");
    CHECK(use("fit --num-gpus 4" + qwen) == "--devices 4 or --shards 4");
    CHECK(use("serve --qps 3" + qwen) == "--rate 3");
    CHECK(use("serve --rps 3" + qwen) == "--rate 3");
    CHECK(use("serve --users 16" + qwen) == "--concurrency 16");
    CHECK(use("serve --ttft 0.5s" + qwen) == "--slo ttft=0.5s");
    CHECK(use("serve --cost 2.5" + qwen) == "--price 2.5");
    CHECK(use("train --gradient-checkpointing" + qwen) == "--recompute full");
    CHECK(use("train --flash-attention" + qwen) == "--attention-implementation sdpa");
    CHECK(use("train --optim adamw" + qwen) == "--optimizer adamw");
    CHECK(use("train --bf16" + qwen) == "--precision bf16");
    CHECK(use("memory --bf16" + qwen) == "--dtype bfloat16");
    CHECK(use("memory --load-in-4bit" + qwen) == "--quantization nf4");
    CHECK(use("memory --json" + qwen) == "--format json; --json is an option of llmcost train");
    CHECK(use("memory --csv" + qwen) == "--format csv");
    CHECK(has(use("train --lora-rank 8" + qwen), "r=8"));
    // an option that only other commands have
    CHECK(has(refused("--gpu h100" + qwen),
              "no option '--gpu'; --device VALUE is an option of llmcost compare, memory, train"));
    CHECK(has(refused("memory --ttft 1" + qwen), "; --slo ttft=VALUE is an option of llmcost serve"));
    CHECK(has(refused("--trust-remote-code" + qwen), "code of a repository is never executed"));
    CHECK(has(refused("--hf-token x" + qwen), "HF_TOKEN"));
}

TEST_CASE("help and list are words") {
    CHECK(printed("help") == printed("--help"));
    CHECK(printed("help serve") == printed("serve --help"));
    CHECK(refused("list") == "llmcost: no command 'list'; use llmcost models [TEXT], or llmcost devices\n");
    CHECK(has(refused("finetune" + qwen), "; use llmcost train"));
}

TEST_CASE("metrics have other names") {
    const std::string line = qwen + " --format csv ";
    CHECK(printed(line + "parameters activations kv") == printed(line + "params act cache"));
    CHECK(printed(line + "macs") == printed(line + "MAC"));
}

TEST_CASE("sizes of memory have units in any case") {
    const auto limit = [](const std::string& size) {
        const outcome o =
            llmcost_program({"memory", "--model", "Qwen/Qwen3-0.6B", "--memory", size, "--format", "json"});
        CHECK(o.code == 0);
        return nlohmann::json::parse(o.out)["available"].get<std::int64_t>();
    };
    for (const char* size : {"24gb", "24GB", "24 GB", "24Gb", "24_000MB"}) CHECK(limit(size) == 24'000'000'000);
    for (const char* size : {"24Gi", "24GiB", "24G", "24g", "24 gib"}) CHECK(limit(size) == std::int64_t{24} << 30);
    CHECK(limit("25769803776B") == std::int64_t{24} << 30);
    for (const std::string size : {"24", "GB", "24XB"}) {
        const outcome o = llmcost_program({"memory", "--model", "Qwen/Qwen3-0.6B", "--memory", size});
        CHECK(o.code == 2);
        CHECK(
            has(o.err, "--memory: expected a size with a unit, such as 24GB (decimal), 24GiB or 24G (binary), found '" +
                           size + "'"));
    }
    CHECK(llmcost_line("fit --engine vllm --memory 24GB --engine-memory 1" + qwen).code == 2);
}

TEST_CASE("a list that is also a number with commas is reported") {
    const std::string line = qwen + " --format csv params ";
    const outcome pair = llmcost_line(line + "--sequence 8,192");
    CHECK(pair.code == 0);
    CHECK(pair.err ==
          "llmcost: warning: --sequence: 8,192 is a list of 2 numbers: 8, 192; for one number, write 8192\n");
    CHECK(refused(line + "--sequence 1,024") ==
          "llmcost: --sequence: expected numbers without leading zeros, found '1,024'; for one number, write 1024\n");
    for (const char* list : {"128,256,512", "8,16", "8,1920", "0,128"})
        CHECK(llmcost_line(line + "--past " + list).err == "");
}

TEST_CASE("int4 is the scheme W4A16 of llm-compressor, and names have any case") {
    const auto bytes = [](const std::string& options) {
        return nlohmann::json::parse(printed("--format json weight_bytes" + qwen + options))["totals"]["weight_bytes"]
            .get<std::int64_t>();
    };
    // 28 layers x 15,728,640 weights of linear layers, 4 bits and a 16-bit scale per 128
    const std::int64_t linear = std::int64_t{28} * 15'728'640;
    const std::int64_t saved = bytes(" --quantization none") - bytes(" --quantization int4");
    CHECK(saved > linear * 2 - linear / 2 - linear / 64 - 100'000);
    CHECK(saved <= linear * 2 - linear / 2 - linear / 64);
    CHECK(bytes(" --quantization INT4") == bytes(" --quantization w4a16"));
    CHECK(printed("latency --device h100 --dtype BF16 --calibration none" + qwen) ==
          printed("latency --device h100 --dtype bfloat16 --calibration none" + qwen));
}

TEST_CASE("models are found by the last part of a name, by an address, and without an option") {
    const std::string full = printed("--model Qwen/Qwen3-8B --format csv params");
    CHECK(printed("--model Qwen3-8B --format csv params") == full);
    CHECK(printed("--model qwen3-8b --format csv params") == full);
    CHECK(printed("Qwen/Qwen3-8B params --format csv") == full);
    CHECK(printed("Qwen3-8B params --format csv") == full);
    for (const char* address :
         {"https://huggingface.co/Qwen/Qwen3-8B", "https://huggingface.co/Qwen/Qwen3-8B/tree/main",
          "https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json?download=true", "hf.co/Qwen/Qwen3-8B/",
          "hf://Qwen/Qwen3-8B"})
        CHECK_MESSAGE(printed("--model " + std::string(address) + " --format csv params") == full, address);
    CHECK(printed("--model gpt2 params") == printed("--model openai-community/gpt2 params"));
    CHECK(printed("https://huggingface.co/gpt2 params") == printed("--model openai-community/gpt2 params"));
    CHECK(printed("--model bert-base-uncased params") == printed("--model google-bert/bert-base-uncased params"));
    CHECK(printed("memory Qwen3-0.6B") == printed("memory --model Qwen/Qwen3-0.6B"));
    CHECK(printed("Qwen3-0.6B gpt2 params") == printed("--model Qwen/Qwen3-0.6B --model openai-community/gpt2 params"));
    CHECK(printed("compare Qwen3-0.6B gpt2 params") == printed("compare Qwen/Qwen3-0.6B openai-community/gpt2 params"));
    CHECK(has(refused("memory nothing"), "expected only options, found 'nothing'"));
}

TEST_CASE("a number of devices is the value of another option") {
    CHECK(refused("serve --device 4xH100" + qwen) ==
          "llmcost: --device: expected one device, found '4xH100'; use --device h100_sxm --tp 4\n");
    CHECK(has(refused("fit --device 8xA100" + qwen), "use --device a100_sxm_80gb --devices 8 or --shards 8"));
}

TEST_CASE("a chip with several memory sizes names them") {
    CHECK(has(refused("memory --device m4" + qwen), "no memory size; use apple_m4_16gb, apple_m4_24gb, apple_m4_32gb"));
    const outcome o = llmcost_program({"memory", "--model", "Qwen/Qwen3-0.6B", "--device", "M3 Max 64GB"});
    CHECK(o.code == 0);
    CHECK(has(o.out, "48.0 GiB (Apple M3 Max 64GB)"));
}

TEST_CASE("a terminal has its width, and the C locale has ASCII") {
    const std::string line = "--model meta-llama/Llama-3.2-1B --sequence 1024..131072:x2 flops --plot";
    const auto is_ascii = [](const std::string& text) {
        return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    };
    CHECK(is_ascii(printed(line, {.variables = {{"LANG", "C"}}})));
    CHECK(is_ascii(printed(line, {.terminal = true})));
    CHECK(!is_ascii(printed(line, {.variables = {{"LANG", "de_DE.UTF-8"}}, .terminal = true})));
    CHECK(!is_ascii(printed(line, {.variables = {{"LC_ALL", "C.utf8"}, {"LANG", "C"}}})));
    CHECK(printed(line, {.variables = {{"LC_ALL", "POSIX"}, {"LANG", "de_DE.UTF-8"}}}) ==
          printed(line, {.variables = {{"LANG", "C"}}}));
    CHECK(cli::ascii_text("a·b │⠤⣿ é") == "a-b |:# é");
    const llmcost::chart_axis axis{"x", llmcost::axis_scale::linear, llmcost::axis_unit::digits};
    const std::vector<llmcost::chart_series> lines{{"a", {1, 2, 3}, {1, 2, 3}}};
    const auto longest = [](const std::string& text) {
        std::size_t out = 0;
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            out = std::max(out, cli::width_of(text.substr(begin, end - begin)));
            begin = end + 1;
        }
        return out;
    };
    CHECK(longest(cli::terminal_plot(axis, axis, lines)) <= 81);
    CHECK(longest(cli::terminal_plot(axis, axis, lines, 120)) > 110);
    CHECK(longest(cli::terminal_plot(axis, axis, lines, 60)) <= 61);
}

TEST_CASE("completions list commands first") {
    const std::string script = printed("--completion bash");
    const std::size_t position = script.find("words='compare formula");
    CHECK(position != std::string::npos);
    CHECK(has(script, "complete -o nosort"));
}

TEST_CASE("a layer is an item of a layer list, a module has no children") {
    const auto nodes = [](const std::string& level) {
        return json_of("graph --model openai-community/gpt2 --sequence 8 --level " + level)["nodes"].size();
    };
    CHECK(nodes("layer") < 40);
    CHECK(nodes("module") > 100);
    CHECK(nodes("module") < nodes("operator"));
}

TEST_CASE("long edges of large graphs are short in a drawing") {
    const std::string drawing = printed("graph --sequence 8 --level module --format dot" + qwen);
    std::size_t num_long = 0, num_edges = 0;
    for (std::size_t arrow = drawing.find(" -> n"); arrow != std::string::npos;
         arrow = drawing.find(" -> n", arrow + 1)) {
        const std::size_t begin = drawing.rfind('n', arrow), end = arrow + 5;
        const std::string source = drawing.substr(begin + 1, arrow - begin - 1);
        const bool is_main = has(drawing.substr(end, drawing.find('\n', end) - end), "weight=9");
        ++num_edges;
        if (source.find('_') == std::string::npos && !is_main &&
            std::stoi(drawing.substr(end)) - std::stoi(source) > 30)
            ++num_long;
    }
    CHECK(num_edges > 1000);
    CHECK(num_long == 0);
}
