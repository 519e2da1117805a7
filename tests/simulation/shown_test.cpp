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
    execution execution_config;
    execution_config.linear_type = execution_config.expert_type = find_operand_type("fp8");
    execution_config.parallel.tensor_parallel_size = 4;
    return execution_config;
}
scheduling_policy in_steps_of(std::int64_t tokens) {
    scheduling_policy p = scheduling_policies[0];
    p.max_num_batched_tokens = tokens;
    return p;
}
simulation_result simulated(server& llm_server, const std::vector<simulated_request>& requests,
                            std::int64_t tokens_per_step, const simulation_config& deployment,
                            const step_cost& media_cost) {
    simulated_engine test_engine{&llm_server, in_steps_of(tokens_per_step)};
    test_engine.encoder_cost = media_cost;
    return simulate(test_engine, requests, deployment);
}

}  // namespace

// Without host times of an engine both are kernels alone. The first token is equal to the last bit of both sums. A
// token after it is compared at the mean of the simulated lengths.
TEST_CASE("one request alone takes what the closed form says, with what it shows and without") {
    server llm_server(presets::llama_3_1_70b, in_fp8(), {}, h200, no_kernels);
    for (const std::int64_t input : {300, 1024, 5000})
        for (const std::int64_t chunk : {1024, 1 << 20})
            for (const step_cost& media_cost : {step_cost{}, towers}) {
                const serving_metrics closed =
                    llm_server({.input_tokens = input,
                                .output_tokens = 201,
                                .chunk_tokens = chunk,
                                .multimodal_inputs = {.num_tokens = 200, .encoder_cost = media_cost}});
                const request_record r = simulated(llm_server, {{.input_tokens = input, .output_tokens = 201}}, chunk,
                                                   {.num_clients = 1}, media_cost)
                                             .requests[0];
                CHECK(r.time_to_first_token() == doctest::Approx(closed.ttft_seconds).epsilon(1e-12));
                CHECK(r.time_per_output_token() == doctest::Approx(closed.tpot_seconds).epsilon(1e-3));
            }
}

TEST_CASE("towers are in the first step of a prompt, once, and on the first stage") {
    server llm_server(presets::llama_3_1_70b, in_fp8(), {}, h200, no_kernels);
    const std::vector<simulated_request> one{{.input_tokens = 5000, .output_tokens = 50}};
    for (const std::int64_t stages : {1, 4}) {
        const request_record text =
                                 simulated(llm_server, one, 1024, {.pipeline_parallel_size = stages}, {}).requests[0],
                             multimodal = simulated(llm_server, one, 1024, {.pipeline_parallel_size = stages}, towers)
                                              .requests[0];
        CHECK(multimodal.first_token_seconds == doctest::Approx(text.first_token_seconds + 30e-3).epsilon(1e-12));
        CHECK(multimodal.last_token_seconds == doctest::Approx(text.last_token_seconds + 30e-3).epsilon(1e-12));
    }
    // where others write behind those that compute prompts, these alone see
    const simulation_config disaggregated{.num_decode_workers = 1, .network_gigabytes_per_second = 50};
    const request_record text = simulated(llm_server, one, 1024, disaggregated, {}).requests[0],
                         multimodal = simulated(llm_server, one, 1024, disaggregated, towers).requests[0];
    CHECK(multimodal.last_token_seconds == doctest::Approx(text.last_token_seconds + 30e-3).epsilon(1e-12));
    // eight at once: each is seen
    const std::vector<simulated_request> eight(8, one[0]);
    CHECK(simulated(llm_server, eight, 1 << 20, {}, towers).requests[7].first_token_seconds ==
          doctest::Approx(simulated(llm_server, eight, 1 << 20, {}, {}).requests[7].first_token_seconds + 8 * 30e-3)
              .epsilon(1e-12));
}

// 1 s of towers on the first of two stages, 0.2 s of layers: the second stage waits for the first, which is the slowest
TEST_CASE("other stages do not help the first one to see") {
    struct price {
        simulated_step_cost operator()(const step_batch&, double) const {
            return {.seconds = 1.2, .first_stage_seconds = 1};
        }
    } constant_cost;
    const std::vector<simulated_request> all(20, {.input_tokens = 10, .output_tokens = 1});
    scheduling_policy one_at_a_time = in_steps_of(10);
    const cluster_config plan{.policy = one_at_a_time, .num_pages = 1000, .pipeline_parallel_size = 2};
    CHECK(cluster<price>(all, 0, plan, constant_cost).run().seconds == doctest::Approx(20 * 1.1 + 0.1));
}
