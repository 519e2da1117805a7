// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

// `llmcost memory --engine llama.cpp`: its lines, members and errors.
namespace llmcost::testing {
namespace {

const std::string llama_cpp = "memory --config " + config_of("meta-llama__Llama-3.2-1B") + " --engine llama.cpp ";

}  // namespace

TEST_CASE("memory prints the buffers of llama.cpp's log") {
    // values of the log of llama.cpp b11434, see tests/memory/llama_cpp_test.cpp
    const std::string page = printed(llama_cpp + "--quantization f16 --sequence 8192");
    for (const char* line :
         {"GPU0 model buffer size = 2357.26 MiB", "CPU model buffer size = 501.00 MiB",
          "GPU0 KV buffer size = 256.00 MiB", "GPU0 compute buffer size = 274.52 MiB",
          "CPU compute buffer size = 24.02 MiB", "CPU output buffer size = 0.49 MiB", "8,192 cells"}) {
        CAPTURE(line);
        CHECK(has(page, line));
    }
    CHECK_FALSE(has(page, "estimated"));
    const std::string sliding =
        printed("memory --config " + config_of("openai__gpt-oss-20b") + " --engine llama.cpp --sequence 131072");
    CHECK(has(sliding, "131,072 + 768 sliding cells"));
    CHECK(has(
        printed("memory --config " + config_of("state-spaces__mamba-130m-hf") + " --engine llama.cpp --sequence 512"),
        "The compute buffer is estimated"));
}

TEST_CASE("members of llama.cpp's devices add up") {
    const nlohmann::json m = nlohmann::json::parse(
        printed(llama_cpp + "--quantization q8_0 --sequence 4096 -ts 3,1 -fa off -ub 256 --format json"));
    REQUIRE(m["devices"].size() == 3);
    CHECK(m["devices"][0]["device"] == "GPU0");
    CHECK(m["devices"][2]["device"] == "CPU");
    std::int64_t total = 0, model = 0;
    for (const nlohmann::json& device : m["devices"]) {
        total += device["total"].get<std::int64_t>();
        model += device["model"].get<std::int64_t>();
    }
    CHECK(m["total"] == total);
    CHECK(m["weights"] == model);
    CHECK(m["compute_is_exact"] == true);
    // without layers on devices, there is only the host
    const nlohmann::json on_host =
        nlohmann::json::parse(printed(llama_cpp + "--sequence 4096 --n-gpu-layers 0 --format json"));
    CHECK(on_host["devices"].size() == 1);
    const nlohmann::json q8 =
        nlohmann::json::parse(printed(llama_cpp + "--sequence 4096 -ctk q8_0 --cache-type-v q4_0 --format json"));
    // 16 layers · 512 elements · 4,096 cells; 34 and 18 bytes for 32 elements
    CHECK(q8["cache_allocated"] == std::int64_t{16} * 512 * 4096 / 32 * (34 + 18));
}

TEST_CASE("llama.cpp's options are refused without it") {
    CHECK(has(refused("memory --config " + config_of("meta-llama__Llama-3.2-1B") + " -ngl 3"),
              "--gpu-layers: supported only with --engine llama.cpp"));
    CHECK(has(refused(llama_cpp + "-fa off -ctv q8_0"), "--cache-type-v: a quantized type requires flash attention"));
    CHECK(has(refused(llama_cpp + "-ts 0,0"), "--tensor-split: expected a share above 0"));
    CHECK(has(refused("fit --memory 8GB --config " + config_of("meta-llama__Llama-3.2-1B") + " --engine llama.cpp"),
              "--engine: llama.cpp is supported only by llmcost memory"));
}

}  // namespace llmcost::testing
