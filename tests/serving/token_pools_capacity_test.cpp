// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/bundled/all.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/scheduler.hpp>
#include <llmcost/simulation/simulate.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "parts.hpp"
#include "unmeasured.hpp"

using namespace llmcost;
using namespace llmcost::testing;

namespace {

model read_bundled(const char* name) {
    return parse_config(find_bundled(name)->json, name).read_with([](config_view root) {
        return parts::registry.read(root);
    });
}

}  // namespace

// pages of 10, 3 and 2 units of memory: 3 + 10 · ceil(n / 256) + 2 · ceil(min(n, 100) / 64) units, 10 in a block
TEST_CASE("a scheduler allocates pages of different sizes") {
    const request_blocks blocks{.fixed_blocks = 3,
                                .kinds = {{.num_tables = 10, .block_size = 256, .max_tokens = 0},
                                          {.num_tables = 2, .block_size = 64, .max_tokens = 100}},
                                .units_per_block = 10};
    const auto units = [](std::int64_t n) {
        return 3 + 10 * ((n + 255) / 256) + 2 * ((std::min<std::int64_t>(n, 100) + 63) / 64);
    };
    CHECK(blocks(1) == 2);
    CHECK(blocks(256) == 2);
    CHECK(blocks(257) == 3);
    for (std::int64_t n = 1; n < 2000; ++n) {
        CHECK(blocks.num_units(n) == units(n));
        CHECK(blocks(n) == (units(n) + 9) / 10);
        CHECK(blocks(n + 1) >= blocks(n));
    }
    // 3 blocks have 30 units: one request of 512 tokens, or one of up to 256 tokens
    const std::vector<simulated_request> requests{{.input_tokens = 200, .output_tokens = 313},
                                                  {.input_tokens = 100, .output_tokens = 50}};
    std::vector<request_progress> progress(requests.size());
    scheduler engine(scheduling_policies[0], 3, 0, {requests, progress}, 0, 1, blocks);
    CHECK(engine.kv_cache().num_pages() == 30);
    CHECK(engine.max_pages_of(requests[0]) == units(512));
    for (std::size_t i = 0; i < requests.size(); ++i) engine.add_request(i, 0);
    std::int64_t num_finished = 0;
    for (int step = 0; step < 1000; ++step) {
        step_batch& batch = engine.schedule(0);
        if (batch.empty()) break;
        CHECK(engine.num_running() == 1);
        CHECK(engine.kv_cache().num_used() <= 30);
        const std::vector<std::size_t> finished = batch.finished;
        num_finished += static_cast<std::int64_t>(finished.size());
        engine.free_finished(finished);
    }
    CHECK(num_finished == 2);
    CHECK(engine.num_preemptions() == 0);
    CHECK(engine.kv_cache().num_used() == 0);
}

TEST_CASE("a request with compressed entries has the blocks that the pages of its groups fill") {
    const model m = read_bundled("deepseek-ai/DeepSeek-V4-Flash-Base");
    const engine_memory_profile profile = *find_engine_memory_profile("vllm");
    const block_pool pool = *block_pool_of(m, {.sequence = 1, .head = logits::last}, profile);
    REQUIRE(pool.has_compressed_entries());
    const auto ceil_divide = [](std::int64_t n, std::int64_t divisor) { return (n + divisor - 1) / divisor; };
    for (const std::int64_t tokens : {1, 64, 127, 128, 129, 1000, 8192, 8193, 100'000, 1'000'000}) {
        CAPTURE(tokens);
        std::int64_t bytes = 0;
        for (const kv_cache_group& g : pool.groups()) {
            const std::int64_t stored =
                g.layer.window == 0 ? tokens : std::min(tokens, g.layer.window - 1 + profile.max_num_batched_tokens);
            bytes += (ceil_divide(stored, g.block_size) + (g.layer.window == 0 ? 0 : 1)) *
                     static_cast<std::int64_t>(g.page_bytes.to_64());
        }
        const auto first = static_cast<std::int64_t>(pool.groups().front().page_bytes.to_64());
        CHECK(pool.num_blocks_of_request(tokens) == ceil_divide(bytes, first));
        CHECK(pool.blocks_of_requests()(tokens) == pool.num_blocks_of_request(tokens));
    }
}

// tokens of full attention; with tokens of sliding layers; with recurrent states, three slots per request
TEST_CASE("serve and simulate have the token pools of SGLang") {
    const engine& e = *find_engine("sglang");
    struct expectation {
        const char* model;
        std::int64_t tokens;
        bool is_limited_by_windows;
        bool has_states;
    };
    for (const expectation& x : {expectation{"meta-llama/Llama-3.2-1B", 1536, false, false},
                                 expectation{"openai/gpt-oss-20b", 1536, true, false},
                                 expectation{"openai/gpt-oss-20b", 100'000, false, false},
                                 expectation{"Qwen/Qwen3.5-0.8B", 1536, false, true}}) {
        CAPTURE(x.model);
        CAPTURE(x.tokens);
        const model m = read_bundled(x.model);
        const execution execution_config = execution_of(e, h200, {});
        server llm_server(m, execution_config, e, h200, no_kernels);
        workload load = workload_of(execution_config);
        load.sequence = x.tokens;
        const auto device_bytes = static_cast<std::uint64_t>(h200.memory_bytes());
        const rank_memory ranks = ranks_of_execution(m, execution_config, memory_profile_of(e, h200));
        const sglang_pools pools = ranks.token_pools(load, 0, device_bytes);
        const kv_cache_capacity served = *llm_server.kv_cache(x.tokens);
        CHECK(served.bytes == pools.kv_bytes + pools.mamba_bytes);
        CHECK(served.max_concurrency == pools.max_concurrency);
        CHECK(served.max_num_seqs == pools.max_running_requests);
        CHECK(served.num_blocks == (x.is_limited_by_windows ? pools.swa_num_tokens : pools.max_total_num_tokens));
        CHECK((pools.mamba_slots > 0) == x.has_states);
        if (x.has_states) CHECK(served.max_num_seqs == pools.mamba_slots / 3);
        // the blocks have as many requests as the pools, unless slots limit them
        CHECK(std::min(static_cast<double>(served.num_blocks) / static_cast<double>(served.blocks_of_request(x.tokens)),
                       static_cast<double>(served.max_num_seqs)) == doctest::Approx(pools.max_concurrency));

        const simulated_engine simulated{.server = &llm_server, .policy = default_policy(e.name, h200)};
        const kv_cache_capacity pages = kv_cache_of(simulated, x.tokens);
        CHECK(pages.num_blocks == served.num_blocks);
        cluster_config plan{.policy = simulated.policy};
        set_kv_cache(plan, pages, 16);
        CHECK(plan.policy.max_num_seqs == std::min(simulated.policy.max_num_seqs, pools.max_running_requests));
        CHECK(fits_kv_cache(simulated, x.tokens));
    }
}

TEST_CASE("a share of the memory is the static fraction of SGLang") {
    const model m = read_bundled("meta-llama/Llama-3.2-1B");
    const engine& e = *find_engine("sglang");
    server llm_server(m, execution_of(e, h200, {}), e, h200, no_kernels);
    const kv_cache_capacity usual = *llm_server.kv_cache(1536);
    engine_memory_profile profile = llm_server.memory_profile();
    profile.sglang.mem_fraction_static = 0.5;
    llm_server.set_memory_profile(profile);
    const kv_cache_capacity half = *llm_server.kv_cache(1536);
    CHECK(half.memory_fraction == 0.5);
    CHECK(usual.memory_fraction > 0.8);
    const double device_bytes = h200.memory_bytes() - static_cast<double>(profile.runtime_bytes);
    CHECK(static_cast<double>((usual.bytes - half.bytes).to_64()) ==
          doctest::Approx((usual.memory_fraction - 0.5) * device_bytes).epsilon(1e-5));
}
