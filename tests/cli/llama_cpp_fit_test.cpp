// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#include <llmcost/cli/commands/llama_cpp_placement.hpp>
#include <llmcost/memory/name_pattern.hpp>

// `llmcost fit --engine llama.cpp`: its placements are those that `memory` and `latency` compute for the same options.
namespace llmcost::testing {
namespace {

nlohmann::json rows_of_fit(const std::string& options) {
    return nlohmann::json::parse(printed("fit --engine llama.cpp --offline --format json " + options));
}

/// The options of a row in the spelling of the command line of llama-server, without file, context and slots.
std::string options_of_row(const nlohmann::json& row) {
    const auto command = row["command"].get<std::string>();
    std::string options = command.substr(command.find(" -ngl ") + 1);
    if (options.starts_with("-ngl all")) options.erase(0, std::string("-ngl all").size());
    std::string unquoted;
    for (const char c : options)
        if (c != '\'') unquoted += c;
    return unquoted;
}

/// The bytes of the fullest device.
std::int64_t fullest_device(const nlohmann::json& answer) {
    std::int64_t largest = 0;
    for (const nlohmann::json& device : answer["devices"])
        if (device["device"] != "CPU") largest = std::max(largest, device["total"].get<std::int64_t>());
    return largest;
}

const std::string fit_mixture = "--model Qwen/Qwen3-30B-A3B --quantization q4_k_m ";
const std::string fit_dense = "--model Qwen/Qwen3-32B --quantization q4_k_m ";

}  // namespace

TEST_CASE("rows of fit have the memory and the speed of their command line, and use the device") {
    for (const std::string& model : {fit_mixture, fit_dense}) {
        const std::string device = "--device rtx_4070_ti_super ";
        const nlohmann::json answer = rows_of_fit(model + device + "-c 8192");
        CHECK(answer["fits"] == true);
        REQUIRE(answer["rows"].size() >= 4);
        const auto available = answer["available"].get<std::int64_t>();
        for (const nlohmann::json& row : answer["rows"]) {
            const std::string placement = options_of_row(row);
            CAPTURE(placement);
            const nlohmann::json memory =
                json_of("memory --engine llama.cpp --offline --sequence 8192 " + model + placement);
            CHECK(memory["devices"] == row["devices"]);
            CHECK(fullest_device(memory) <= available);
            const nlohmann::json latency =
                json_of("latency --engine llama.cpp --offline --past 512 " + model + device + placement);
            CHECK(latency["generation_tokens_per_second"]["value"].get<double>() ==
                  doctest::Approx(row["generation_tokens_per_second"]["value"].get<double>()));
            // 256 tokens more do not fit, unless the model has no more
            const auto longest = row["max_context"].get<std::int64_t>();
            CHECK(longest >= 8192);
            if (longest == 40960) continue;
            const auto needed = [&](std::int64_t context) {
                return fullest_device(json_of("memory --engine llama.cpp --offline --sequence " +
                                              std::to_string(context) + ' ' + model + placement));
            };
            CHECK(needed(longest) <= available);
            CHECK(needed(longest + 256) > available);
        }
    }
}

TEST_CASE("fit keeps as few tensors on the CPU as possible") {
    const std::string device = "--device rtx_4070_ti_super ";
    bool has_experts = false, has_layers = false, has_rules = false;
    const auto fits_with = [&](const std::string& options, std::int64_t available) {
        return fullest_device(json_of("memory --engine llama.cpp --offline --sequence 4096 " + options)) <= available;
    };
    const nlohmann::json of_mixture = rows_of_fit(fit_mixture + device + "-ctk f16");
    const auto available = of_mixture["available"].get<std::int64_t>();
    for (const nlohmann::json& row : of_mixture["rows"]) {
        const auto experts = row["cpu_expert_layers"].get<int>(), layers = row["gpu_layers"].get<int>();
        if (experts > 0) {
            has_experts = true;
            CHECK(fits_with(fit_mixture + "--n-cpu-moe " + std::to_string(experts), available));
            CHECK_FALSE(fits_with(fit_mixture + "--n-cpu-moe " + std::to_string(experts - 1), available));
        } else {
            has_layers = true;
            CHECK_FALSE(fits_with(fit_mixture + "-ngl " + std::to_string(layers + 1), available));
        }
    }
    const nlohmann::json of_dense = rows_of_fit(fit_dense + device + "-ctk f16");
    for (const nlohmann::json& row : of_dense["rows"]) {
        if (row["override_tensor"].is_null()) continue;
        has_rules = true;
        CHECK(row["override_tensor"].get<std::string>().starts_with("blk\\.([0-9]|"));
        CHECK(row["ollama"].is_null());
        CHECK(row["lm_studio"].is_null());
    }
    CHECK(has_experts);
    CHECK(has_layers);
    CHECK(has_rules);
}

TEST_CASE("the rule of --override-tensor matches the MLPs of the first layers only") {
    for (const std::int64_t layers : {1, 2, 9, 10, 11, 19, 20, 21, 65, 99, 100, 101, 109, 110, 111, 126}) {
        CAPTURE(layers);
        const std::string rule = cli::detail::mlp_override(layers);
        REQUIRE(rule.ends_with("=CPU"));
        const auto pattern = name_pattern::parse(".*(" + rule.substr(0, rule.size() - 4) + ')');
        REQUIRE(pattern.has_value());
        for (std::int64_t layer = 0; layer < 130; ++layer) {
            CAPTURE(layer);
            const std::string block = "blk." + std::to_string(layer);
            CHECK(pattern->begins(block + ".ffn_down.weight", false) == (layer < layers));
            CHECK_FALSE(pattern->begins(block + ".ffn_norm.weight", false));
            CHECK_FALSE(pattern->begins(block + ".attn_q.weight", false));
        }
    }
}

TEST_CASE("fit divides layers by the memory of several devices") {
    // 63.4 GB of weights: equal numbers of layers exceed one of two devices with 31.4 GiB
    const nlohmann::json two =
        rows_of_fit("--model openai/gpt-oss-120b --quantization mxfp4 --device rtx_5090 --devices 2 -c 32768");
    REQUIRE(!two["rows"].empty());
    for (const nlohmann::json& row : two["rows"]) {
        CHECK(row["tensor_split"].size() == 2);
        CHECK(fullest_device(row) <= two["available"].get<std::int64_t>());
    }
    const nlohmann::json one =
        rows_of_fit("--model openai/gpt-oss-120b --quantization mxfp4 --device rtx_5090 -c 32768");
    CHECK(one["devices"] == 1);
    CHECK(one["min_devices"] == 2);
    for (const nlohmann::json& row : one["rows"])  // 36 layers and the output
        CHECK((row["cpu_expert_layers"].get<int>() > 0 || row["gpu_layers"].get<int>() < 37));
    CHECK(has(printed("fit --engine llama.cpp --offline --model openai/gpt-oss-120b --quantization mxfp4 "
                      "--device rtx_5090"),
              "All layers fit into 2 x RTX 5090 (--devices 2)"));
}

TEST_CASE("fit prints the settings of Ollama and LM Studio") {
    const nlohmann::json small = rows_of_fit("--model Qwen/Qwen3-8B --quantization q8_0 --device rtx_4090 -c 16384");
    REQUIRE(small["rows"].size() == 1);
    const nlohmann::json& row = small["rows"][0];
    CHECK(row["command"] == "llama-server -m Qwen3-8B-Q8_0.gguf -c 16384 -np 1 -ngl all");
    CHECK(row["ollama"]["num_ctx"] == "16384");
    CHECK(row["ollama"]["num_gpu"] == "37");  // 36 layers and the output
    CHECK(row["ollama"]["OLLAMA_KV_CACHE_TYPE"] == "f16");
    CHECK(row["lm_studio"]["contextLength"] == "16384");
    CHECK(row["lm_studio"]["gpu.ratio"] == "1");
    const std::string page = printed("fit --engine llama.cpp --offline " + fit_mixture + "--device rtx_4090 -ctk q8_0");
    CHECK(has(page, "llama-server -m Qwen3-30B-A3B-Q4_K_M.gguf -c 4096 -np 1 -ngl all -ctk q8_0\n"));
    CHECK(has(page, "llamaKCacheQuantizationType \"q8_0\", llamaVCacheQuantizationType \"f16\""));
    CHECK_FALSE(has(page, "Ollama"));  // one type for keys and values
    const nlohmann::json experts = rows_of_fit(fit_mixture + "--device rtx_4090 --n-cpu-moe 12");
    CHECK(experts["rows"][0]["lm_studio"]["gpu.numCpuExpertLayersRatio"] == "0.25");  // of 48 layers
    CHECK(experts["rows"][0]["ollama"].is_null());
    // slots have a context each
    CHECK(has(printed("fit --engine llama.cpp --offline " + fit_mixture + "--device a100_sxm_80gb --batch 4"),
              "-c 16384 -np 4 -ngl all"));
}

TEST_CASE("models that do not fit, and options that cannot be combined") {
    const std::string engine = "fit --engine llama.cpp --offline " + fit_dense;
    CHECK(has(printed(engine + "--device rtx_3060 --ram 4GB", {}, 8), "Does not fit: "));
    const std::string unfit = printed(
        "fit --engine llama.cpp --offline --format json " + fit_mixture + "--device rtx_3060 --n-cpu-moe 0", {}, 8);
    CHECK(nlohmann::json::parse(unfit)["fits"] == false);
    CHECK(nlohmann::json::parse(unfit)["rows"].empty());
    // unified memory: the CPU has no other one
    CHECK(has(printed("fit --engine llama.cpp --offline --model deepseek-ai/DeepSeek-R1 --quantization q4_k_m "
                      "--device strix_halo",
                      {}, 8),
              "Does not fit: "));
    CHECK(has(refused(engine), "--device: required with --engine llama.cpp"));
    CHECK(has(refused(engine + "--memory 24GB"), "--memory: not supported with --engine llama.cpp; use --device"));
    CHECK(has(refused(engine + "--device rtx_4090 --training"), "--training: not supported with --engine llama.cpp"));
    CHECK(has(refused(engine + "--device rtx_4090 --devices 2 -ts 1,1"), "cannot be combined with --tensor-split"));
    CHECK(has(refused(engine + "--device rtx_4090 --sequence 8 -c 9"), "cannot be combined with --context"));
    CHECK(has(refused(engine + "--device apple_m1_max"), "several memory sizes"));
    CHECK(has(refused(engine + "--device raspberry_pi_5 -ngl 3"), "the device is a CPU"));
    CHECK(has(refused("fit --offline " + fit_dense + "--device rtx_4090 -ngl 3"), "requires --engine llama.cpp"));
}

}  // namespace llmcost::testing
