// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>
#include <llmcost/memory/block_pool.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "registry.hpp"

using namespace llmcost;

namespace {

constexpr double GiB = 1024.0 * 1024 * 1024;

std::vector<kv_cache_layer> layers_of(const std::string& golden, dtype cache) {
    const model m = read_config_file(LLMCOST_TEST_DIR "/golden/" + golden + ".json").read_with([](config_view root) {
        return parts::registry.read(root);
    });
    return kv_cache_layers_of(m, {.weights = dtype::bfloat16, .activations = dtype::bfloat16, .cache = cache});
}

/// Layers in the order `counts[i]` times `kinds[i]`.
std::vector<kv_cache_layer> repeated(const std::vector<kv_cache_layer>& kinds, const std::vector<int>& counts) {
    std::vector<kv_cache_layer> layers;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        layers.insert(layers.end(), static_cast<std::size_t>(counts[i]), kinds[i]);
    return layers;
}

/// The two figures of vLLM's log for an amount of memory: tokens, and requests of a length.
struct log_lines {
    std::int64_t num_tokens;
    double concurrency;
};

log_lines log_of(const block_pool& pool, double gib, std::int64_t length) {
    const std::int64_t num_blocks = pool.num_blocks_in(count(static_cast<std::uint64_t>(gib * GiB)));
    return {pool.num_tokens_in(num_blocks),
            static_cast<double>(num_blocks) / static_cast<double>(pool.num_blocks_of_request(length))};
}

}  // namespace

// vLLM 0.13.0, NVIDIA-Nemotron-3-Nano-30B-A3B-FP8 on an H200, cache in fp8: 93.13 GiB, 6,506,208 tokens, 1,299.00 and
// 1,113.43 requests of 8,192 and 10,000 tokens (vllm-memory-estimator@8b0e21d, validation_db.json)
TEST_CASE("states of a hybrid model determine the pages of its attention layers") {
    const std::vector<kv_cache_layer> layers =
        layers_of("nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", dtype::float8_e4m3fn);
    const block_pool pool(layers, 16, 8192);
    CHECK(pool.groups().size() == 5);
    const log_lines log = log_of(pool, 93.13, 8192);
    CHECK(log.num_tokens == 6506208);
    CHECK(log.concurrency == doctest::Approx(1299.0).epsilon(1e-4));
    CHECK(log_of(pool, 93.13, 10000).concurrency == doctest::Approx(1113.43).epsilon(1e-4));
}

// vLLM 0.18.0, Qwen3.5-35B-A3B: 89.92 GiB, 1,178,496 tokens, 405.82 and 343.38 requests (the same file). The figures of
// a layer follow from the configuration: 2 heads of 256; 8,192 channels · 3; 32 · 128 · 128 in float32.
TEST_CASE("linear attention has one state per request") {
    const kv_cache_layer full{.bytes_per_token = 2048};
    const kv_cache_layer linear{.state_bytes = count(8192 * 3 * 2 + 32 * 128 * 128 * 4)};
    const block_pool pool(repeated({linear, full}, {30, 10}), 16, 8192);
    CHECK(log_of(pool, 89.92, 8192).num_tokens == 1178496);
    CHECK(log_of(pool, 89.92, 8192).concurrency == doctest::Approx(405.82).epsilon(1e-4));
    CHECK(log_of(pool, 89.92, 10000).concurrency == doctest::Approx(343.38).epsilon(1e-4));
}

// vLLM 0.18.2, gemma-4-31B-it: 69.75 GiB, 76,176 tokens, 10.13 and 8.93 requests (the same file). 50 layers with 16
// heads of 256 and a window of 1,024, 10 with 4 heads of 512.
TEST_CASE("layers with smaller pages have larger blocks") {
    const kv_cache_layer sliding{.bytes_per_token = 16384, .window = 1024};
    const kv_cache_layer full{.bytes_per_token = 8192};
    const block_pool pool(repeated({sliding, full}, {50, 10}), 16, 8192);
    CHECK(pool.groups().size() == 6);
    CHECK(log_of(pool, 69.75, 8192).num_tokens == 76176);
    CHECK(log_of(pool, 69.75, 8192).concurrency == doctest::Approx(10.13).epsilon(1e-3));
    CHECK(log_of(pool, 69.75, 10000).concurrency == doctest::Approx(8.93).epsilon(1e-3));
}

// vLLM, gpt-oss-120b, 131,072 tokens with chunks of 1,024: the log says 4.54 GiB
TEST_CASE("a window holds the tokens of one step in addition") {
    const kv_cache_layer full{.bytes_per_token = 2048}, sliding{.bytes_per_token = 2048, .window = 128};
    const block_pool pool(repeated({sliding, full}, {18, 18}), 16, 1024);
    CHECK(static_cast<double>(pool.request_bytes(131072)) / GiB == doctest::Approx(4.54).epsilon(1e-3));
    CHECK(pool.num_blocks_of_request(131072) == 8192 + 73);
}

TEST_CASE("windows and states are read off the cache of the reference") {
    const std::vector<kv_cache_layer> layers = layers_of("openai__gpt-oss-20b", dtype::bfloat16);
    REQUIRE(layers.size() == 24);
    CHECK(layers[0] == kv_cache_layer{.bytes_per_token = 2048, .window = 128});
    CHECK(layers[1] == kv_cache_layer{.bytes_per_token = 2048});
    for (const kv_cache_layer& layer : layers_of("Qwen__Qwen3.5-0.8B", dtype::bfloat16))
        CHECK((layer.state_bytes == count{}) != (layer.bytes_per_token == count{}));
    for (const kv_cache_layer& layer : layers_of("unsloth__Llama-4-Maverick-17B-128E-Instruct", dtype::bfloat16))
        CHECK((layer.window == 0 || (layer.window == 8192 && layer.is_chunked)));
}

// DeepSeek-V3.2 in bfloat16: 61 · (1,152 + 132) bytes per token
TEST_CASE("keys of an indexer have 8 bits and a scale") {
    count bytes;
    for (const kv_cache_layer& layer : layers_of("deepseek-ai__DeepSeek-V3.2-Exp", dtype::bfloat16))
        bytes += layer.bytes_per_token;
    CHECK(bytes == count(78324));
}

TEST_CASE("a request needs more blocks with more tokens, and pools are exact for plain attention") {
    const block_pool plain(repeated({{.bytes_per_token = 4096}}, {32}), 16, 8192);
    CHECK(plain.block_bytes() == count(16 * 4096 * 32));
    CHECK(plain.num_tokens_in(100) == 1600);
    const block_pool hybrid(repeated({{.bytes_per_token = 4096, .window = 512}, {.bytes_per_token = 4096}}, {5, 1}), 16,
                            2048);
    std::int64_t previous = 0;
    for (std::int64_t tokens = 1; tokens < 5000; tokens += 7) {
        const std::int64_t blocks = hybrid.num_blocks_of_request(tokens);
        CHECK(blocks >= previous);
        previous = blocks;
    }
}

// vLLM 0.20.2, 8 H200, blocks of 256 tokens (vllm-memory-estimator@8b0e21d, validation_db.json). A KV cache of 13.85
// GiB stores 3.30 requests of 8,192 tokens with steps of 8,192. One of 21.47 GiB stores 4.66 requests of 800,000 tokens
// with steps of 512.
TEST_CASE("compressed entries share blocks with windows and states of compressors") {
    const compressed_attention sparse{
        .ratio = 4, .head_dim = 512, .rotary_dim = 64, .index_head_dim = 128, .overlaps = true};
    const compressed_attention heavy{.ratio = 128, .head_dim = 512, .rotary_dim = 64};
    std::vector<kv_cache_layer> layers;
    for (int i = 0; i < 61; ++i)
        layers.push_back(
            {.bytes_per_token = count(512), .window = 128, .compressed = i >= 2 && i % 2 == 0 ? sparse : heavy});
    const auto concurrency = [&](std::int64_t step, std::int64_t tokens, double gibibytes) {
        const block_pool pool(layers, 16, step);
        const count bytes(static_cast<std::uint64_t>(gibibytes * 1024 * 1024 * 1024));
        return static_cast<double>(pool.num_blocks_in(bytes)) / static_cast<double>(pool.num_blocks_of_request(tokens));
    };
    CHECK(concurrency(8192, 8192, 13.85) == doctest::Approx(3.30).epsilon(2e-3));
    CHECK(concurrency(512, 800000, 21.47) == doctest::Approx(4.66).epsilon(2e-3));
    // 31 tuples of the pages 37,440, 8,640 and 1,728 bytes
    CHECK(block_pool(layers, 16, 8192).block_bytes() == count(31 * (37440 + 8640 + 1728)));
}
