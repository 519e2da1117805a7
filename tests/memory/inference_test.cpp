// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/inference.hpp>

#include <doctest/doctest.h>

#include <string>

#include "registry.hpp"

// Memory of inference: figures that other tools get wrong, by hand, and that what fits is the edge of what does not.
namespace llmcost {
namespace {

model golden_config(const std::string& name) {
    return read_config_file(LLMCOST_TEST_DIR "/golden/" + name + ".json").read_with([](config_view root) {
        return parts::registry.read(root);
    });
}
workload cached(std::int64_t batch, std::int64_t tokens) {
    return {.batch = batch,
            .sequence = 1,
            .past = tokens - 1,
            .head = logits::last,
            .weights = dtype::bfloat16,
            .activations = dtype::bfloat16};
}
const engine_memory_profile& vllm() { return *find_engine_memory_profile("vllm"); }

}  // namespace

TEST_CASE("a latent cache is what the latents are") {
    // 61 layers of 512 + 64 numbers; 213.5 GiB where keys and values are counted expanded (hf-mem)
    const auto m = inference_memory_of(golden_config("deepseek-ai__DeepSeek-V3"), cached(1, 131072), vllm());
    CHECK(m.kv_cache_bytes == count(std::uint64_t{61} * 576 * 2 * 131072));
    CHECK(m.kv_cache_allocated_bytes == m.kv_cache_bytes);
}

TEST_CASE("windows take less than the context, and a step's tokens are added to a window") {
    // 32 layers of 8 heads of 128, keys and values, 4,095 tokens; 4.0 GiB where the window is overlooked (hf-mem)
    const auto slid = inference_memory_of(golden_config("mistralai__Mistral-7B-v0.1"), cached(1, 32768), vllm());
    CHECK(slid.kv_cache_bytes == count(std::uint64_t{32} * 2 * 8 * 128 * 2 * 4095));
    // ceil((4,095 + 8,192) / 16) + 1 blocks of all layers
    CHECK(slid.kv_cache_allocated_bytes == count(std::uint64_t{32} * 2 * 8 * 128 * 2 * 16 * (768 + 1)));
    // gpt-oss-20b: 12 of 24 layers have a window of 128; 8,192 tokens are one step, so that only 1 block is added
    const auto hybrid = inference_memory_of(golden_config("openai__gpt-oss-20b"), cached(32, 8192), vllm());
    CHECK(hybrid.kv_cache_allocated_bytes == count(std::uint64_t{12} * 2048 * 16 * (512 + 513) * 32));
    CHECK(hybrid.kv_cache_bytes == count(std::uint64_t{12} * 2 * 8 * 64 * 2 * (8192 + 127) * 32));
}

TEST_CASE("the most that fits is the last that does") {
    const model m = golden_config("meta-llama__Llama-3.2-1B");
    const std::uint64_t bytes = std::uint64_t{8} << 30;
    workload load = cached(1, 2048);
    load.sequence = 2048;
    load.past = 0;
    const rank_memory ranks(m, load, vllm());
    const fit_figures f = fit_inference(ranks, load, bytes);
    const count available(static_cast<std::uint64_t>(static_cast<double>(bytes) * vllm().gpu_memory_utilization));
    REQUIRE(f.fits);
    workload maximum = load;
    maximum.batch = f.max_batch;
    CHECK(ranks.largest(maximum).total_bytes() <= available);
    ++maximum.batch;
    CHECK(ranks.largest(maximum).total_bytes() > available);
    maximum = load;
    maximum.sequence = f.max_context;
    CHECK(ranks.largest(maximum).total_bytes() <= available);
    CHECK(f.max_context <= m.config.max_position_embeddings);
    CHECK_FALSE(fit_inference(ranks, load, 1 << 20).fits);
    CHECK(fit_inference(ranks, load, 1 << 20).max_batch == 0);
}

TEST_CASE("the largest that fits is found without one") {
    const auto squares = [](std::int64_t n) { return count(n) * count(n); };
    CHECK(find_largest_fit(100, 1000, squares) == 10);
    CHECK(find_largest_fit(99, 1000, squares) == 9);
    CHECK(find_largest_fit(1'000'000, 1000, squares) == 1000);
    CHECK(find_largest_fit(0, 1000, squares) == 0);
    CHECK(find_largest_fit(100, 0, squares) == 0);
}

TEST_CASE("what fits is asked a few times, whatever the size of the answer") {
    int calls = 0;
    const auto check_largest_fit = [&](const auto& needed, std::int64_t right, std::uint64_t available,
                                       std::int64_t maximum, int limit) {
        calls = 0;
        const auto counted = [&](std::int64_t n) {
            ++calls;
            return needed(n);
        };
        CHECK(find_largest_fit(available, maximum, counted) == right);
        CHECK(calls <= limit);
    };
    constexpr std::int64_t search_limit = 1 << 20;
    const auto line = [](std::int64_t n) { return count(n) * count(3'000'001) + count(7'000'000'000); };
    check_largest_fit(line, 24'333, 80'000'000'000, search_limit, 5);
    const auto parabola = [&](std::int64_t n) { return line(n) + count(n) * count(n) * count(640); };
    check_largest_fit(parabola, 8'590, 80'000'000'000, search_limit, 7);
    const auto flat = [](std::int64_t) { return count(5); };
    check_largest_fit(flat, search_limit, 5, search_limit, 5);
    check_largest_fit(flat, 0, 4, search_limit, 3);
    // a window's edge, a step, and a wall that says nothing of itself
    const auto bent = [](std::int64_t n) { return count(n < 4096 ? 100 * n : 409'600 + n); };
    check_largest_fit(bent, 90'400, 500'000, search_limit, 12);
    const auto steps = [](std::int64_t n) { return count((n + 4095) / 4096) * count(4096); };
    check_largest_fit(steps, 40'960, 44'000, search_limit, 24);
    const auto wall = [](std::int64_t n) { return n > 77'777 ? throw workload_error(77'777, n) : count(n); };
    check_largest_fit(wall, 77'777, 1 << 24, search_limit, 44);
}

}  // namespace llmcost
