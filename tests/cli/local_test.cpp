// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

// `llmcost latency --engine llama.cpp` and `llmcost local`: measured speeds, laws, members and errors.
namespace llmcost::testing {
namespace {

nlohmann::json answer(const std::string& options) {
    return nlohmann::json::parse(printed("latency --engine llama.cpp --offline --format json " + options));
}

double seconds(const std::string& options) { return answer(options)["seconds"].get<double>(); }

/// The relative error of tokens per second.
double error_of(const std::string& options, double tokens, double measured) {
    return std::abs(tokens / seconds(options) / measured - 1);
}

const std::string gguf_llama = "--model meta-llama/Llama-3.1-8B --quantization q4_k_m ";
const std::string mixture = "--model Qwen/Qwen3-30B-A3B --quantization q4_k_m --device rtx_4090 ";

}  // namespace

TEST_CASE("generation of llama.cpp is within 20 % of measured speeds") {
    // XiongjieDai/GPU-Benchmarks-on-LLM-Inference @aa72e0e, README.md: tg1024 at no depth, so 512 tokens on average
    const struct {
        const char* options;
        double tokens_per_second;
    } rows[]{
        {"--quantization q4_k_m --device rtx_3090", 111.7},     {"--quantization f16 --device rtx_3090", 46.5},
        {"--quantization q4_k_m --device rtx_6000_ada", 131.0}, {"--quantization q4_k_m --device rtx_a6000", 102.2},
        {"--quantization f16 --device rtx_a6000", 40.2},        {"--quantization q4_k_m --device rtx_3080", 106.4},
        {"--quantization q4_k_m --device rtx_4080", 106.2},     {"--quantization f16 --device h100_pcie", 67.8},
        {"--quantization q4_k_m --device apple_m1_max", 34.5},  {"--quantization f16 --device apple_m3_max", 22.4},
    };
    for (const auto& row : rows) {
        CAPTURE(row.options);
        CHECK(error_of("--model meta-llama/Llama-3.1-8B --past 512 -fa off " + std::string(row.options), 1,
                       row.tokens_per_second) < 0.2);
    }
    // geerlingguy/ai-benchmarks @bdf9441, README.md, another source than that of the fit
    CHECK(error_of("--model meta-llama/Llama-3.2-3B --quantization q4_k_m --device rtx_5090 --past 64", 1, 271.4) <
          0.2);
    // kyuz0/amd-strix-halo-toolboxes @d1a34be, docs/results.json
    CHECK(error_of("--model openai/gpt-oss-120b --quantization mxfp4 --device strix_halo --past 64", 1, 51.81) < 0.2);
}

TEST_CASE("prompts of llama.cpp are within 20 % of measured speeds") {
    const std::pair<const char*, double> rows[]{{"rtx_3090", 4030.4},
                                                {"rtx_4080", 5389.7},
                                                {"rtx_3070", 2402.5},
                                                {"a100_pcie_80gb", 5981.0},
                                                {"apple_m3_max", 693.3}};
    for (const auto& row : rows) {
        CAPTURE(row.first);
        CHECK(error_of(gguf_llama + "--sequence 512 -fa off --device " + row.first, 512, row.second) < 0.2);
    }
}

TEST_CASE("generation on CPUs is within 30 % of measured speeds") {
    // geerlingguy/ai-benchmarks @bdf9441, README.md: one speed per model, after 64 tokens
    const struct {
        const char* options;
        double tokens_per_second;
    } rows[]{
        {"--model meta-llama/Llama-3.2-3B --device ampereone_a192", 23.52},  // 192 cores: barriers of threads
        {"--model meta-llama/Llama-3.3-70B-Instruct --device ampereone_a192", 3.86},
        {"--model deepseek-ai/DeepSeek-R1 --device ampereone_a192", 4.18},
        {"--model meta-llama/Llama-3.2-3B --device ryzen_ai_5_340", 23.81},
        {"--model deepseek-ai/DeepSeek-R1-Distill-Qwen-14B --device ryzen_ai_5_340", 5.83},
        {"--model meta-llama/Llama-3.2-3B --device cix_p1", 12.12},  // limited by its cores
        {"--model meta-llama/Llama-3.2-3B --device raspberry_pi_4", 1.6},
    };
    for (const auto& row : rows) {
        CAPTURE(row.options);
        CHECK(error_of("--quantization q4_k_m --past 64 " + std::string(row.options), 1, row.tokens_per_second) < 0.3);
    }
}

TEST_CASE("prompts on several cards are within 20 % of measured speeds") {
    // XiongjieDai/GPU-Benchmarks-on-LLM-Inference @aa72e0e, README.md: 70B prompts hardly overlap, 8B prompts do
    const struct {
        const char* options;
        double tokens, tokens_per_second;
    } rows[]{
        {"--model meta-llama/Llama-3.3-70B-Instruct --device h100_pcie", 4096, 1089.0},
        {"--model meta-llama/Llama-3.3-70B-Instruct --device rtx_4000_ada", 4096, 290.7},
        {"--model meta-llama/Llama-3.3-70B-Instruct --device rtx_6000_ada", 4096, 697.1},
        {"--model meta-llama/Llama-3.1-8B --device h100_pcie", 4096, 16128.3},
        {"--model meta-llama/Llama-3.1-8B --device rtx_4000_ada", 4096, 4404.4},
    };
    for (const auto& row : rows) {
        CAPTURE(row.options);
        CHECK(error_of("--quantization q4_k_m -fa off -ts 1,1,1,1 --sequence " +
                           std::to_string(static_cast<int>(row.tokens)) + ' ' + row.options,
                       row.tokens, row.tokens_per_second) < 0.2);
    }
}

TEST_CASE("a token reads all weights but the embeddings, and of a mixture the routed experts") {
    const nlohmann::json dense = answer("--model meta-llama/Llama-3.1-8B --quantization f16 --device rtx_4090");
    // 8,030,261,248 parameters without 128,256 x 4,096 embeddings and 65 norms of 4,096
    CHECK(dense["work"][0]["products"]["f16"]["bytes"].get<double>() == 2.0 * (8030261248 - 525336576 - 266240));
    const nlohmann::json moe = answer("--model Qwen/Qwen3-30B-A3B --quantization f16 --device a100_sxm_80gb");
    // 48 layers of 128 experts, 8 of them per token: 3 matrices of 2,048 x 768
    const double experts = 48.0 * 8 * 3 * 2048 * 768;
    // queries and output 2,048 x 4,096, keys and values 2,048 x 512, and the head
    const double others = 48.0 * 2048 * (2 * 4096 + 2 * 512) + 151936.0 * 2048;
    CHECK(moe["work"][0]["products"]["f16"]["bytes"].get<double>() == doctest::Approx(2 * (experts + others)));
    // the keys and values of one layer of one token: 8 heads of 128 elements in float16
    const nlohmann::json deep = answer(gguf_llama + "--device rtx_4090 --past 1023");
    CHECK(deep["work"][0]["cache_bytes"].get<double>() == 32.0 * 2 * 8 * 128 * 2 * 1024);
}

TEST_CASE("laws of the speed of llama.cpp") {
    double previous = 0;
    for (const char* depth : {"0", "1000", "10000", "100000"}) {  // a deeper context is never faster
        const double time = seconds(gguf_llama + "--device rtx_4090 --past " + depth);
        CHECK(time > previous);
        previous = time;
    }
    previous = 0;
    for (const char* layers : {"33", "20", "10", "0"}) {  // more layers on a slower CPU are never faster
        const double time = seconds(gguf_llama + "--device rtx_4090 -ngl " + layers);
        CHECK(time > previous);
        previous = time;
    }
    CHECK(seconds(mixture) < seconds(mixture + "--n-cpu-moe 10"));
    CHECK(seconds(mixture + "--n-cpu-moe 10") < seconds(mixture + "--n-cpu-moe 48"));
    // rules divide the gate and up projections of experts, which are one parameter, into the two tensors of the file
    CHECK(seconds(mixture + "-ot exps=CPU") == doctest::Approx(seconds(mixture + "--n-cpu-moe 48")).epsilon(0.03));
    CHECK(seconds(mixture + "--n-cpu-moe 48 --cpu desktop_ddr4_3200") > seconds(mixture + "--n-cpu-moe 48"));
    // devices run one after the other, with a copy between them; physical batches of a prompt overlap
    const double one = seconds(gguf_llama + "--device rtx_3090"),
                 two = seconds(gguf_llama + "--device rtx_3090 -ts 1,1");
    CHECK(two > one);
    CHECK(two < 1.1 * one);
    CHECK(seconds(gguf_llama + "--device rtx_3090 --sequence 4096 -ts 1,1") <
          0.8 * seconds(gguf_llama + "--device rtx_3090 --sequence 4096"));
    CHECK(seconds(gguf_llama + "--device rtx_4090 --past 50000 -ctk q8_0 -ctv q8_0") <
          seconds(gguf_llama + "--device rtx_4090 --past 50000"));
    const nlohmann::json interval = answer(gguf_llama + "--device rtx_4090");
    CHECK(interval["lower"] < interval["seconds"]);
    CHECK(interval["seconds"] < interval["upper"]);
}

TEST_CASE("types of files that llama-quantize does not write are approximate") {
    const std::string gemma = "--model google/gemma-4-26B-A4B-it --device strix_halo --quantization ";
    CHECK(answer(gemma + "q4_k_m")["is_approximate"] == true);
    CHECK(answer(gguf_llama + "--device rtx_4090")["is_approximate"] == false);
    // 15.9 GiB: the size of unsloth's file in kyuz0/amd-strix-halo-toolboxes, docs/results.json
    CHECK(answer(gemma + "UD-Q4_K_XL")["file_bytes"].get<double>() / (1 << 30) == doctest::Approx(15.9).epsilon(0.1));
    // 25,233,142,046 parameters and their norms in float32
    CHECK(answer(gemma + "8bpw")["file_bytes"].get<double>() == doctest::Approx(25.23e9).epsilon(0.02));
    CHECK(has(printed("latency --engine llama.cpp --offline " + gemma + "8bpw"), "8 bits per weight"));
}

TEST_CASE("local lists models of a device and devices of a model") {
    const std::string page = printed("local --offline --device rtx_4070_ti_super --quantization q4_k_m");
    CHECK(has(page, "meta-llama/Llama-3.1-8B-Instruct"));
    CHECK(has(page, "Do not fit: "));
    CHECK(has(page, "meta-llama/Llama-3.3-70B-Instruct q4_k_m"));
    CHECK_FALSE(has(page, "--n-cpu-moe"));
    CHECK(has(printed("local --offline --device rtx_3060 --ram 64GB --quantization q4_k_m"), "--n-cpu-moe"));
    const nlohmann::json rows =
        nlohmann::json::parse(printed("local --offline --model Qwen/Qwen3-8B --format json"))["rows"];
    REQUIRE(rows.size() > 50);
    double previous = 1e9;
    for (const nlohmann::json& row : rows) {  // fastest first
        const double speed = row["generation_tokens_per_second"]["value"];
        CHECK(speed <= previous);
        CHECK(row["context"].get<std::int64_t>() >= 4096);
        previous = speed;
    }
}

TEST_CASE("errors of options of llama.cpp") {
    const auto complaint = [](const std::string& command) { return refused(command); };
    CHECK(has(complaint("latency " + gguf_llama + "--device rtx_4090 -ngl 3"), "requires --engine llama.cpp"));
    const std::string engine = "latency --engine llama.cpp --offline " + gguf_llama;
    CHECK(has(complaint(engine), "--device: required"));
    CHECK(has(complaint(engine + "--device rtx_4090 --tp 2"), "use --tensor-split"));
    CHECK(has(complaint(engine + "--device rtx_4090 --batch 2"), "expected 1"));
    CHECK(has(complaint(engine + "--device raspberry_pi_5 -ngl 3"), "the device is a CPU"));
    CHECK(has(complaint(engine + "--device raspberry_pi_5 --backend cuda"), "is a CPU; expected cpu"));
    CHECK(has(complaint(engine + "--device rtx_4090 --cpu ryzen_9_7950"), "ryzen_9_7950x"));
    CHECK(has(complaint("local --offline"), "--device: required"));
    CHECK(has(complaint("local --offline --device raspberry_pi_5"), "--ram"));
    CHECK(has(complaint("local --offline --device apple_m1_max"), "several memory sizes"));
    CHECK(has(complaint("local --offline --device rtx_4090 --model Qwen/Qwen3-8B"), "cannot be combined"));
}

}  // namespace llmcost::testing
