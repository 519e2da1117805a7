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
    CHECK(has(refused("report --device h100 --config " + config_of("meta-llama__Llama-3.2-1B") + " --engine llama.cpp"),
              "--engine: llama.cpp is supported only by llmcost memory"));
}

TEST_CASE("tensors whose GGUF name matches have a device of their own") {
    const std::string experts = "memory --config " + config_of("Qwen__Qwen3-30B-A3B") +
                                " --engine llama.cpp --quantization q4_k_m --sequence 8192 ";
    // all experts on the host: as --n-cpu-moe with all 48 layers, which is a rule for the same tensors in llama.cpp
    const auto moved = json_of(experts + "--override-tensor ffn_(up|down|gate)_exps=CPU");
    CHECK(moved["devices"] == json_of(experts + "--n-cpu-moe 48")["devices"]);
    CHECK(moved["compute_is_exact"] == json_of(experts + "--n-cpu-moe 48")["compute_is_exact"]);

    // one matrix of one layer: 2,048 x 8,192 elements of the f16 file move from the second device to the first
    const std::string two_devices = llama_cpp + "--quantization f16 --sequence 512 --tensor-split 1,1 ";
    const auto as_placed = json_of(two_devices);
    const auto with_rule = json_of(two_devices + R"(-ot blk\.15\.ffn_up=CUDA0)");
    constexpr std::int64_t bytes = std::int64_t{2048} * 8192 * 2;
    CHECK(with_rule["devices"][0]["model"].get<std::int64_t>() ==
          as_placed["devices"][0]["model"].get<std::int64_t>() + bytes);
    CHECK(with_rule["devices"][1]["model"].get<std::int64_t>() ==
          as_placed["devices"][1]["model"].get<std::int64_t>() - bytes);
    CHECK(with_rule["devices"][2]["model"] == as_placed["devices"][2]["model"]);
    CHECK(with_rule["compute_is_exact"] == false);
    // the first rule that matches counts
    CHECK(json_of(two_devices + R"(-ot ffn_up=CPU,blk\.15\.ffn_up=CUDA0)")["devices"][2]["model"].get<std::int64_t>() ==
          as_placed["devices"][2]["model"].get<std::int64_t>() + 16 * bytes);

    CHECK(has(refused(llama_cpp + "-ot exps"), "--override-tensor: expected REGEX=DEVICE, found 'exps'"));
    CHECK(has(refused(llama_cpp + "-ot exps=CUDA1"), "no device 'CUDA1'; expected CPU, or GPU0 to GPU0"));
    CHECK(has(refused(llama_cpp + "-ot (exps=CPU"), "unsupported regular expression '(exps'"));
}

TEST_CASE("a memory limit applies to each device of llama.cpp, and determines the layers that fit") {
    const auto all = json_of(llama_cpp + "--quantization f16 --sequence 8192");
    const auto needed = all["devices"][0]["total"].get<std::int64_t>();
    CHECK(json_of(llama_cpp + "--quantization f16 --sequence 8192 --memory " + std::to_string(needed) + "B")["fits"] ==
          true);
    const std::string smaller = llama_cpp + "--quantization f16 --sequence 8192 --memory 1500MiB";
    const auto limited = nlohmann::json::parse(printed(smaller + " --format json", {}, 8));
    const auto layers = limited["max_gpu_layers"].get<int>();
    CHECK(layers > 0);
    CHECK(layers < 17);
    const auto total_with = [&](int n) {
        return json_of(llama_cpp + "--quantization f16 --sequence 8192 -ngl " +
                       std::to_string(n))["devices"][0]["total"]
            .get<std::int64_t>();
    };
    CHECK(total_with(layers) <= std::int64_t{1500} << 20);
    CHECK(total_with(layers + 1) > std::int64_t{1500} << 20);
    CHECK(has(printed(smaller, {}, 8), "Largest --gpu-layers that fits: " + std::to_string(layers) + " of 17\n"));
}

TEST_CASE("a draft model has buffers on the same devices") {
    const std::string target = "memory --config " + config_of("Qwen__Qwen3-30B-A3B") +
                               " --engine llama.cpp --quantization q4_k_m --sequence 4096 --n-cpu-moe 48 ";
    const std::string draft = "meta-llama/Llama-3.2-1B";
    const auto alone = json_of(target);
    const auto with_draft = json_of(target + "--offline --draft-model " + draft);
    const auto of_draft = json_of("memory --offline --model " + draft + " --engine llama.cpp --sequence 4096");
    CHECK(with_draft["devices"][0]["draft"] == of_draft["devices"][0]["total"]);
    CHECK(with_draft["devices"][1]["draft"] == of_draft["devices"][1]["total"]);
    CHECK(with_draft["total"].get<std::int64_t>() ==
          alone["total"].get<std::int64_t>() + of_draft["total"].get<std::int64_t>());
    CHECK(with_draft["devices"][0]["total"].get<std::int64_t>() ==
          alone["devices"][0]["total"].get<std::int64_t>() + of_draft["devices"][0]["total"].get<std::int64_t>());
    CHECK(has(refused(llama_cpp + "--no-mmproj-offload"), "--no-mmproj-offload: requires --mmproj"));
    CHECK(has(refused(llama_cpp + "--mmproj /no/such/file.gguf", {}, 3), "/no/such/file.gguf"));
}

}  // namespace llmcost::testing
