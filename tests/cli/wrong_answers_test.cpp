// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

// Wrong answers of other tools that were reported, by the report's name; right ones by hand. The cache of DeepSeek-V3,
// of Mistral 7B and of gpt-oss-20b is held in tests/memory.
namespace llmcost::testing {
namespace {

using nlohmann::json;

json memory_of(const std::string& line) {
    return json::parse(printed("memory " + line + " --dtype bfloat16 --format json"));
}
std::uint64_t cache_of(const std::string& model, std::uint64_t tokens) {
    return memory_of("--model " + model + " --sequence 1 --past " + std::to_string(tokens - 1))["cache"];
}
std::uint64_t metric_value(const std::string& line, const std::string& metric) {
    return json::parse(printed(line + " --format json"))["totals"][metric];
}

}  // namespace

TEST_CASE("hf-mem: layers of linear attention are no full ones (12.0 for 3.0 GiB)") {
    // 12 of 48 layers attend, with 2 heads of 256; the others keep 32 states of 128 x 128 and 4 columns of 8,192
    // channels
    const std::uint64_t full = std::uint64_t{12} * 2 * 2 * 256 * 2 * 131072,
                        others = 36 * (32 * 128 * 128 + 8192 * 4) * 2;
    CHECK(cache_of("Qwen/Qwen3-Next-80B-A3B-Instruct", 131072) == full + others);
}

TEST_CASE("hf-mem 60, 70: layers with a window are there, and engines hold a step more (36,864 for 73,728)") {
    const json m = memory_of("--model openai/gpt-oss-120b --sequence 1 --past 8191");
    CHECK(m["cache_allocated"] == std::uint64_t{18} * 16 * 2048 * (512 + 513));  // vLLM's hybrid cache manager
    CHECK(m["cache"] == std::uint64_t{18} * 2 * 8 * 64 * 2 * (8192 + 127));
}

TEST_CASE("LMCache 688: the size of a head is not always hidden size by heads") {
    CHECK(cache_of("Qwen/Qwen3-0.6B", 10000) == std::uint64_t{28} * 2 * 8 * 128 * 2 * 10000);
}

TEST_CASE("vllm-fit 2: keys are as many as the groups of heads (8 times as many)") {
    CHECK(cache_of("meta-llama/Llama-3.1-8B", 8192) == std::uint64_t{131072} * 8192);
    CHECK(cache_of("Qwen/Qwen2.5-7B", 8192) == std::uint64_t{28} * 2 * 4 * 128 * 2 * 8192);
}

TEST_CASE("LM Studio 1038: a recurrent state takes what it takes, whatever the length (NaN)") {
    const std::string rwkv = "--config " + config_of("RWKV__rwkv-4-169m-pile") + " --sequence 1 --past ";
    CHECK(memory_of(rwkv + "1")["cache"] == memory_of(rwkv + "1000")["cache"]);
    CHECK(memory_of(rwkv + "1")["cache"] > 0);
}

TEST_CASE("ollama 10128: a narrow cache is a smaller one (52 for 10 GB)") {
    const std::string model = "memory --model Qwen/Qwen2.5-32B --past 32767 --sequence 1 --format json";
    const auto bfloat16_cache = json::parse(printed(model))["cache"].get<std::uint64_t>();
    CHECK(json::parse(printed(model + " --cache-dtype fp8"))["cache"] == bfloat16_cache / 2);
    CHECK(json::parse(printed(model + " --cache-dtype int4"))["cache"] == bfloat16_cache / 4);
}

TEST_CASE("inference-sim: devices beyond the heads of keys hold copies, and latents are on each") {
    const auto cache = [](const std::string& model_options) {
        const std::string line = "latency --device h200 --past 999 --cache-dtype bfloat16 --format json --model ";
        return json::parse(llmcost_line(line + model_options).out)["cache_bytes_per_device"].get<std::uint64_t>();
    };
    const std::uint64_t eight_heads = cache("meta-llama/Llama-3.1-8B");
    CHECK(cache("meta-llama/Llama-3.1-8B --tp 8") == eight_heads / 8);
    CHECK(cache("meta-llama/Llama-3.1-8B --tp 16 --network ib_ndr") == eight_heads / 8);
    CHECK(cache("deepseek-ai/DeepSeek-V3 --tp 8") == std::uint64_t{70272} * 1000);
}

TEST_CASE("llmfit 230, vllm-fit 27: all experts are held, active or not (13 for 47 G)") {
    CHECK(memory_of("--model mistralai/Mixtral-8x7B-v0.1")["weights"] == std::uint64_t{2} * 46702792704);
    CHECK(metric_value("--model mistralai/Mixtral-8x7B-v0.1", "active") == 12879925248);
}

TEST_CASE("accelerate: a head of its own is counted, and Adam's states are 16 bytes for a parameter, not 8") {
    // 32 layers, words twice
    CHECK(metric_value("--model meta-llama/Llama-2-7b-hf", "params") ==
          32 * (std::uint64_t{4} * 4096 * 4096 + std::uint64_t{3} * 4096 * 11008 + 2 * 4096) + 2 * 32000 * 4096 + 4096);
    const json mixed = json::parse(printed(
        "train --model meta-llama/Llama-3.2-1B --sequence 16 --precision bf16-mixed --format json"))["own_peaks"];
    const std::uint64_t parameters = 1235814400;
    CHECK(mixed["PARAM"] == 4 * parameters);
    CHECK(mixed["PARAM"].get<std::uint64_t>() + mixed["GRAD"].get<std::uint64_t>() +
              mixed["OPT"].get<std::uint64_t>() >=
          16 * parameters);
}

TEST_CASE("torchinfo 322, Megatron-DeepSpeed 99: a tied tensor is counted once") {
    CHECK(metric_value("--model meta-llama/Llama-3.2-1B", "params") == 1235814400);
    CHECK(metric_value("--model meta-llama/Llama-3.2-1B --set tie_word_embeddings=false", "params") ==
          1235814400 + std::uint64_t{128256} * 2048);
}

TEST_CASE("calflops 48: attention grows with the square of the sequence") {
    const std::string model = "--model meta-llama/Llama-3.1-8B --sequence ";
    const std::uint64_t base_flops = metric_value(model + "1024", "torch_flops"),
                        twice = metric_value(model + "2048", "torch_flops");
    // scores and their sums of values: 4 · 32 heads · 128 · S² in each of 32 layers
    CHECK(twice == 2 * base_flops + std::uint64_t{32} * 4 * 32 * 128 * 2 * 1024 * 1024);
}

TEST_CASE("TRL 5698, tt-metal 50114: a look-up of words is no product") {
    CHECK(printed("--model meta-llama/Llama-3.2-1B --format csv macs embedding") == "scope,macs\nembedding,0\n");
}

TEST_CASE("MaxText 678: a token is multiplied with the experts that it is sent to") {
    // two of eight; without the table of words, which is looked up in
    const std::uint64_t macs = metric_value("--model mistralai/Mixtral-8x7B-v0.1 --sequence 1", "macs");
    const std::uint64_t expected_macs = 12879925248 - std::uint64_t{32000} * 4096;
    CHECK(macs > expected_macs - expected_macs / 500);
    CHECK(macs < expected_macs + expected_macs / 500);
}

TEST_CASE("dstack 1439, hf-mem 33: GB are powers of 1000, GiB of 1024") {
    const auto available = [](const std::string& size) {
        const std::string line = "memory --model meta-llama/Llama-3.2-1B --sequence 9 --format json --memory ";
        return json::parse(printed(line + size))["available"].get<std::uint64_t>();
    };
    CHECK(available("80GB") == 80'000'000'000);
    CHECK(available("80GiB") == std::uint64_t{80} << 30);
    CHECK(available("80G") == std::uint64_t{80} << 30);
}

}  // namespace llmcost::testing
