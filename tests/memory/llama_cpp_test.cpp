// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/files/check_gguf.hpp>
#include <llmcost/files/gguf_names.hpp>
#include <llmcost/files/gguf_sizes.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/report/listing.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "registry.hpp"

// Buffers of llama.cpp against its log. The log prints MiB with two digits after the point.
namespace llmcost {
namespace {

model llama_cpp_model(const std::string& name) {
    return read_config_file(LLMCOST_TEST_DIR "/golden/" + name + ".json").read_with([](config_view root) {
        return parts::registry.read(root);
    });
}

workload llama_cpp_load(std::int64_t batch, std::int64_t tokens) { return {.batch = batch, .sequence = tokens}; }

std::vector<llama_cpp_weight> llama_cpp_weights(const model& m, const std::string& mix, const gguf_source& source) {
    const model_listing listing = list_model(m, minimal_workload(m));
    const stored_tensors file = gguf_sizes(m, listing, mix, source).weights;
    const stored_bytes stored = stored_bytes_of(file.tensors, check_gguf(gguf_tensors(m, listing), file));
    std::vector<llama_cpp_weight> weights;
    for (const tensor_shape& t : listing.tensors) {
        count elements = 1;
        for (const std::int64_t size : t.sizes) elements *= count(size);
        weights.push_back({t.name, stored.parameter_bytes(t.name), elements});
    }
    return weights;
}

void check_mebibytes(count bytes, double printed, double tolerance = 0.0051) {
    const double mebibytes = static_cast<double>(bytes.to_64()) / (1 << 20);
    CAPTURE(mebibytes);
    CAPTURE(printed);
    CHECK(std::abs(mebibytes - printed) < tolerance);
}

struct printed_buffers {
    double model, kv_cache, compute, output;
};
struct printed_log {
    const char* config;
    std::int64_t batch, tokens;
    llama_cpp_options options;
    std::vector<printed_buffers> devices;
};

}  // namespace

TEST_CASE("buffers are those in the log of llama.cpp") {
    // llama.cpp b11434: `llama_model_load_from_file` of files with these tensors, in F16 (gpt-oss: Q8_0 and MXFP4), and
    // `llama_init_from_model`, on devices whose memory has the alignment and the row padding of CUDA. The host's line
    // is the sum of CPU_Mapped and CUDA_Host; the KV cache is the sum of the full and the sliding cache. A model buffer
    // of 0 is not compared: with `--n-cpu-moe`, the log prints a range of the mapped file, tensors on devices included.
    // Model buffers in the log include up to 511 elements after each quantized tensor.
    // clang-format off
    const printed_log logs[]{
        {"meta-llama__Llama-3.2-1B", 1, 8192, {}, {{2357.26, 256.00, 274.52, 0.00}, {501.00, 0.00, 24.02, 0.49}}},
        {"meta-llama__Llama-3.2-1B", 1, 10000, {.has_flash_attention = false, .tensor_split = {3,1}}, {{1508.20, 260.00, 796.04, 0.00}, {849.05, 60.00, 760.03, 0.00}, {501.00, 0.00, 128.06, 0.49}}},
        {"meta-llama__Llama-3.2-1B", 2, 2048, {.gpu_layers = 0}, {{2357.26, 128.00, 272.52, 0.98}}},
        {"meta-llama__Llama-3.2-1B", 1, 4096, {.gpu_layers = 8}, {{1313.12, 56.00, 266.50, 0.00}, {1545.15, 72.00, 20.02, 0.49}}},
        {"Qwen__Qwen2.5-3B", 1, 8192, {.num_ubatch = 2048}, {{5886.42, 288.00, 1283.06, 0.00}, {593.50, 0.00, 96.08, 0.58}}},
        {"Qwen__Qwen2.5-3B", 1, 4096, {.num_ubatch = 128, .keys = {32, 34}, .values = {32, 18}}, {{5886.42, 58.52, 79.27, 0.00}, {593.50, 0.00, 5.08, 0.58}}},
        {"google__gemma-3-1b-it", 1, 8192, {}, {{1907.39, 54.00, 530.03, 0.00}, {576.00, 0.00, 18.03, 1.00}}},
        {"google__gemma-3-1b-it", 4, 8192, {.has_full_sliding_cache = true}, {{1907.39, 832.00, 537.03, 0.00}, {576.00, 0.00, 25.03, 4.00}}},
        {"google__gemma-2-2b-it", 1, 10000, {.has_flash_attention = false, .tensor_split = {1,1,1}}, {{1336.82, 250.00, 383.55, 0.00}, {1336.82, 272.00, 343.04, 0.00}, {2313.29, 232.00, 670.55, 0.00}, {1125.00, 0.00, 193.08, 0.98}}},
        {"google__gemma-2-2b-it", 1, 4096, {.gpu_layers = 8}, {{2164.75, 112.00, 518.00, 0.00}, {3947.18, 304.00, 26.03, 0.98}}},
        {"microsoft__Phi-3-mini-4k-instruct", 1, 4096, {.has_flash_attention = false}, {{7100.64, 1536.00, 300.01, 0.00}, {187.88, 0.00, 44.02, 0.12}}},
        {"openai__gpt-oss-20b", 1, 131072, {}, {{10949.38, 3090.00, 544.02, 0.00}, {586.82, 0.00, 151.28, 0.77}}},
        {"openai__gpt-oss-20b", 1, 8192, {.tensor_split = {1,1}}, {{5613.05, 106.50, 194.96, 0.00}, {5336.33, 103.50, 461.58, 0.00}, {586.82, 0.00, 91.36, 0.77}}},
        {"openai__gpt-oss-20b", 1, 8192, {.cpu_expert_layers = 6}, {{8522.54, 210.00, 416.01, 0.00}, {0.00, 0.00, 31.28, 0.77}}},
    };
    // clang-format on
    for (const printed_log& log : logs) {
        CAPTURE(log.config);
        CAPTURE(log.tokens);
        CAPTURE(log.options.gpu_layers);
        const model m = llama_cpp_model(log.config);
        const bool is_mxfp4 = m.config.quantized;
        const llama_cpp_memory memory =
            llama_cpp_memory_of(m, llama_cpp_load(log.batch, log.tokens), log.options,
                                llama_cpp_weights(m, is_mxfp4 ? "q8_0" : "f16", {.experts_are_mxfp4 = is_mxfp4}));
        CHECK(memory.has_exact_compute);
        REQUIRE(memory.devices.size() == log.devices.size());
        for (std::size_t i = 0; i < log.devices.size(); ++i) {
            CAPTURE(i);
            if (log.devices[i].model > 0) check_mebibytes(memory.devices[i].model, log.devices[i].model, 0.03);
            check_mebibytes(memory.devices[i].kv_cache, log.devices[i].kv_cache, 0.0101);
            check_mebibytes(memory.devices[i].compute, log.devices[i].compute);
            check_mebibytes(memory.devices[i].output, log.devices[i].output);
        }
    }
}

TEST_CASE("layers are divided as in the logs of Llama 3 8B on several devices") {
    // XiongjieDai/GPU-Benchmarks-on-LLM-Inference@aa72e0e, "LLaMA 3/Gaming GPUs": 3070_v3 (b2824), 3090_2_v3 (b2833),
    // 3090_4_v3 (b2833), 4090_8_v3 (b2824); Q4_K_M, 8,192 tokens. Model and KV buffers in MiB. The layers with more
    // bits on eight devices depend on the order of the tensors in that file.
    struct devices_log {
        std::vector<double> model, kv_cache;
    };
    const devices_log logs[]{
        {{4403.49}, {1024}},
        {{2113.28, 2290.21}, {544, 480}},
        {{1130.62, 982.66, 982.66, 1307.55}, {288, 256, 256, 224}},
        {{}, {160, 128, 128, 128, 128, 128, 128, 96}},
    };
    model m = llama_cpp_model("mistralai__Mistral-7B-v0.1");  // the sizes of Llama 3 8B, except for the vocabulary
    m.config.vocab_size = 128256;
    const std::vector<llama_cpp_weight> weights = llama_cpp_weights(m, "q4_k_m", {});
    for (const devices_log& log : logs) {
        llama_cpp_options options;
        options.tensor_split.assign(log.kv_cache.size(), 1);
        const llama_cpp_memory memory = llama_cpp_memory_of(m, llama_cpp_load(1, 8192), options, weights);
        REQUIRE(memory.devices.size() == log.kv_cache.size() + 1);
        for (std::size_t i = 0; i < log.kv_cache.size(); ++i) {
            CAPTURE(i);
            if (!log.model.empty()) check_mebibytes(memory.devices[i].model, log.model[i]);
            check_mebibytes(memory.devices[i].kv_cache, log.kv_cache[i]);
        }
        check_mebibytes(memory.devices.back().model, 281.81);
        check_mebibytes(memory.devices.back().output, 0.49);
    }
}

// src/llama-model-loader.cpp, `create_tensor`: the frequencies of layer i > 0 are duplicated for the device of the
// layer.
TEST_CASE("rotary frequencies are copied to each device with layers") {
    const model m = llama_cpp_model("meta-llama__Llama-3.2-1B");
    CHECK(frequency_bytes_of(m, {.rescales_frequencies = true}) == count(32 * 4));
    CHECK(frequency_bytes_of(m, {}) == count{});
    constexpr std::int64_t bytes = 1 << 20;
    const auto copies = [&](const llama_cpp_options& options) {
        const llama_cpp_memory memory =
            llama_cpp_memory_of(m, llama_cpp_load(1, 4096), options,
                                {{"frequencies", count(bytes), count{}, llama_cpp_weight::each_device}});
        std::vector<bool> has_copy;
        for (const llama_cpp_buffers& device : memory.devices) has_copy.push_back(device.model == count(bytes));
        return has_copy;
    };
    CHECK(copies({}) == std::vector<bool>{true, false});
    CHECK(copies({.tensor_split = {3, 1}}) == std::vector<bool>{true, true, false});
    CHECK(copies({.gpu_layers = 8}) == std::vector<bool>{true, true});
}

TEST_CASE("sliding layers have a cache of their own only where llama.cpp has one") {
    // a log of gpt-oss-20b with 131,072 tokens: "full 131072 cells 3072.00", "sliding 768 cells 18.00"
    const model gpt_oss = llama_cpp_model("openai__gpt-oss-20b");
    const llama_cpp_memory memory = llama_cpp_memory_of(gpt_oss, llama_cpp_load(1, 131072), {}, {});
    CHECK(memory.cells == 131072);
    CHECK(memory.sliding_cells == 768);
    check_mebibytes(memory.devices[0].kv_cache, 3072 + 18);
    // Mistral 7B has a window of 4,096 tokens, and its log says "KV self size = 1024.00 MiB" with 8,192 tokens
    const model mistral = llama_cpp_model("mistralai__Mistral-7B-v0.1");
    check_mebibytes(llama_cpp_memory_of(mistral, llama_cpp_load(1, 8192), {}, {}).devices[0].kv_cache, 1024);
    // a window is not padded beyond the context; the context is, to 256 cells
    const llama_cpp_memory shorter = llama_cpp_memory_of(gpt_oss, llama_cpp_load(1, 300), {}, {});
    CHECK(shorter.cells == 512);
    CHECK(shorter.sliding_cells == 512);
}

TEST_CASE("a ggml buffer takes the smallest free block") {
    detail::ggml_buffer buffer(128);
    const std::uint64_t a = buffer.allocate(1000), b = buffer.allocate(128), c = buffer.allocate(500);
    const std::uint64_t d = buffer.allocate(128);
    CHECK(buffer.size() == 1024 + 128 + 512 + 128);
    buffer.free(a, 1000);
    buffer.free(c, 500);
    CHECK(buffer.allocate(400) == c);
    CHECK(buffer.allocate(300) == a);
    buffer.free(b, 128);
    // the rest of a and b are one block
    CHECK(buffer.allocate(700) == a + 384);
    CHECK(buffer.allocate(256) == d + 128);
    CHECK(buffer.size() == 1024 + 128 + 512 + 128 + 256);
}

}  // namespace llmcost
