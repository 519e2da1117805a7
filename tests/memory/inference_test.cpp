// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/json.hpp>
#include <llmcost/memory/fit.hpp>
#include <llmcost/memory/inference.hpp>

#include <doctest/doctest.h>

#include <string>

#include "rows.hpp"

// Memory of inference: figures that other tools get wrong, by hand, and that what fits is the edge of what does not.
namespace llmcost {
namespace {

model golden_config(const std::string& name) {
    return read_config_file(LLMCOST_TEST_DIR "/golden/" + name + ".json").read_with([](config_view root) {
        return parts::rows.read(root);
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
const engine_memory& vllm() { return *find_engine_memory("vllm"); }

}  // namespace

TEST_CASE("a latent cache is what the latents are") {
    // 61 layers of 512 + 64 numbers; 213.5 GiB where keys and values are counted expanded (hf-mem)
    const auto m = inference_memory_of(golden_config("deepseek-ai__DeepSeek-V3"), cached(1, 131072), vllm());
    CHECK(m.cache == count(std::uint64_t{61} * 576 * 2 * 131072));
    CHECK(m.cache_allocated == m.cache);
}

TEST_CASE("windows take less than the context, and engines keep them beside full layers") {
    // 32 layers of 8 heads of 128, keys and values, 4,095 tokens; 4.0 GiB where the window is overlooked (hf-mem)
    const auto slid = inference_memory_of(golden_config("mistralai__Mistral-7B-v0.1"), cached(1, 32768), vllm());
    CHECK(slid.cache == count(std::uint64_t{32} * 2 * 8 * 128 * 2 * 4095));
    CHECK(slid.cache_allocated == slid.cache + count(std::uint64_t{32} * 2 * 8 * 128 * 2 * 16));
    // gpt-oss-20b: 24 layers, 12 of which see 128 tokens: 49,152 bytes a token as vLLM hands it out (hf-mem, pull 70)
    const auto both = inference_memory_of(golden_config("openai__gpt-oss-20b"), cached(32, 8192), vllm());
    CHECK(both.cache_allocated == count(std::uint64_t{49152} * 8192 * 32));
    CHECK(both.cache == count(std::uint64_t{12} * 2 * 8 * 64 * 2 * (8192 + 127) * 32));
}

TEST_CASE("the most that fits is the last that does") {
    const model m = golden_config("meta-llama__Llama-3.2-1B");
    const std::uint64_t bytes = std::uint64_t{8} << 30;
    workload load = cached(1, 2048);
    load.sequence = 2048, load.past = 0;
    const fit_figures f = fit_inference(m, load, vllm(), bytes);
    const count available(static_cast<std::uint64_t>(static_cast<double>(bytes) * vllm().share));
    REQUIRE(f.fits);
    workload most = load;
    most.batch = f.max_batch;
    CHECK(inference_memory_of(m, most, vllm()).total() <= available);
    ++most.batch;
    CHECK(inference_memory_of(m, most, vllm()).total() > available);
    most = load, most.sequence = f.max_context;
    CHECK(inference_memory_of(m, most, vllm()).total() <= available);
    CHECK(f.max_context <= m.dims.max_position_embeddings);
    CHECK_FALSE(fit_inference(m, load, vllm(), 1 << 20).fits);
    CHECK(fit_inference(m, load, vllm(), 1 << 20).max_batch == 0);
}

TEST_CASE("the largest that fits is found without one") {
    const auto squares = [](std::int64_t n) { return count(n) * count(n); };
    CHECK(largest_that_fits(100, 1000, squares) == 10);
    CHECK(largest_that_fits(99, 1000, squares) == 9);
    CHECK(largest_that_fits(1'000'000, 1000, squares) == 1000);
    CHECK(largest_that_fits(0, 1000, squares) == 0);
    CHECK(largest_that_fits(100, 0, squares) == 0);
}

TEST_CASE("what fits is asked a few times, whatever the size of the answer") {
    int calls = 0;
    const auto asked = [&](const auto& needed, std::int64_t right, std::uint64_t available, std::int64_t most, int limit) {
        calls = 0;
        const auto counted = [&](std::int64_t n) { return ++calls, needed(n); };
        CHECK(largest_that_fits(available, most, counted) == right);
        CHECK(calls <= limit);
    };
    constexpr std::int64_t far = 1 << 20;
    const auto line = [](std::int64_t n) { return count(n) * count(3'000'001) + count(7'000'000'000); };
    asked(line, 24'333, 80'000'000'000, far, 5);
    const auto parabola = [&](std::int64_t n) { return line(n) + count(n) * count(n) * count(640); };
    asked(parabola, 8'590, 80'000'000'000, far, 7);
    const auto flat = [](std::int64_t) { return count(5); };
    asked(flat, far, 5, far, 5), asked(flat, 0, 4, far, 3);
    // a window's edge, a step, and a wall that says nothing of itself
    const auto bent = [](std::int64_t n) { return count(n < 4096 ? 100 * n : 409'600 + n); };
    asked(bent, 90'400, 500'000, far, 12);
    const auto steps = [](std::int64_t n) { return count((n + 4095) / 4096) * count(4096); };
    asked(steps, 40'960, 44'000, far, 24);
    const auto wall = [](std::int64_t n) { return n > 77'777 ? throw workload_error(77'777, n) : count(n); };
    asked(wall, 77'777, 1 << 24, far, 44);
}

}  // namespace llmcost
