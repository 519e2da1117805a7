// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/prefix_tiers.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace llmcost;

namespace {

/// A step of 10 ms and 10 µs per prompt token. The load delays the step as the policy says.
struct prompt_price {
    prefix_load_mode loads = prefix_load_mode::asynchronous;

    simulated_step_cost operator()(const step_batch& b, double) const {
        double seconds = 10e-3;
        for (const prefill_chunk& c : b.prefills) seconds += 10e-6 * static_cast<double>(c.num_tokens);
        return {loads == prefix_load_mode::by_layer ? std::max(seconds, b.load_seconds) : seconds + b.load_seconds, 1};
    }
};

std::vector<std::uint64_t> blocks(std::uint64_t first, std::size_t count) {
    std::vector<std::uint64_t> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(first + i);
    return names;
}

/// A prompt of ten blocks, one that evicts it, and ten seconds later one that begins with the first prompt.
std::vector<simulated_request> evicted_conversation() {
    return {{.input_tokens = 160, .output_tokens = 1, .arrival_seconds = 0, .prefix_blocks = blocks(100, 10)},
            {.input_tokens = 320, .output_tokens = 1, .arrival_seconds = 5, .prefix_blocks = blocks(200, 20)},
            {.input_tokens = 176, .output_tokens = 1, .arrival_seconds = 10, .prefix_blocks = blocks(100, 11)}};
}

simulation_result run(scheduling_policy policy, const std::vector<simulated_request>& requests,
                      std::vector<kv_cache_tier> tiers, std::int64_t num_pages = 22) {
    policy.page_size = 16;
    prompt_price price{policy.prefix_loads};
    cluster<prompt_price> all(
        requests, 0, {.policy = policy, .num_pages = num_pages, .pages_per_block = 1, .tiers = std::move(tiers)},
        price);
    return all.run();
}

}  // namespace

TEST_CASE("a tier keeps the most recently stored blocks, and finds those up to the first gap") {
    prefix_tiers tiers({{.num_blocks = 3, .seconds_per_block = 1}, {.num_blocks = 4, .seconds_per_block = 10}});
    for (std::uint64_t name = 1; name <= 4; ++name) tiers.store(name);
    // the first tier has 2 to 4, the second has 1, too
    CHECK(tiers.find({1, 2, 3, 4}, 0).seconds == 13);
    CHECK(tiers.find({1, 2, 3, 4}, 1).num_blocks == 3);
    tiers.store(2);
    tiers.store(5);  // without the first tier's 3 and the second's 1
    CHECK(tiers.find({2, 3, 4}, 0).seconds == 1 + 10 + 1);
    CHECK(tiers.find({1, 2}, 0).num_blocks == 0);
    CHECK(tiers.find({2, 6, 4}, 0).num_blocks == 1);
    CHECK(prefix_tiers({{.num_blocks = 0, .seconds_per_block = 1}}).empty());
}

TEST_CASE("an evicted prefix is loaded from host memory instead of computed") {
    for (const scheduling_policy& p : scheduling_policies) {
        CAPTURE(std::string_view(p.engine));
        const simulation_result without = run(p, evicted_conversation(), {});
        // the last blocks of a prompt leave the device first: 22 pages - 20 of the second prompt keep two of the first
        CHECK(without.requests[2].num_cached_tokens == 32);
        CHECK(without.requests[2].time_to_first_token() == doctest::Approx(10e-3 + 144 * 10e-6));

        const simulation_result with =
            run(p, evicted_conversation(), {{.num_blocks = 1000, .seconds_per_block = 1e-3}});
        const request_record& loaded = with.requests[2];
        CHECK(loaded.num_cached_tokens == 160);
        CHECK(loaded.num_loaded_tokens == 128);
        const double load = 8 * 1e-3, step = 10e-3 + 16 * 10e-6;
        CHECK(loaded.time_to_first_token() ==
              doctest::Approx(p.prefix_loads == prefix_load_mode::by_layer ? std::max(load, step) : load + step));
        CHECK(with.requests[0].num_loaded_tokens == 0);
    }
}

TEST_CASE("vLLM continues to decode while prefixes are loaded, one after the other") {
    const std::vector<simulated_request> requests{
        {.input_tokens = 160, .prefix_blocks = blocks(100, 10)},
        {.input_tokens = 160, .arrival_seconds = 1, .prefix_blocks = blocks(200, 10)},
        {.input_tokens = 640, .arrival_seconds = 5, .prefix_blocks = blocks(300, 40)},  // evicts both
        {.input_tokens = 16, .output_tokens = 100, .arrival_seconds = 9.5},
        {.input_tokens = 176, .arrival_seconds = 10, .prefix_blocks = blocks(100, 11)},
        {.input_tokens = 176, .arrival_seconds = 10, .prefix_blocks = blocks(200, 11)}};
    const simulation_result r =
        run(scheduling_policies[0], requests, {{.num_blocks = 1000, .seconds_per_block = 10e-3}}, 40);
    const double step = 10e-3;
    CHECK(r.requests[3].time_per_output_token() < 1.2 * step);
    for (const std::size_t i : {4U, 5U}) {
        CHECK(r.requests[i].num_loaded_tokens == 160);
        const double loaded = 10 + 0.1 * static_cast<double>(i - 3);
        CHECK(r.requests[i].scheduled_seconds >= loaded);
        CHECK(r.requests[i].scheduled_seconds <= loaded + 3 * step);  // the running step and the next one end first
    }
}

TEST_CASE("the output of a turn is cached for the next one") {
    const std::vector<simulated_request> turns{
        {.input_tokens = 160, .output_tokens = 33, .prefix_blocks = blocks(100, 10), .output_blocks = blocks(110, 2)},
        {.input_tokens = 208,
         .output_tokens = 1,
         .arrival_seconds = 1,
         .previous_request = 0,
         .prefix_blocks = blocks(100, 13)}};
    for (const scheduling_policy& p : scheduling_policies)
        CHECK(run(p, turns, {}, 100).requests[1].num_cached_tokens == 192);
}
