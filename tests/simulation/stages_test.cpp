// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../serving/unmeasured.hpp"

#include <llmcost/presets.hpp>
#include <llmcost/simulation/simulate.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

// What stages of devices hand over to each other.
using namespace llmcost;
using namespace llmcost::testing;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

execution make_execution(std::int64_t tensor) {
    execution execution_config;
    execution_config.parallel.tensor_parallel_size = tensor;
    return execution_config;
}
stage_links links(const device& target_device, std::int64_t stages, std::int64_t devices) {
    return server(presets::llama_3_1_70b, make_execution(devices), {}, target_device, no_kernels)
        .stage_links_of(stages);
}
/// One request of a prompt in one step and `output - 1` steps behind it, alone.
request_record simulate_single(const device& target_device, std::int64_t tensor, std::int64_t stages,
                               std::int64_t input, std::int64_t output) {
    server llm_server(presets::llama_3_1_70b, make_execution(tensor), {}, target_device, no_kernels);
    scheduling_policy p = scheduling_policies[0];
    p.max_num_batched_tokens = 1 << 20;
    return simulate({&llm_server, p}, {{.input_tokens = input, .output_tokens = output}},
                    {.pipeline_parallel_size = stages})
        .requests[0];
}
struct fixed_price {
    simulated_step_cost cost;
    simulated_step_cost operator()(const step_batch&, double) const { return cost; }
};

}  // namespace

// 8192 features of 2 bytes for each token. Links have the datasheet's bandwidth at 0.52 of it and a latency of 10.7 µs,
// as all-gathers of two devices. A port of 50 GB/s has 0.9 of it and a latency of 5 µs.
TEST_CASE("each device of a stage sends the states of a micro-batch's tokens to the next") {
    for (const std::int64_t tokens : {1, 64, 8192}) {
        const stage_transfer sent = links(h200, 2, 4)(tokens);
        const double bytes = 8192.0 * 2 * static_cast<double>(tokens);
        CHECK(sent.intra_node_seconds ==
              doctest::Approx(10.7e-6 + bytes / (0.52 * h200.link_bandwidth * 1e9)).epsilon(1e-9));
        CHECK(sent.inter_node_seconds == 0);  // eight devices are one node
        CHECK(links(h200, 2, 8)(tokens).inter_node_seconds == doctest::Approx(5e-6 + bytes / 45e9).epsilon(1e-9));
    }
    device slow = h200;
    slow.network_bandwidth = 5;
    CHECK(links(slow, 2, 8)(8192).inter_node_seconds ==
          doctest::Approx(5e-6 + 8192.0 * 2 * 8192 / 4.5e9).epsilon(1e-9));
    CHECK(links(h200, 2, 4)(0).intra_node_seconds == 0);
}

TEST_CASE("stages of which some device's counterpart is in another node hand over by the network") {
    using pattern = std::vector<bool>;
    CHECK(links(h200, 1, 8).crosses_node() == pattern{});
    CHECK(links(h200, 4, 2).crosses_node() == pattern{false, false, false});
    CHECK(links(h200, 4, 4).crosses_node() == pattern{false, true, false});
    CHECK(links(h200, 3, 8).crosses_node() == pattern{true, true});
    CHECK(links(h200, 2, 16).crosses_node() == pattern{true});
}

TEST_CASE("more tokens are handed over no sooner, and more stages hand over more often") {
    stage_links transfer_links = links(h200, 4, 4);
    stage_transfer previous{};
    for (std::int64_t tokens = 1; tokens < 1 << 20; tokens += 1 + tokens / 7) {
        const stage_transfer now = transfer_links(tokens);
        CHECK(now.intra_node_seconds >= previous.intra_node_seconds);
        CHECK(now.inter_node_seconds >= previous.inter_node_seconds);
        previous = now;
    }
    double last = 0;
    for (const std::int64_t stages : {1, 2, 4, 8}) {
        const request_record r = simulate_single(h200, 2, stages, 1000, 10);
        CHECK(r.last_token_seconds > last);
        last = r.last_token_seconds;
    }
}

// links without end leave what it takes to begin: 10.7 µs in a node, 5 µs between nodes
TEST_CASE("over infinite links stages take what they do where nothing is handed over") {
    device fast = h200;
    fast.link_bandwidth = fast.network_bandwidth = infinite;
    for (const std::int64_t tensor : {1, 8}) {
        const request_record single_stage = simulate_single(fast, tensor, 1, 3000, 101);
        for (const std::int64_t stages : {2, 4}) {
            const request_record staged = simulate_single(fast, tensor, stages, 3000, 101);
            const double sent = static_cast<double>(stages - 1) * (tensor == 8 ? 5e-6 : 10.7e-6);
            CHECK(staged.first_token_seconds ==
                  doctest::Approx(single_stage.first_token_seconds + sent).epsilon(1e-12));
            CHECK(staged.last_token_seconds ==
                  doctest::Approx(single_stage.last_token_seconds + 101 * sent).epsilon(1e-12));
        }
    }
}

// Without host times both are kernels and transfers between stages. The first token is equal to the last bit of both
// sums. A token after it is compared at the mean of the simulated lengths.
TEST_CASE("one request alone goes through stages as the closed form says") {
    for (const std::int64_t stages : {1, 2, 4})
        for (const std::int64_t tensor : {2, 8}) {
            server llm_server(presets::llama_3_1_70b, make_execution(tensor), {}, h200, no_kernels);
            const serving_metrics closed =
                llm_server({.input_tokens = 3000, .output_tokens = 201, .pipeline_parallel_size = stages});
            const request_record r = simulate_single(h200, tensor, stages, 3000, 201);
            CHECK(r.time_to_first_token() == doctest::Approx(closed.ttft_seconds).epsilon(1e-12));
            CHECK(r.time_per_output_token() == doctest::Approx(closed.tpot_seconds).epsilon(1e-3));
        }
}

// Four stages of 10 ms. Links of 1 ms follow the first and the third stage, a network of 5 ms follows the second. A
// step alone takes 47 ms. Of many microbatches, one leaves the slowest stage, the second, every 15 ms.
TEST_CASE("who sends computes nothing meanwhile") {
    const fixed_price price{{.seconds = 40e-3, .stage_transfer_time = {1e-3, 5e-3}}};
    const cluster_config plan{.policy = scheduling_policies[0],
                              .num_pages = 100'000,
                              .pipeline_parallel_size = 4,
                              .crosses_node = {false, true, false}};
    const auto seconds = [&](std::int64_t requests, std::int64_t output) {
        fixed_price fixed_cost = price;
        const std::vector<simulated_request> all(static_cast<std::size_t>(requests),
                                                 {.input_tokens = 10, .output_tokens = output});
        return cluster<fixed_price>(all, 0, plan, fixed_cost).run();
    };
    CHECK(seconds(1, 100).seconds == doctest::Approx(100 * 47e-3));
    CHECK(seconds(4, 400).seconds == doctest::Approx(4 * 400 * 15e-3).epsilon(0.01));
    CHECK(seconds(1, 100).work.busy_seconds == doctest::Approx(100 * 40e-3));
}
