// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../serving/unmeasured.hpp"

#include <llmcost/presets.hpp>
#include <llmcost/simulation/deployment_search.hpp>
#include <llmcost/simulation/synthetic_workload.hpp>

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
    std::vector<deployment_search::engine_option> kinds;

    offered(const request_slo& bounds, std::int64_t devices) {
        for (const scheduling_policy& p : scheduling_policies)
            for (const std::int64_t tensor : {1, 2, 4}) {
                execution execution_config;
                execution_config.linear_type = execution_config.expert_type = find_operand_type("fp8");
                execution_config.parallel.tensor_parallel_size = tensor;
                servers.emplace_back(presets::llama_3_1_70b, execution_config, engine{}, h200, no_kernels);
                for (std::int64_t stages = 1; stages * tensor <= devices; stages *= 2)
                    kinds.push_back({.engine = {&servers.back(), p, host_times_of(p.engine)},
                                     .stages = stages,
                                     .max_num_batched_tokens_options = {8192, 2048},
                                     .max_num_seqs_options = {1024, 8},
                                     .bounds = bounds});
            }
    }
};
using key = std::tuple<double, double, double, double>;
key key_of(const evaluated_deployment& t) {
    return {t.devices, t.summary.slo_attainment, t.summary.ttft.p99, t.summary.tpot.p99};
}
/// The best of each kind, together and separated, of all numbers of engines and limits of a step.
std::vector<key> of_all(const std::vector<deployment_search::engine_option>& kinds,
                        const std::vector<simulated_request>& requests, simulation_config deployment,
                        const search_config& limits) {
    std::vector<evaluated_deployment> best;
    std::int64_t longest = 0;
    for (const simulated_request& r : requests) longest = std::max(longest, r.input_tokens);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const deployment_search::engine_option& k = kinds[i];
        const auto of_one = static_cast<double>(k.engine.server->execution_config().parallel.world_size() * k.stages);
        const auto maximum = static_cast<std::int64_t>(limits.max_devices / of_one);
        evaluated_deployment best_of_kind[2]{};
        for (const std::int64_t budget : k.max_num_batched_tokens_options) {
            if (!k.engine.policy.has_chunked_prefill && budget < longest) continue;  // refuses such prompts
            for (const std::int64_t sequences : k.max_num_seqs_options)
                for (std::int64_t replicas = 1; replicas <= maximum; ++replicas)
                    for (std::int64_t writing = 0; replicas + writing <= maximum; ++writing) {
                        simulated_engine candidate_engine = k.engine;
                        candidate_engine.policy.max_num_batched_tokens = budget;
                        candidate_engine.policy.max_num_seqs = sequences;
                        deployment.num_replicas = replicas;
                        deployment.num_decode_workers = writing;
                        deployment.pipeline_parallel_size = k.stages;
                        evaluated_deployment t{i,
                                               candidate_engine.policy,
                                               replicas,
                                               writing,
                                               of_one * static_cast<double>(replicas + writing),
                                               {}};
                        t.summary = summarize(simulate(candidate_engine, requests, deployment), k.bounds);
                        evaluated_deployment& current_best = best_of_kind[writing > 0 ? 1 : 0];
                        if (t.summary.slo_attainment < limits.min_slo_attainment) continue;
                        if (current_best.summary.requests == 0 || t.is_better_than(current_best)) current_best = t;
                    }
        }
        for (const evaluated_deployment& t : best_of_kind)
            if (t.summary.requests > 0) best.push_back(t);
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const evaluated_deployment& a, const evaluated_deployment& b) { return a.is_better_than(b); });
    std::vector<key> keys;
    for (const evaluated_deployment& t : best) keys.push_back(key_of(t));
    return keys;
}

}  // namespace

TEST_CASE("what a search leaves out is no better than what it keeps") {
    std::size_t left_out = 0;
    for (const double rate : {4.0, 25.0})
        for (const request_slo& bounds :
             {request_slo{.ttft = 1}, request_slo{.ttft = 2, .tpot = 40e-3}, request_slo{.end_to_end = 4}}) {
            const auto requests = generate_requests(
                {.input = {200, 3000}, .output = {20, 200}, .num_requests = 60, .request_rate = rate, .seed = 4});
            const simulation_config deployment{.network_gigabytes_per_second = 50, .network_latency_seconds = 50e-6};
            search_config limits;
            limits.max_devices = 4;
            limits.min_slo_attainment = 0.95;
            limits.num_results = 4;
            offered all(bounds, 4);
            std::vector<key> expected = of_all(all.kinds, requests, deployment, limits), found;
            const search_result r = deployment_search(requests, deployment, limits)(all.kinds);
            for (const evaluated_deployment& t : r.feasible) found.push_back(key_of(t));
            if (expected.size() > limits.num_results) expected.resize(limits.num_results);
            CHECK(found == expected);
            left_out += r.num_exceeding_devices + r.num_too_slow;
            CHECK(r.num_candidates == 2 * 4 * all.kinds.size());
        }
    CHECK(left_out > 0);
}

// 405 billion parameters in 16 bits are 810 GB: eight devices of 80 GB are too few, and no more than eight share a
// layer
TEST_CASE("a model that one node does not hold stands on stages of two") {
    const device& h100 = *find_device("h100_sxm");
    const auto requests =
        generate_requests({.input = {500, 500}, .output = {50, 50}, .num_requests = 20, .request_rate = 0.2});
    execution execution_config;
    execution_config.parallel.tensor_parallel_size = 8;
    server llm_server(presets::llama_3_1_405b, execution_config, {}, h100, no_kernels);
    const auto search = [&](std::int64_t stages, double devices) {
        search_config limits;
        limits.max_devices = devices;
        limits.allows_disaggregation = false;
        const std::vector<deployment_search::engine_option> kinds{{.engine = {&llm_server, scheduling_policies[0]},
                                                                   .stages = stages,
                                                                   .max_num_batched_tokens_options = {8192},
                                                                   .max_num_seqs_options = {1024},
                                                                   .bounds = {.ttft = 5, .tpot = 0.2}}};
        return deployment_search(requests, {}, limits)(kinds);
    };
    CHECK(search(1, 16).num_out_of_memory == 1);
    CHECK(search(2, 8).num_out_of_memory == 1);
    const search_result two = search(2, 16);
    REQUIRE(two.feasible.size() == 1);
    CHECK(two.feasible[0].devices == 16);
}

// 1,500 of 4,000 requests come at once, behind the first 2,000, which alone keep to the bound on one engine
TEST_CASE("what the first requests let through holds with all of them") {
    std::vector<simulated_request> requests;
    for (int i = 0; i < 4000; ++i)
        requests.push_back({.input_tokens = 300, .output_tokens = 2, .arrival_seconds = i < 2500 ? i * 0.2 : 500.0});
    execution execution_config;
    server llm_server(presets::llama_3_2_1b, execution_config, {}, h200, no_kernels);
    const std::vector<deployment_search::engine_option> kinds{{.engine = {&llm_server, scheduling_policies[0]},
                                                               .max_num_batched_tokens_options = {2048},
                                                               .max_num_seqs_options = {1024},
                                                               .bounds = {.ttft = 1.5}}};
    search_config limits;
    limits.allows_disaggregation = false;
    const search_result r = deployment_search(requests, {}, limits)(kinds);
    REQUIRE(r.feasible.size() == 1);
    CHECK(r.feasible[0].summary.slo_attainment >= 0.99);
    CHECK(r.feasible[0].devices > 1);
    limits.max_devices = 1;
    const search_result one = deployment_search(requests, {}, limits)(kinds);
    CHECK(one.feasible.empty());
    REQUIRE(one.infeasible.size() == 1);
    CHECK(one.infeasible[0].summary.slo_attainment < 0.99);
}

// a limit that no step reached is reported as requested, and simulated once
TEST_CASE("limits that are never reached are simulated once") {
    execution execution_config;
    server llm_server(presets::llama_3_2_1b, execution_config, {}, h200, no_kernels);
    const auto requests =
        generate_requests({.input = {300, 300}, .output = {50, 50}, .num_requests = 30, .request_rate = 2});
    search_config limits;
    limits.allows_disaggregation = false;
    const std::vector<deployment_search::engine_option> kinds{{.engine = {&llm_server, scheduling_policies[0]},
                                                               .max_num_batched_tokens_options = {8192, 4096, 16384},
                                                               .max_num_seqs_options = {1024, 256},
                                                               .bounds = {.ttft = 5}}};
    const search_result r = deployment_search(requests, {}, limits)(kinds);
    CHECK(r.num_candidates == 6);
    CHECK(r.num_simulations == 1);
    CHECK(r.feasible[0].policy.max_num_batched_tokens == 8192);
}
