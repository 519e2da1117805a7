// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <sys/stat.h>

// Malicious files, values and options.
namespace llmcost::testing {
namespace {

struct attacked_folder : temporary_folder {
    [[nodiscard]] std::string file(const char* name, const std::string& text) const {
        write_file(path() / name, text);
        return (path() / name).string();
    }
};

constexpr const char* one_layer_begin = R"({"inputs": {"x": {"shape": ["batch", 784]}}, "layers": [)";

}  // namespace

TEST_CASE("a processor file that cannot be read is an error, none is none") {
    const attacked_folder folder;
    const std::string line =
        "--config " +
        folder.file("config.json", R"({"model_type": "glmasr", "audio_config": )"
                                   R"({"num_hidden_layers": 1}, "text_config": {"num_hidden_layers": 1}})") +
        " --audio 10 --sequence 4";
    CHECK(llmcost_line(line).code == 0);
    const std::filesystem::path sibling = folder.path() / "preprocessor_config.json";
    std::filesystem::create_symlink("nowhere", sibling);
    CHECK(has(refused(line, {}, 3), "preprocessor_config.json: cannot be opened"));
    std::filesystem::remove(sibling);
    std::filesystem::create_directory(sibling);
    CHECK(has(refused(line, {}, 3), "expected a regular file, found a folder"));
    std::filesystem::remove(sibling);
    REQUIRE(::mkfifo(sibling.c_str(), 0600) == 0);
    CHECK(has(refused(line, {}, 3), "expected a regular file, found a pipe"));
}

TEST_CASE("more layers of mixed kinds than a plan holds are refused") {
    for (const char* const type : {"qwen3_vl", "qwen3_vl_moe"})
        CHECK(has(refused("--config " +
                              config_of(std::string(type) == "qwen3_vl" ? "Qwen__Qwen3-VL-2B-Instruct"
                                                                        : "variant__qwen3_vl_moe_dense") +
                              " --set vision_config.depth=65536",
                          {}, 3),
                  "512 layers"));
}

TEST_CASE("training of one layer alone is no overflow") {
    const attacked_folder folder;
    for (const char* const layer : {R"({"type": "LayerNorm", "name": "n", "normalized_shape": 784})",
                                    R"({"type": "Linear", "name": "f", "in_features": 784, "out_features": 10})"}) {
        const std::string config = folder.file("one.json", std::string(one_layer_begin) + layer + "]}");
        CHECK(llmcost_line("train --config " + config).code == 0);
    }
}

TEST_CASE("the class of a layer is the name of a class") {
    const attacked_folder folder;
    for (const char* const name : {R"(\u001b[31m)", "<img>", "=cmd", R"(A\ufffeB)", ""}) {
        const std::string layer =
            R"({"type": "Linear", "name": "f", "in_features": 784, "out_features": 10, "class": ")" +
            std::string(name) + "\"}]}";
        CHECK(has(refused("--config " + folder.file("class.json", one_layer_begin + layer), {}, 3),
                  "/layers/0/class: expected the name of a class"));
    }
}

TEST_CASE("options that would be ignored are refused") {
    const std::string graph = "graph " + llama;
    CHECK(has(llmcost_program({"graph", "--config", config_of("meta-llama__Llama-3.2-1B"), "--link", ""}).err,
              "--link: requires a value"));
    CHECK(has(refused(graph + " --link ,"), "--link: expected a bandwidth"));
    CHECK(has(refused(graph + " --dtype quatsch"), "--dtype: no type 'quatsch'"));
    CHECK(has(refused("levels " + llama + " --calibration NOSUCH"), "--calibration: requires --device"));
}

TEST_CASE("a trace with a column twice or times out of range is refused, and a BOM is not") {
    const attacked_folder folder;
    const std::string simulate = "simulate " + llama + " --device h100 --engine vllm --concurrency 1 --trace ";
    CHECK(
        has(refused(simulate + folder.file("a.csv", "arrival,input,output,input\n0,10,5,7\n"), {}, 6), "occurs twice"));
    CHECK(has(refused(simulate + folder.file("b.csv", "arrival,input,output\n0,10,5\n1000000000000000,10,5\n"), {}, 6),
              "expected a time"));
    CHECK(has(refused(simulate + folder.file("c.jsonl", R"({"input": 10, "output": 5, "input": 7})"), {}, 6),
              "occurs twice"));
    CHECK(llmcost_line(simulate + folder.file("d.jsonl", "\xEF\xBB\xBF{\"input\": 10, \"output\": 5}\n")).code == 0);
}

TEST_CASE("names of another version are not similar, and a failed output has one exit code") {
    CHECK(!has(llmcost_line("--model Qwen/Qwen3.5-27B").err, "Qwen2.5"));
    CHECK(has(llmcost_line("--model Qwen/Qwen3.5-27B").err, "Qwen/Qwen3.5-"));
    CHECK(llmcost_line("graph " + llama + " --out /nonexistent/x").code == 1);
    CHECK(has(refused("plan " + llama + " --device h100,a100 --slo ttft=1s"), "h100,a100"));
}

}  // namespace llmcost::testing
