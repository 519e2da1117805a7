// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../serving/unmeasured.hpp"

#include <llmcost/presets.hpp>
#include <llmcost/simulation/simulate.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

// What prompts show is seen once, before anything is written.
using namespace llmcost;
using namespace llmcost::testing;

namespace {

const step_cost towers{.seconds = 30e-3, .flops = 1e12};

execution in_fp8() {
    execution how;
    how.products = how.experts = find_operand("fp8");
    how.shards.tensor = 4;
    return how;
}
scheduling_policy in_steps_of(std::int64_t tokens) {
    scheduling_policy p = scheduling_policies[0];
    p.tokens_per_step = tokens;
    return p;
}
simulation_result simulated(server& on, const std::vector<simulated_request>& requests, std::int64_t tokens_per_step,
                            const simulated_deployment& as, const step_cost& shown) {
    simulated_server by{&on, in_steps_of(tokens_per_step)};
    by.towers = shown;
    return simulate(by, requests, as);
}

}  // namespace

// without host times of an engine both are kernels alone: the first token to the last bit of both sums, a token behind it at
// the mean of the lengths that the simulation goes through
TEST_CASE("one request alone takes what the closed form says, with what it shows and without") {
    server on(presets::llama_3_1_70b, in_fp8(), {}, h200, no_kernels);
    for (const std::int64_t input : {300, 1024, 5000})
        for (const std::int64_t chunk : {1024, 1 << 20})
            for (const step_cost& shown : {step_cost{}, towers}) {
                const serving_figures closed =
                    on({.input = input, .output = 201, .chunk = chunk, .shown = {.tokens = 200, .towers = shown}});
                const request_record r =
                    simulated(on, {{.input = input, .output = 201}}, chunk, {.clients = 1}, shown).requests[0];
                CHECK(r.time_to_first_token() == doctest::Approx(closed.ttft).epsilon(1e-12));
                CHECK(r.time_per_output_token() == doctest::Approx(closed.tpot).epsilon(1e-3));
            }
}

TEST_CASE("towers are in the first step of a prompt, once, and on the first stage") {
    server on(presets::llama_3_1_70b, in_fp8(), {}, h200, no_kernels);
    const std::vector<simulated_request> one{{.input = 5000, .output = 50}};
    for (const std::int64_t stages : {1, 4}) {
        const request_record text = simulated(on, one, 1024, {.stages = stages}, {}).requests[0],
                             seen = simulated(on, one, 1024, {.stages = stages}, towers).requests[0];
        CHECK(seen.first == doctest::Approx(text.first + 30e-3).epsilon(1e-12));
        CHECK(seen.last == doctest::Approx(text.last + 30e-3).epsilon(1e-12));
    }
    // where others write behind those that compute prompts, these alone see
    const simulated_deployment apart{.writing_replicas = 1, .network = 50};
    const request_record text = simulated(on, one, 1024, apart, {}).requests[0],
                         seen = simulated(on, one, 1024, apart, towers).requests[0];
    CHECK(seen.last == doctest::Approx(text.last + 30e-3).epsilon(1e-12));
    // eight at once: each is seen
    const std::vector<simulated_request> eight(8, one[0]);
    CHECK(simulated(on, eight, 1 << 20, {}, towers).requests[7].first ==
          doctest::Approx(simulated(on, eight, 1 << 20, {}, {}).requests[7].first + 8 * 30e-3).epsilon(1e-12));
}

// 1 s of towers on the first of two stages, 0.2 s of layers: the second stage waits for the first, which is the slowest
TEST_CASE("other stages do not help the first one to see") {
    struct price {
        step_price operator()(const step_batch&, double) const { return {.seconds = 1.2, .in_first = 1}; }
    } each;
    const std::vector<simulated_request> all(20, {.input = 10, .output = 1});
    scheduling_policy one_at_a_time = in_steps_of(10);
    const cluster_plan plan{.policy = one_at_a_time, .pages = 1000, .stages = 2};
    CHECK(cluster<price>(all, 0, plan, each).run().seconds == doctest::Approx(20 * 1.1 + 0.1));
}
