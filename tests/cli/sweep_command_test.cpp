// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <llmcost/cli/request/sweep_points.hpp>
#include <llmcost/cli/run.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

// `llmcost sweep`: its rows are those of the commands for one workload, whatever the number of threads and shards.
using namespace llmcost::testing;
namespace cli = llmcost::cli;

namespace {

std::vector<std::string> output_lines(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

std::string file_text(const std::filesystem::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("rows of a sweep are the counts of single workloads") {
    // windows, experts, states, an encoder, a vision tower: closed forms have several regions there
    for (const std::string_view name : {"openai-community/gpt2", "google/gemma-2-2b", "Qwen/Qwen3-30B-A3B",
                                        "google-t5/t5-small", "Qwen/Qwen2.5-VL-7B-Instruct"}) {
        CAPTURE(name);
        const std::string model = "--model " + std::string(name);
        const std::vector<std::string> rows = output_lines(
            printed("sweep " + model + " --batch 1,3 --sequence 5,30 --past 0,70 flops written cache_bytes"));
        REQUIRE(rows.size() == 9);
        CHECK(rows[0] == "name,batch,sequence,past,flops,written,cache_bytes,error");
        std::size_t row = 1;
        for (const char* batch : {"1", "3"})
            for (const char* sequence : {"5", "30"})
                for (const char* past : {"0", "70"}) {
                    const nlohmann::json totals =
                        json_of(model + " --batch " + batch + " --sequence " + sequence + " --past " + past)["totals"];
                    std::string expected = std::string(name) + ',' + batch + ',' + sequence + ',' + past;
                    for (const char* metric : {"flops", "written", "cache_bytes"})
                        expected += ',' + totals[metric].dump();
                    CHECK(rows[row++] == expected + ',');
                }
    }
}

TEST_CASE("a sweep has scopes, several models, defaults, and JSON lines") {
    const std::string rows =
        printed("sweep --model openai-community/gpt2 --model Qwen/Qwen3-0.6B --sequence 128 mult attn --format json");
    const std::vector<std::string> lines = output_lines(rows);
    REQUIRE(lines.size() == 2);
    const nlohmann::json second = nlohmann::json::parse(lines[1]);
    CHECK(second["name"] == "Qwen/Qwen3-0.6B");
    CHECK(second["mult"] == json_of("--model Qwen/Qwen3-0.6B --sequence 128 mult attn")["query"]["figures"]["mult"]);
    CHECK(second["error"].is_null());
    CHECK(has(printed("sweep --model openai-community/gpt2"), "openai-community/gpt2,1,1024,0,"));
}

TEST_CASE("a row with a device has the time, the memory and the verdict of llmcost latency") {
    const std::vector<std::string> lines = output_lines(
        printed("sweep --model openai-community/gpt2 --device h200,t4 --batch 1,8 --sequence 64 flops --format json"));
    REQUIRE(lines.size() == 4);
    const nlohmann::json row = nlohmann::json::parse(lines[1]);
    const nlohmann::json step = json_of("latency --model openai-community/gpt2 --device h200 --batch 8 --sequence 64");
    CHECK(row["device"] == "h200");
    CHECK(row["batch"] == 8);
    CHECK(row["seconds"] == step["seconds"]);
    CHECK(row["fits"] == step["fits"]);
    // a model that cannot be read does not shift the others
    const outcome run = llmcost_line(
        "sweep --model nobody/nothing --model openai-community/gpt2 --device h200 --batch 8 --sequence 64 flops "
        "--format json");
    CHECK(run.code == 7);
    CHECK(has(run.err, "llmcost: warning: nobody/nothing is skipped: "));
    CHECK(run.out == lines[1] + '\n');
    CHECK(refused("sweep --model openai-community/gpt2 --tp 2") == "llmcost: --tp: requires --device\n");
}

TEST_CASE("shards are a partition of the rows, and threads do not change them") {
    const std::string line = "sweep --model openai-community/gpt2 --batch 1..7:+1 --sequence 1,2,4 flops";
    const std::string all = printed(line);
    CHECK(printed(line + " --threads 1") == all);
    const std::string many = "sweep --model openai-community/gpt2 --batch 1..90:+1 --sequence 1..90:+1 flops";
    CHECK(printed(many + " --threads 1") == printed(many + " --threads 5"));
    std::string joined = output_lines(all)[0] + '\n';
    for (int k = 0; k < 4; ++k) {
        const std::string part = printed(line + " --shard " + std::to_string(k) + "/4");
        joined += part.substr(part.find('\n') + 1);
    }
    CHECK(joined == all);
    for (const std::int64_t n : {0, 1, 63, 64, 65, 10'000'019})
        for (std::int64_t k = 0; k < 64; ++k) {
            const cli::shard one{k, 64}, next{k + 1, 64};
            CHECK(one.end(n) == next.begin(n));
            CHECK(one.end(n) - one.begin(n) - n / 64 <= 1);
        }
    CHECK(cli::shard{63, 64}.end(1'000'003) == 1'000'003);
    for (const char* wrong : {"4/4", "1", "-1/4", "1/0", "a/b", "1/2/3", ""})
        CHECK(has(refused("sweep --model openai-community/gpt2 --shard=" + std::string(wrong)), "--shard"));
}

TEST_CASE("a part that was saved is complete and is not computed again") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "llmcost_sweep_test";
    std::filesystem::remove_all(folder);
    const std::string line =
        "sweep --model openai-community/gpt2 --batch 1..8:+1 flops --shard 1/2 --save " + folder.string();
    const std::filesystem::path part = folder / "part-00001-of-00002.csv";
    CHECK(printed(line) == part.string() + ": 4 rows\n");
    CHECK(output_lines(file_text(part)).size() == 5);
    CHECK_FALSE(std::filesystem::exists(part.string() + ".partial"));
    std::ofstream(part) << "kept";
    CHECK(printed(line) == part.string() + " exists\n");
    CHECK(file_text(part) == "kept");
    std::filesystem::remove_all(folder);
}

TEST_CASE("rows without a result say why; the other rows are there") {
    const outcome run = llmcost_line("sweep --model openai-community/gpt2 --sequence 512,2048 flops");
    CHECK(run.code == 7);
    CHECK(has(run.out, "openai-community/gpt2,1,512,0,"));
    CHECK(has(run.out, "openai-community/gpt2,1,2048,0,,the workload requires 2048 positions and the model has 1024"));
    CHECK(run.err == "llmcost: 1 of 2 rows have no result\n");
    CHECK(has(refused("sweep --model openai-community/gpt2 flos"), "nearest"));
    CHECK(has(refused("sweep --model openai-community/gpt2 saved_bytes"), "llmcost train"));
    CHECK(has(refused("sweep --model openai-community/gpt2 --batch 1..2147483647:+1 flops"), "--batch"));
    CHECK(llmcost_line("sweep --model openai-community/gpt2 flops", {.full = true}).code == 1);
}

TEST_CASE("help as JSON has all commands, options, metrics and scopes") {
    const nlohmann::json all = nlohmann::json::parse(printed("help --format json"));
    REQUIRE(all["commands"].size() == cli::all_commands.size());
    for (std::size_t i = 0; i < cli::all_commands.size(); ++i) {
        const cli::command& c = *cli::all_commands[i];
        const nlohmann::json& written = all["commands"][i];
        CHECK(written["name"] == c.name);
        REQUIRE(written["options"].size() == c.options.size());
        for (std::size_t k = 0; k < c.options.size(); ++k) CHECK(written["options"][k]["name"] == c.options[k].name);
    }
    CHECK(all["metrics"].size() == 26);
    CHECK(all["scopes"][1] == "attn");
    const nlohmann::json memory = nlohmann::json::parse(printed("help memory --format json"));
    CHECK(memory == nlohmann::json::parse(printed("memory --help --format=json")));
    for (const nlohmann::json& row : memory["options"])
        if (row["name"] == "--engine") CHECK(row["section"] != "");
}
