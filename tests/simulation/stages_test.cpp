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

execution over(std::int64_t tensor) {
    execution how;
    how.shards.tensor = tensor;
    return how;
}
stage_links links(const device& on, std::int64_t stages, std::int64_t devices) {
    return server(presets::llama_3_1_70b, over(devices), {}, on, no_kernels).links_of(stages);
}
/// One request of a prompt in one step and `output - 1` steps behind it, alone.
request_record alone(const device& on, std::int64_t tensor, std::int64_t stages, std::int64_t input, std::int64_t output) {
    server of(presets::llama_3_1_70b, over(tensor), {}, on, no_kernels);
    scheduling_policy p = scheduling_policies[0];
    p.tokens_per_step = 1 << 20;
    return simulate({&of, p}, {{.input = input, .output = output}}, {.stages = stages}).requests[0];
}
struct fixed_price {
    step_price each;
    step_price operator()(const step_batch&, double) const { return each; }
};

}  // namespace

// 8192 features of 2 bytes for each token, over links of the datasheet's bandwidth at 0.52 of it behind 10.7 µs (what two
// devices that gather take), or a port of 50 GB/s at 0.9 of it behind 5 µs
TEST_CASE("each device of a stage sends the states of a micro-batch's tokens to the next") {
    for (const std::int64_t tokens : {1, 64, 8192}) {
        const hand_over sent = links(h200, 2, 4)(tokens);
        const double bytes = 8192.0 * 2 * static_cast<double>(tokens);
        CHECK(sent.in_node == doctest::Approx(10.7e-6 + bytes / (0.52 * h200.link_bandwidth * 1e9)).epsilon(1e-9));
        CHECK(sent.between_nodes == 0);  // eight devices are one node
        CHECK(links(h200, 2, 8)(tokens).between_nodes == doctest::Approx(5e-6 + bytes / 45e9).epsilon(1e-9));
    }
    device slow = h200;
    slow.network_bandwidth = 5;
    CHECK(links(slow, 2, 8)(8192).between_nodes == doctest::Approx(5e-6 + 8192.0 * 2 * 8192 / 4.5e9).epsilon(1e-9));
    CHECK(links(h200, 2, 4)(0).in_node == 0);
}

TEST_CASE("stages of which some device's counterpart is in another node hand over by the network") {
    using pattern = std::vector<bool>;
    CHECK(links(h200, 1, 8).leaves_node() == pattern{});
    CHECK(links(h200, 4, 2).leaves_node() == pattern{false, false, false});
    CHECK(links(h200, 4, 4).leaves_node() == pattern{false, true, false});
    CHECK(links(h200, 3, 8).leaves_node() == pattern{true, true});
    CHECK(links(h200, 2, 16).leaves_node() == pattern{true});
}

TEST_CASE("more tokens are handed over no sooner, and more stages hand over more often") {
    stage_links of = links(h200, 4, 4);
    hand_over before{};
    for (std::int64_t tokens = 1; tokens < 1 << 20; tokens += 1 + tokens / 7) {
        const hand_over now = of(tokens);
        CHECK(now.in_node >= before.in_node);
        CHECK(now.between_nodes >= before.between_nodes);
        before = now;
    }
    double last = 0;
    for (const std::int64_t stages : {1, 2, 4, 8}) {
        const request_record r = alone(h200, 2, stages, 1000, 10);
        CHECK(r.last > last);
        last = r.last;
    }
}

// links without end leave what it takes to begin: 10.7 µs in a node, 5 µs between nodes
TEST_CASE("over infinite links stages take what they do where nothing is handed over") {
    device fast = h200;
    fast.link_bandwidth = fast.network_bandwidth = infinite;
    for (const std::int64_t tensor : {1, 8}) {
        const request_record whole = alone(fast, tensor, 1, 3000, 101);
        for (const std::int64_t stages : {2, 4}) {
            const request_record staged = alone(fast, tensor, stages, 3000, 101);
            const double sent = static_cast<double>(stages - 1) * (tensor == 8 ? 5e-6 : 10.7e-6);
            CHECK(staged.first == doctest::Approx(whole.first + sent).epsilon(1e-12));
            CHECK(staged.last == doctest::Approx(whole.last + 101 * sent).epsilon(1e-12));
        }
    }
}

// without host times both are kernels and what lies between stages: the first token to the last bit of both sums, a token
// behind it at the mean of the lengths that the simulation goes through
TEST_CASE("one request alone goes through stages as the closed form says") {
    for (const std::int64_t stages : {1, 2, 4})
        for (const std::int64_t tensor : {2, 8}) {
            server of(presets::llama_3_1_70b, over(tensor), {}, h200, no_kernels);
            const serving_figures closed = of({.input = 3000, .output = 201, .pipeline = stages});
            const request_record r = alone(h200, tensor, stages, 3000, 201);
            CHECK(r.time_to_first_token() == doctest::Approx(closed.ttft).epsilon(1e-12));
            CHECK(r.time_per_output_token() == doctest::Approx(closed.tpot).epsilon(1e-3));
        }
}

// four stages of 10 ms, behind the first and the third links of 1 ms, behind the second a network of 5 ms: a step alone
// takes 47 ms; of many micro-batches one comes out of the slowest stage, the second, every 15 ms
TEST_CASE("who sends computes nothing meanwhile") {
    const fixed_price price{{.seconds = 40e-3, .sent = {1e-3, 5e-3}}};
    const cluster_plan plan{
        .policy = scheduling_policies[0], .pages = 100'000, .stages = 4, .leaves_node = {false, true, false}};
    const auto seconds = [&](std::int64_t requests, std::int64_t output) {
        fixed_price each = price;
        const std::vector<simulated_request> all(static_cast<std::size_t>(requests), {.input = 10, .output = output});
        return cluster<fixed_price>(all, 0, plan, each).run();
    };
    CHECK(seconds(1, 100).seconds == doctest::Approx(100 * 47e-3));
    CHECK(seconds(4, 400).seconds == doctest::Approx(4 * 400 * 15e-3).epsilon(0.01));
    CHECK(seconds(1, 100).busy == doctest::Approx(100 * 40e-3));
}
