// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Each file that a command reads completely has a size limit, and one byte more is an error.
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>

using namespace llmcost::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t json_limit = std::uintmax_t{4} << 20U;
constexpr std::uintmax_t weight_json_limit = 100'000'000;
constexpr std::uintmax_t trace_limit = std::uintmax_t{1} << 30U;

/// A file with a text and blanks up to this size.
fs::path write_blanks(const fs::path& file, const std::string& text, std::uintmax_t size) {
    write_file(file, text + std::string(static_cast<std::size_t>(size) - text.size(), ' '));
    return file;
}

/// A sparse file of this size: a text, then zeros.
fs::path write_sparse(const fs::path& file, const std::string& text, std::uintmax_t size) {
    write_file(file, text);
    fs::resize_file(file, size);
    return file;
}

const std::string limit_error = ": expected at most 4194304 bytes\n";

}  // namespace

TEST_CASE("a configuration and the files next to it have 4 MiB") {
    const temporary_folder folder;
    const std::string glmasr = R"({"model_type": "glmasr", "audio_config": {"num_hidden_layers": 1}, )"
                               R"("text_config": {"num_hidden_layers": 1}})";
    const fs::path config = folder.path() / "config.json";
    const std::string line = "--config " + folder.path().string() + " --format csv params";
    write_blanks(config, glmasr, json_limit);
    const std::string answer = printed(line);
    write_blanks(config, glmasr, json_limit + 1);
    CHECK(refused(line, {}, 3) == "llmcost: " + config.string() + limit_error);
    write_file(config, glmasr);
    for (const char* const name : {"preprocessor_config.json", "processor_config.json"}) {
        const fs::path file = folder.path() / name;
        write_blanks(file, "{}", json_limit);
        CHECK(printed(line) == answer);
        write_blanks(file, "{}", json_limit + 1);
        CHECK(refused(line, {}, 3) == "llmcost: " + file.string() + limit_error);
        fs::remove(file);
    }
    const fs::path quantization = folder.path() / "hf_quant_config.json";
    write_blanks(quantization, R"({"quantization": {"quant_algo": "FP8"}})", json_limit + 1);
    CHECK(refused(line, {}, 3) == "llmcost: " + quantization.string() + limit_error);
}

TEST_CASE("adapters, devices and calibrations have 4 MiB") {
    const temporary_folder folder;
    const std::string adapter = R"({"peft_type": "LORA", "r": 8, "lora_alpha": 8, "target_modules": ["q_proj"]})";
    const fs::path adapter_file = folder.path() / "adapter_config.json";
    const std::string train = "train " + llama + " --format csv --adapter " + adapter_file.string();
    write_blanks(adapter_file, adapter, json_limit);
    CHECK(printed(train) != "");
    write_blanks(adapter_file, adapter, json_limit + 1);
    CHECK(refused(train, {}, 3) == "llmcost: " + adapter_file.string() + limit_error);

    const std::string device =
        R"({"name": "X", "peak_tflops": {"bf16": 100}, "memory": {"bandwidth_gbps": 1000, "gigabytes": 16}})";
    const fs::path device_file = folder.path() / "x.json";
    const std::string product = "op gemm --m 1 --n 1 --k 1 --dtype bf16 --calibration ";
    write_blanks(device_file, device, json_limit);
    CHECK(printed(product + "none --device " + device_file.string()) != "");
    write_blanks(device_file, device, json_limit + 1);
    CHECK(refused(product + "none --device " + device_file.string(), {}, 3) ==
          "llmcost: " + device_file.string() + limit_error);
    CHECK(refused(product + device_file.string() + " --device h200", {}, 3) ==
          "llmcost: " + device_file.string() + limit_error);
}

TEST_CASE("a trace of requests has 1 GiB") {
    const temporary_folder folder;
    const fs::path file = folder.path() / "requests.csv";
    const std::string line =
        "simulate " + llama + " --device h200 --engine vllm --calibration none --trace " + file.string();
    write_sparse(file, "input,output\n", trace_limit + 1);
    CHECK(refused(line, {}, 6) == "llmcost: " + file.string() + ": exceeds 1 GiB\n");
}

TEST_CASE("an index of weights has 100 MB") {
    const temporary_folder folder;
    const fs::path index = folder.path() / "model.safetensors.index.json";
    write_file(folder.path() / "config.json", read_file(config_of("meta-llama__Llama-3.2-1B")));
    write_sparse(index, "{", weight_json_limit + 1);
    CHECK(has(refused("check --safetensors " + index.string(), {}, 3), "expected at most 100000000 bytes\n"));
}

TEST_CASE("a token file has 4096 bytes") {
    const temporary_folder folder;
    const loopback_server server{small_hub{}};
    const surroundings settings{.variables = {{"HF_HUB_OFFLINE", "0"},
                                              {"HF_HOME", (folder.path() / "home").string()},
                                              {"HF_ENDPOINT", server.url()},
                                              {"HF_TOKEN_PATH", (folder.path() / "token").string()}}};
    write_file(folder.path() / "token", std::string(5000, 'x'));
    CHECK(has(refused("--model org/name params", settings, 3), "token"));
    CHECK(server.requests().empty());
}
