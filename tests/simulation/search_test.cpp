// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../serving/unmeasured.hpp"

#include <llmcost/presets.hpp>
#include <llmcost/simulation/load.hpp>
#include <llmcost/simulation/search.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <tuple>
#include <utility>
#include <vector>

// What a search finds is what trying everything finds.
using namespace llmcost;
using namespace llmcost::testing;

namespace {


/// Servers of a model in 8 bits, and what is tried of them.
struct offered {
    std::deque<server> servers;
    std::vector<deployment_search::kind> kinds;

    offered(const request_bounds& bounds, std::int64_t devices) {
        for (const scheduling_policy& p : scheduling_policies)
            for (const std::int64_t tensor : {1, 2, 4}) {
                execution how;
                how.products = how.experts = find_operand("fp8");
                how.shards.tensor = tensor;
                servers.emplace_back(presets::llama_3_1_70b, how, engine{}, h200, no_kernels);
                for (std::int64_t stages = 1; stages * tensor <= devices; stages *= 2)
                    kinds.push_back({.by = {&servers.back(), p, host_times_of(p.engine)},
                                     .stages = stages,
                                     .budgets = {8192, 2048},
                                     .sequences = {1024, 8},
                                     .bounds = bounds});
            }
    }
};
using key = std::tuple<double, double, double, double>;
key key_of(const tried_deployment& t) { return {t.devices, t.summary.good_share, t.summary.ttft.p99, t.summary.tpot.p99}; }
/// The best of each kind, together and separated, of all numbers of engines and limits of a step.
std::vector<key> of_all(const std::vector<deployment_search::kind>& kinds, const std::vector<simulated_request>& requests,
                        simulated_deployment as, const search_limits& limits) {
    std::vector<tried_deployment> best;
    std::int64_t longest = 0;
    for (const simulated_request& r : requests) longest = std::max(longest, r.input);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const deployment_search::kind& k = kinds[i];
        const auto of_one = static_cast<double>(k.by.on->how().shards.devices() * k.stages);
        const auto most = static_cast<std::int64_t>(limits.devices / of_one);
        tried_deployment own[2]{};
        for (const std::int64_t budget : k.budgets) {
            if (!k.by.policy.chunked && budget < longest) continue;  // refuses such prompts
            for (const std::int64_t sequences : k.sequences)
                for (std::int64_t replicas = 1; replicas <= most; ++replicas)
                    for (std::int64_t writing = 0; replicas + writing <= most; ++writing) {
                        simulated_server by = k.by;
                        by.policy.tokens_per_step = budget, by.policy.sequences = sequences;
                        as.replicas = replicas, as.writing_replicas = writing, as.stages = k.stages;
                        tried_deployment t{i, by.policy, replicas, writing, of_one * static_cast<double>(replicas + writing),
                                           {}};
                        t.summary = summary_of(simulate(by, requests, as), k.bounds);
                        tried_deployment& here = own[writing > 0 ? 1 : 0];
                        if (t.summary.good_share < limits.good_share) continue;
                        if (here.summary.requests == 0 || t.better_than(here)) here = t;
                    }
        }
        for (const tried_deployment& t : own)
            if (t.summary.requests > 0) best.push_back(t);
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const tried_deployment& a, const tried_deployment& b) { return a.better_than(b); });
    std::vector<key> keys;
    for (const tried_deployment& t : best) keys.push_back(key_of(t));
    return keys;
}

}  // namespace

TEST_CASE("what a search leaves out is no better than what it keeps") {
    std::size_t left_out = 0;
    for (const double rate : {4.0, 25.0})
        for (const request_bounds& bounds :
             {request_bounds{.ttft = 1}, request_bounds{.ttft = 2, .tpot = 40e-3}, request_bounds{.end_to_end = 4}}) {
            const auto requests =
                requests_of({.input = {200, 3000}, .output = {20, 200}, .requests = 60, .rate = rate, .seed = 4});
            const simulated_deployment as{.network = 50, .network_latency = 50e-6};
            search_limits limits;
            limits.devices = 4, limits.good_share = 0.95, limits.top = 4;
            offered all(bounds, 4);
            std::vector<key> expected = of_all(all.kinds, requests, as, limits), found;
            const search_result r = deployment_search(requests, as, limits)(all.kinds);
            for (const tried_deployment& t : r.keeping) found.push_back(key_of(t));
            if (expected.size() > limits.top) expected.resize(limits.top);
            CHECK(found == expected);
            left_out += r.larger + r.too_slow;
            CHECK(r.candidates == 2 * 4 * all.kinds.size());
        }
    CHECK(left_out > 0);
}

// 405 billion parameters in 16 bits are 810 GB: eight devices of 80 GB are too few, and no more than eight share a layer
TEST_CASE("a model that one node does not hold stands on stages of two") {
    const device& h100 = *find_device("h100_sxm");
    const auto requests = requests_of({.input = {500, 500}, .output = {50, 50}, .requests = 20, .rate = 0.2});
    execution how;
    how.shards.tensor = 8;
    server on(presets::llama_3_1_405b, how, {}, h100, no_kernels);
    const auto search = [&](std::int64_t stages, double devices) {
        search_limits limits;
        limits.devices = devices, limits.separated = false;
        const std::vector<deployment_search::kind> kinds{{.by = {&on, scheduling_policies[0]},
                                                          .stages = stages,
                                                          .budgets = {8192},
                                                          .sequences = {1024},
                                                          .bounds = {.ttft = 5, .tpot = 0.2}}};
        return deployment_search(requests, {}, limits)(kinds);
    };
    CHECK(search(1, 16).without_room == 1);
    CHECK(search(2, 8).without_room == 1);
    const search_result two = search(2, 16);
    REQUIRE(two.keeping.size() == 1);
    CHECK(two.keeping[0].devices == 16);
}

// 1,500 of 4,000 requests come at once, behind the first 2,000, which alone keep to the bound on one engine
TEST_CASE("what the first requests let through holds with all of them") {
    std::vector<simulated_request> requests;
    for (int i = 0; i < 4000; ++i) requests.push_back({.input = 300, .output = 2, .at = i < 2500 ? i * 0.2 : 500.0});
    execution how;
    server on(presets::llama_3_2_1b, how, {}, h200, no_kernels);
    const std::vector<deployment_search::kind> kinds{
        {.by = {&on, scheduling_policies[0]}, .budgets = {2048}, .sequences = {1024}, .bounds = {.ttft = 1.5}}};
    search_limits limits;
    limits.separated = false;
    const search_result r = deployment_search(requests, {}, limits)(kinds);
    REQUIRE(r.keeping.size() == 1);
    CHECK(r.keeping[0].summary.good_share >= 0.99);
    CHECK(r.keeping[0].devices > 1);
    limits.devices = 1;
    const search_result one = deployment_search(requests, {}, limits)(kinds);
    CHECK(one.keeping.empty());
    REQUIRE(one.others.size() == 1);
    CHECK(one.others[0].summary.good_share < 0.99);
}

// a limit that no step reached is told as it was asked for, and simulated once
TEST_CASE("limits that are never reached are simulated once") {
    execution how;
    server on(presets::llama_3_2_1b, how, {}, h200, no_kernels);
    const auto requests = requests_of({.input = {300, 300}, .output = {50, 50}, .requests = 30, .rate = 2});
    search_limits limits;
    limits.separated = false;
    const std::vector<deployment_search::kind> kinds{{.by = {&on, scheduling_policies[0]},
                                                      .budgets = {8192, 4096, 16384},
                                                      .sequences = {1024, 256},
                                                      .bounds = {.ttft = 5}}};
    const search_result r = deployment_search(requests, {}, limits)(kinds);
    CHECK(r.candidates == 6);
    CHECK(r.simulated == 1);
    CHECK(r.keeping[0].policy.tokens_per_step == 8192);
}
