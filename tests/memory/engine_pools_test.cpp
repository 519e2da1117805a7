// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/sglang_memory.hpp>
#include <llmcost/memory/window_pools.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "registry.hpp"

using namespace llmcost;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr double gib = 1024.0 * 1024 * 1024;

// What `nvidia-smi` reports, in MiB.
constexpr std::uint64_t rtx_4090 = 24564 * mib, h100 = 81559 * mib, h200 = 143771 * mib, b200 = 183359 * mib;

model model_of(const std::string& text) {
    return parse_config(text, "config.json").read_with([](config_view root) { return parts::registry.read(root); });
}

model qwen3_8b() {
    return model_of(
        R"({"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
        "max_position_embeddings": 40960, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})");
}

model deepseek_v3() {
    return model_of(
        R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
        "num_key_value_heads": 128, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280, "torch_dtype": "bfloat16"})");
}

model gpt_oss_20b() {
    return model_of(
        R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64,
        "num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128, "vocab_size": 201088,
        "max_position_embeddings": 131072, "num_local_experts": 32, "torch_dtype": "bfloat16"})");
}

// 21 layers with an entry per 4 tokens, 20 with an entry per 128 tokens, 2 with a window only
model deepseek_v4_flash() {
    std::string ratios = "0, 0";
    for (int i = 0; i < 41; ++i) ratios += i % 2 == 0 ? ", 4" : ", 128";
    return model_of(R"({"model_type": "deepseek_v4", "num_hidden_layers": 43, "num_attention_heads": 64,
        "hidden_size": 4096, "torch_dtype": "bfloat16", "sliding_window": 128, "qk_rope_head_dim": 64,
        "compress_ratios": [)" +
                    ratios + "]}");
}

double fraction(const model& m, std::array<int, 3> version, std::uint64_t device, std::int64_t tp = 1,
                std::int64_t pp = 1) {
    sglang_options options;
    options.version = {version};
    return sglang_defaults_of(m, options, device, tp, pp).mem_fraction_static;
}

workload bfloat16_step() {
    workload load;
    load.sequence = 1;
    load.past = 8191;
    load.weights = load.activations = load.cache = dtype::bfloat16;
    return load;
}

}  // namespace

// The expected fractions are those of `ServerArgs` of each release, computed with its Python code.
TEST_CASE("the default of mem_fraction_static follows the release of SGLang, the device and the ranks") {
    const model m = qwen3_8b();
    CHECK(fraction(m, {0, 4, 7}, h100, 8) == doctest::Approx(0.81).epsilon(1e-9));
    CHECK(fraction(m, {0, 4, 7}, h200, 8) == doctest::Approx(0.8717961202189594).epsilon(1e-9));
    CHECK(fraction(m, {0, 4, 7}, b200) == doctest::Approx(0.79).epsilon(1e-9));
    CHECK(fraction(m, {0, 4, 7}, rtx_4090, 2) == doctest::Approx(0.87).epsilon(1e-9));

    CHECK(fraction(m, {0, 5, 2}, h100) == doctest::Approx(0.874).epsilon(1e-9));
    CHECK(fraction(m, {0, 5, 2}, h200, 8) == doctest::Approx(0.886).epsilon(1e-9));
    CHECK(fraction(m, {0, 5, 2}, rtx_4090) == doctest::Approx(0.879).epsilon(1e-9));
    CHECK(fraction(m, {0, 4, 8}, b200) == doctest::Approx(0.821).epsilon(1e-9));

    CHECK(fraction(m, {0, 5, 4}, rtx_4090) == doctest::Approx(0.848).epsilon(1e-9));
    CHECK(fraction(m, {0, 5, 5}, rtx_4090) == doctest::Approx(0.847).epsilon(1e-9));
    CHECK(fraction(m, {0, 5, 9}, h100) == doctest::Approx(0.835).epsilon(1e-9));
    CHECK(fraction(m, {0, 5, 9}, h100, 8) == doctest::Approx(0.818).epsilon(1e-9));

    // from 0.5.10, 58 prefill sizes are captured; not with pipeline stages
    CHECK(fraction(m, {0, 5, 10}, h100) == doctest::Approx(0.83).epsilon(1e-9));
    CHECK(fraction(m, {0, 5, 10}, h100, 1, 8) == fraction(m, {0, 5, 9}, h100, 1, 8));
    CHECK(fraction(m, {0, 5, 10}, b200) == doctest::Approx(0.854).epsilon(1e-9));
    CHECK(fraction(m, {0, 5, 20}, rtx_4090) == doctest::Approx(0.704).epsilon(1e-9));
    CHECK(fraction(deepseek_v3(), {0, 5, 10}, h100, 8) == doctest::Approx(0.799).epsilon(1e-9));
}

// A log of 0.5.10 on a B200: "Load weight begin. avail mem=178" GiB, "mem usage=15.28 GB", "#tokens: 992896",
// K and V together 136.36 GiB.
TEST_CASE("the token pool has the size that a published log states") {
    const model m = qwen3_8b();
    const workload load = bfloat16_step();
    const sglang_pool_layout layout(m, load, {});
    CHECK(layout.token_bytes() == count(2 * 36 * 8 * 128 * 2));
    const double weights = 15.28 * gib, free = 178 * gib;
    const auto available = static_cast<std::uint64_t>(free * fraction(m, {0, 5, 10}, b200) - weights);
    const sglang_pools pools = layout.pools_in(count(available), 8192, 16384);
    CHECK(static_cast<double>(pools.max_total_num_tokens) == doctest::Approx(992896).epsilon(0.005));
    CHECK(static_cast<double>(pools.kv_bytes) / gib == doctest::Approx(136.36).epsilon(0.005));
    CHECK(pools.max_running_requests == 4096);
    CHECK(pools.req_to_token_bytes == count(4097 * 40960 * std::int64_t{4}));

    // 8,030,261,248 parameters are 14.96 GiB; a log states 15.02 GB
    model llama = model_of(
        R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
        "tie_word_embeddings": false, "torch_dtype": "bfloat16"})");
    const rank_memory ranks(llama, load, *find_engine_memory_profile("sglang"));
    const inference_memory memory = ranks.largest(load);
    CHECK(memory.table_bytes == count(131072 * 128 * 4));
    CHECK(static_cast<double>(memory.weight_bytes + memory.table_bytes) / gib == doctest::Approx(15.02).epsilon(3e-4));
}

TEST_CASE("the static memory is a fraction of what the CUDA context leaves, less the weights") {
    const workload load = bfloat16_step();
    engine_memory_profile engine = *find_engine_memory_profile("sglang");
    engine.sglang.mem_fraction_static = 0.5;
    const rank_memory ranks(qwen3_8b(), load, engine);
    const inference_memory memory = ranks.largest(load);
    const sglang_pools pools = ranks.token_pools(load, 0, 80 * std::uint64_t{1024} * mib);
    const std::uint64_t available =
        40 * std::uint64_t{1024} * mib - 150 * mib - (memory.weight_bytes + memory.table_bytes).to_64();
    CHECK(pools.max_total_num_tokens == static_cast<std::int64_t>(available / (2 * 36 * 8 * 128 * 2)));
    engine.sglang.max_total_tokens = 1000;
    engine.sglang.page_size = 64;
    const rank_memory limited(qwen3_8b(), load, engine);
    CHECK(limited.token_pools(load, 0, 80 * std::uint64_t{1024} * mib).max_total_num_tokens == 960);
}

// 36 layers · 2 · 8 heads · 128 · 2 bytes: 147,456 bytes of a token
TEST_CASE("fit has the static fraction of SGLang") {
    workload load = bfloat16_step();
    load.sequence = 8192;
    load.past = 0;
    engine_memory_profile engine = *find_engine_memory_profile("sglang");
    const std::uint64_t device = 80 * std::uint64_t{1024} * mib;
    for (const double share : {0.5, 0.8}) {
        engine.sglang.mem_fraction_static = share;
        const rank_memory ranks(qwen3_8b(), load, engine);
        const inference_memory memory = ranks.largest(load);
        const double pools = share * static_cast<double>(device - 300 * mib) -
                             static_cast<double>(memory.weight_bytes + memory.table_bytes);
        const fit_figures figures = fit_inference(ranks, load, device);
        CHECK(figures.max_batch == static_cast<std::int64_t>(pools / 147456 / 8192));
        CHECK(figures.max_batch == figures.max_concurrency);
        CHECK(figures.fits);
    }
    engine.sglang.mem_fraction_static = 0.2;  // 16 GiB are less than the weights
    CHECK_FALSE(fit_inference({qwen3_8b(), load, engine}, load, device).fits);
    engine.sglang.mem_fraction_static = 0.99;  // 0.8 GiB are less than the activations
    CHECK_FALSE(fit_inference({qwen3_8b(), load, engine}, load, device).fits);
}

// A log of Qwen3.5-35B-A3B states 32 slots: "conv_state size: 0.05GB, ssm_state size: 1.93GB".
TEST_CASE("recurrent states are float32 with one padding slot, and take 0.9 of the memory of tokens") {
    const model m = model_of(
        R"({"model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers": 40, "num_attention_heads": 16,
        "num_key_value_heads": 2, "head_dim": 256, "linear_num_value_heads": 32, "linear_num_key_heads": 16,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "vocab_size": 248320,
        "num_experts": 256, "num_experts_per_tok": 8, "torch_dtype": "bfloat16"})");
    const workload load = bfloat16_step();
    sglang_options options;
    options.max_mamba_cache_size = 32;
    const sglang_pool_layout layout(m, load, options);
    // 30 of 40 layers: convolution 8,192 channels of 3 bfloat16 values, state 32 heads of 128 x 128 float32 values
    CHECK(layout.state_bytes() == count(30 * (8192 * 3 * 2 + 32 * 128 * 128 * 4)));
    const sglang_pools fixed = layout.pools_in(count(std::uint64_t{4} << 30), 8192, 8192);
    CHECK(static_cast<double>(fixed.mamba_bytes) / gib == doctest::Approx(1.93 + 0.05).epsilon(0.005));
    CHECK(fixed.max_running_requests == 32 / 3);

    const sglang_pools shared = sglang_pool_layout(m, load, {}).pools_in(count(std::uint64_t{60} << 30), 8192, 8192);
    CHECK(static_cast<double>(shared.mamba_bytes) / static_cast<double>(shared.kv_bytes) ==
          doctest::Approx(0.9).epsilon(0.01));
}

TEST_CASE("sliding layers of some model types have a pool with 0.8 of the tokens") {
    const model m = gpt_oss_20b();
    const sglang_pool_layout layout(m, bfloat16_step(), {});
    CHECK(layout.token_bytes() == count(12 * 2 * 8 * 64 * 2));
    CHECK(layout.swa_token_bytes() == count(12 * 2 * 8 * 64 * 2));
    CHECK(layout.request_bytes(100000, 8192) == count(12 * 2 * 8 * 64 * 2) * count(100000 + 128 + 8192));
    const std::int64_t cell = 24576 * 10 / 10;
    const sglang_pools pools = layout.pools_in(count(std::uint64_t{10} << 30), 8192, 8192);
    CHECK(pools.max_total_num_tokens ==
          static_cast<std::int64_t>((std::uint64_t{10} << 30) / (1.8 * static_cast<double>(cell))));
    CHECK(pools.swa_num_tokens == static_cast<std::int64_t>(static_cast<double>(pools.max_total_num_tokens) * 0.8));
}

TEST_CASE("the required memory of SGLang's pools is the inverse of the pools") {
    const model qwen3_next = model_of(
        R"({"model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers": 40, "num_attention_heads": 16,
        "num_key_value_heads": 2, "head_dim": 256, "linear_num_value_heads": 32, "linear_num_key_heads": 16,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "vocab_size": 248320,
        "num_experts": 256, "num_experts_per_tok": 8, "torch_dtype": "bfloat16"})");
    const model gpt_oss = gpt_oss_20b();
    for (const model& m : {qwen3_8b(), qwen3_next, gpt_oss, deepseek_v4_flash()}) {
        for (const std::int64_t tokens : {1024, 8192, 102'400}) {
            const sglang_pool_layout layout(m, bfloat16_step(), {});
            const count needed = layout.required_bytes(7, tokens, 8192), fewer = layout.required_bytes(6, tokens, 8192);
            CHECK(layout.pools_in(needed + count(mib), tokens, 8192).max_concurrency >= 7);
            CHECK(layout.pools_in(fewer + count(mib), tokens, 8192).max_concurrency < 7);
        }
    }
}

// Logs of DeepSeek-V4: "DSV4 memory calculation: bytes_per_full_token=7705.45" (Flash, 2026-08), 13735.04 (Pro, 0.5.15,
// a ratio of 0.15), 32781.44 (Pro, 0.5.13); "DSV4 pool sizes: full=3441920, swa=516096" in 105.08 GiB (Pro, 0.5.13).
TEST_CASE("the tokens of DeepSeek-V4 have the bytes that published logs of SGLang state") {
    const sglang_pool_layout flash(deepseek_v4_flash(), bfloat16_step(), {});
    CHECK(flash.cell_bytes() == doctest::Approx(7705.45).epsilon(1e-6));
    CHECK(flash.page_size() == 256);

    std::string ratios = "128";
    for (int i = 0; i < 60; ++i) ratios += i % 2 == 0 ? ", 128" : ", 4";
    const model pro = model_of(R"({"model_type": "deepseek_v4", "num_hidden_layers": 61, "num_attention_heads": 128,
        "hidden_size": 7168, "torch_dtype": "bfloat16", "sliding_window": 128, "qk_rope_head_dim": 64,
        "compress_ratios": [)" +
                               ratios + "]}");
    sglang_options options;
    options.swa_full_tokens_ratio = 0.15;
    CHECK(sglang_pool_layout(pro, bfloat16_step(), options).cell_bytes() == doctest::Approx(13735.04).epsilon(1e-6));
    options.version = {.numbers = {0, 5, 13}};
    const sglang_pool_layout earlier(pro, bfloat16_step(), options);
    CHECK(earlier.cell_bytes() == doctest::Approx(32781.44).epsilon(1e-7));
    const sglang_pools pools = earlier.pools_in(count(static_cast<std::uint64_t>(105.08 * gib)), 9472, 8192);
    CHECK(static_cast<double>(pools.max_total_num_tokens) == doctest::Approx(3441920).epsilon(1e-4));
    CHECK(static_cast<double>(pools.swa_num_tokens) == doctest::Approx(516096).epsilon(1e-3));
}

// A log of DeepSeek-V4-Flash with one request: "available_bytes=6.16 GB, c128_state_fixed=0.04 GB", "DSV4 pool sizes:
// full=852992, swa=85248", pages of 128 tokens.
TEST_CASE("the states of compressed entries of DeepSeek-V4 belong to requests") {
    sglang_options options;
    options.max_running_requests = 1;
    const sglang_pool_layout layout(deepseek_v4_flash(), bfloat16_step(), options);
    const sglang_pools pools = layout.pools_in(count(static_cast<std::uint64_t>(6.16 * gib)), 8192, 8192);
    CHECK(static_cast<double>(pools.max_total_num_tokens) == doctest::Approx(852992).epsilon(1e-3));
    CHECK(static_cast<double>(pools.swa_num_tokens) == doctest::Approx(85248).epsilon(3e-3));
    // 512 rows of 2 · 512 float32 values in 20 layers
    const double cells = static_cast<double>(pools.max_total_num_tokens) * layout.cell_bytes();
    CHECK(static_cast<double>(pools.kv_bytes) == doctest::Approx(cells + 512.0 * 20 * 2 * 512 * 4).epsilon(2e-3));
}

// sglang 0.5.23, srt/arg_groups/memory_hook.py: 3 MiB per captured request and data-parallel rank, 4.5 for graphs of
// more than 300 requests. 81,559 MiB: (81559 - (512 + 1.5 * 8192 + 2 * 160 + 1024 + 3 * 160 * 8)) / 81559.
TEST_CASE("data-parallel attention of SGLang reserves memory and divides requests and chunks") {
    sglang_options options;
    options.version = {{0, 5, 9}};
    options.cuda_graph_max_bs = 160;
    options.dp_attention_size = 8;
    CHECK(sglang_defaults_of(qwen3_8b(), options, h100, 8, 1).mem_fraction_static == doctest::Approx(0.779));
    CHECK(sglang_defaults_of(qwen3_8b(), options, h100, 8, 1).chunked_prefill_size == 1024);
    options.cuda_graph_max_bs = 512;
    CHECK(sglang_defaults_of(qwen3_8b(), options, h100, 8, 1).mem_fraction_static == doctest::Approx(0.592));
    options.max_running_requests = 100;
    const sglang_pools pools =
        sglang_pool_layout(qwen3_8b(), bfloat16_step(), options).pools_in(count(std::uint64_t{10} << 30), 8192, 8192);
    CHECK(pools.max_running_requests == 100 / 8);
}

// 4 devices, 2 replicas: attention is divided by 2, MLPs and the head by 4.
TEST_CASE("ranks with data-parallel attention of SGLang share MLPs and the head") {
    const model m = model_of(
        R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 8, "vocab_size": 512,
        "tie_word_embeddings": false, "torch_dtype": "bfloat16"})");
    engine_memory_profile engine = *find_engine_memory_profile("sglang");
    const workload load = bfloat16_step();
    const auto weights = [&](bool has_dp_attention) {
        engine.sglang.dp_attention_size = has_dp_attention ? 2 : 1;
        const inference_sharding sharding{.parallel = make_parallel_config(m, 2, 2),
                                          .pipeline_parallel_size = 1,
                                          .has_dp_attention = has_dp_attention};
        return rank_memory(m, load, engine, sharding).largest(load).weight_bytes;
    };
    constexpr std::int64_t embedding = 512 * 64, attention = 4 * 64 * 64, mlp = 3 * 64 * 256, norms = 5 * 64;
    CHECK(weights(true) ==
          count(std::int64_t{2} * (embedding + 2 * (attention / 2 + mlp / 4) + norms + embedding / 4)));
    CHECK(weights(false) ==
          count(std::int64_t{2} * (embedding / 2 + 2 * (attention / 2 + mlp / 2) + norms + embedding / 2)));
}

// 12 layers per window: 12 · 2 · 8 · 64 · 2 = 24,576 bytes of a token, 786,432 of a block. A request with a window of
// 128 has at most 128 + 8,192 tokens, in 260 blocks.
TEST_CASE("TensorRT-LLM divides the memory equally among the pools of its attention windows") {
    const window_pool_layout layout(gpt_oss_20b(), bfloat16_step(), {.windows = {128, 131072}, .size = 2}, 32, 8192);
    const std::vector<window_pool> pools = layout.pools_in(count(std::uint64_t{10} << 30));
    REQUIRE(pools.size() == 2);
    CHECK(pools[0].window == 128);
    CHECK(pools[0].max_tokens == 8320);
    CHECK(pools[1].window == 131072);
    CHECK(pools[1].max_tokens == 0);
    for (const window_pool& pool : pools) {
        CHECK(pool.token_bytes == count(24576));
        CHECK(pool.num_blocks == (std::int64_t{5} << 30) / 786432);
    }
    CHECK(layout.blocks_of_request(pools[0], 100'000) == 260);
    CHECK(layout.blocks_of_request(pools[1], 100'000) == 3125);
    CHECK(layout.request_bytes(100'000) == count(std::int64_t{260 + 3125} * 786432));
    CHECK(layout.required_bytes(3, 100'000) == count(std::int64_t{2 * 3 * 3125} * 786432));

    // the pattern is repeated: 20 layers and 4 layers; windows are at most the context
    const window_pool_layout longer(gpt_oss_20b(), bfloat16_step(),
                                    {.windows = {128, 128, 128, 128, 128, 1 << 20}, .size = 6}, 32, 8192);
    const std::vector<window_pool> uneven = longer.pools_in(count(std::uint64_t{10} << 30));
    REQUIRE(uneven.size() == 2);
    CHECK(uneven[0].token_bytes == count(40960));
    CHECK(uneven[1].token_bytes == count(8192));
    CHECK(uneven[1].window == 131072);
}

// TensorRT-LLM: available = (total − peak of the profile run) · 0.9; all layers store all tokens, 32 per block.
TEST_CASE("the fraction of TensorRT-LLM applies to the memory that weights and activations leave") {
    const model m = gpt_oss_20b();
    const workload load = bfloat16_step();
    const rank_memory ranks(m, load, *find_engine_memory_profile("trtllm"));
    const inference_memory memory = ranks.largest(load);
    const std::uint64_t device = 80 * std::uint64_t{1024} * mib;
    const maybe<kv_cache_capacity> capacity = ranks.capacity(load, 0, device);
    REQUIRE(capacity.has_value());
    const std::uint64_t used = (memory.weight_bytes + memory.peak_activation_bytes + memory.runtime_bytes).to_64();
    CHECK(static_cast<double>(capacity->bytes) == doctest::Approx(0.9 * static_cast<double>(device - used)));
    constexpr std::int64_t token_bytes = 24 * 2 * 8 * 64 * 2;
    CHECK(capacity->num_blocks == static_cast<std::int64_t>(capacity->bytes.to_64()) / (32 * token_bytes));
    CHECK(memory.kv_cache_allocated_bytes == count(8192 * token_bytes));
}
