// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/random_stream.hpp>
#include <llmcost/simulation/summary.hpp>
#include <llmcost/simulation/synthetic_workload.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace llmcost;

namespace {

/// A step that takes a time of its own, one for each sequence, one for each new token of a prompt and one for what is
/// read.
struct affine_price {
    double step = 10e-3, sequence = 0, prompt_token = 0, past_token = 0;

    simulated_step_cost operator()(const step_batch& b, double past) const {
        double prompt = 0;
        for (const prefill_chunk& c : b.prefills) prompt += static_cast<double>(c.num_tokens);
        const auto writing = static_cast<double>(b.num_decodes);
        return {step + sequence * writing + prompt_token * prompt + past_token * writing * past, 1};
    }
};

scheduling_policy policy_named(literal engine) {
    for (const scheduling_policy& p : scheduling_policies)
        if (p.engine == string_ref(engine)) return p;
    FAIL("no such engine");
    return scheduling_policies[0];
}
simulation_result run(const std::vector<simulated_request>& requests, std::int64_t clients, const cluster_config& plan,
                      affine_price price) {
    cluster<affine_price> all(requests, clients, plan, price);
    return all.run(true, [](std::size_t, std::size_t) {});
}
std::vector<simulated_request> drawn(std::uint64_t seed, std::int64_t num_requests, double rate,
                                     std::int64_t turns = 1) {
    return generate_requests({.input = {1, 3000},
                              .output = {1, 300},
                              .num_requests = num_requests,
                              .request_rate = rate,
                              .burstiness = 0.5,
                              .turns_per_conversation = turns,
                              .prefix_block_tokens = 64,
                              .seed = seed});
}

}  // namespace

TEST_CASE("no request is lost, each is answered whole, and everything it does comes one after the other") {
    for (const scheduling_policy& p : scheduling_policies)
        for (const std::int64_t pages : {8000, 1'000'000})
            for (const std::int64_t clients : {0, 7, 200}) {
                const auto requests = drawn(3, 500, 20, clients == 7 ? 3 : 1);
                const simulation_result r = run(requests, clients,
                                                {.policy = p,
                                                 .num_pages = pages * 16 / p.page_size,
                                                 .pages_per_block = std::max<std::int64_t>(1, 64 / p.page_size),
                                                 .replicas = 2,
                                                 .host_seconds_per_request = 1e-3},
                                                {.sequence = 1e-4, .prompt_token = 1e-5, .past_token = 1e-9});
                REQUIRE(r.requests.size() == requests.size());
                for (std::size_t i = 0; i < requests.size(); ++i) {
                    const request_record& one = r.requests[i];
                    CHECK(one.input == requests[i].input_tokens);
                    CHECK(one.output == requests[i].output_tokens);
                    CHECK(one.sent_seconds <= one.queued_seconds);
                    CHECK(one.queued_seconds <= one.scheduled_seconds);
                    CHECK(one.scheduled_seconds < one.first_token_seconds);
                    CHECK((one.output == 1 ? one.last_token_seconds == one.first_token_seconds
                                           : one.last_token_seconds > one.first_token_seconds));
                }
                std::int64_t prompts = 0;
                double written = 0;
                for (const simulated_steps& s : r.steps) {
                    prompts += s.prefill_tokens;
                    written += static_cast<double>(s.num_decodes * s.steps);
                    CHECK(s.kv_cache_utilization <= 1);
                    CHECK(s.end > s.begin);
                }
                std::int64_t input = 0, output = 0, cached = 0, recomputed = 0;
                for (const request_record& one : r.requests) {
                    input += one.input;
                    output += one.output - 1;
                    cached += one.num_cached_tokens;
                    recomputed += one.num_preemptions;
                }
                if (recomputed == 0) {  // what is computed again is computed more than once
                    CHECK(prompts == input - cached);
                    CHECK(written == static_cast<double>(output));
                }
            }
}

TEST_CASE("the same seed gives the same, another one something else") {
    const auto all = [](std::uint64_t seed) {
        std::vector<double> times;
        const cluster_config plan{.policy = policy_named("vllm"), .num_pages = 100'000};
        for (const request_record& r : run(drawn(seed, 200, 10), 0, plan, {}).requests)
            times.push_back(r.last_token_seconds);
        return times;
    };
    CHECK(all(1) == all(1));
    CHECK(all(1) != all(2));
}

// a prompt of 5,000 tokens in steps of 2,048, then 99 tokens behind the first
TEST_CASE("a request alone takes its steps one after the other") {
    scheduling_policy p = policy_named("vllm");
    p.max_num_batched_tokens = 2048;
    const affine_price price{.step = 1e-3, .sequence = 1e-4, .prompt_token = 1e-5, .past_token = 1e-8};
    const simulation_result r =
        run({{.input_tokens = 5000, .output_tokens = 100}}, 0, {.policy = p, .num_pages = 1000}, price);
    CHECK(r.requests[0].first_token_seconds == doctest::Approx(3e-3 + 5000 * 1e-5));
    double expected = 0;
    for (int i = 0; i < 99; ++i) expected += 1.1e-3 + 1e-8 * (5000 + i);
    CHECK(r.requests[0].last_token_seconds - r.requests[0].first_token_seconds ==
          doctest::Approx(expected).epsilon(1e-12));
    CHECK(r.engine_steps == 3 + 99);
}

TEST_CASE("where every prompt fits into the first step, all policies agree") {
    std::vector<simulated_request> requests(20, {.input_tokens = 100, .output_tokens = 50});
    std::vector<double> last;
    for (scheduling_policy p : scheduling_policies) {
        p.max_num_batched_tokens = p.max_prefill_tokens = 1'000'000;
        const simulation_result r =
            run(requests, 0, {.policy = p, .num_pages = 1'000'000}, {.sequence = 1e-4, .prompt_token = 1e-6});
        for (const request_record& one : r.requests)
            CHECK(one.first_token_seconds == r.requests[0].first_token_seconds);
        last.push_back(r.requests[0].last_token_seconds);
    }
    CHECK(last[0] == last[1]);
    CHECK(last[0] == last[2]);
}

TEST_CASE("who comes behind all others makes none of them later") {
    for (const scheduling_policy& p : scheduling_policies) {
        if (p.batching != batching_mode::mixed) continue;  // elsewhere prompts of others come before what is written
        auto requests = drawn(5, 300, 15);
        const cluster_config plan{.policy = p, .num_pages = 40'000};
        const affine_price price{.sequence = 1e-4, .prompt_token = 1e-5};
        const simulation_result baseline = run(requests, 0, plan, price);
        requests.push_back(
            {.input_tokens = 2000, .output_tokens = 200, .arrival_seconds = requests.back().arrival_seconds});
        const simulation_result extended = run(requests, 0, plan, price);
        for (std::size_t i = 0; i + 1 < requests.size(); ++i)
            CHECK(extended.requests[i].first_token_seconds >= baseline.requests[i].first_token_seconds - 1e-9);
    }
}

// M/D/1: a queue of Poisson arrivals for one server of a constant time D waits ρ·D / 2(1 − ρ) on an average (Pollaczek
// and Khinchine)
TEST_CASE("one request at a time with one token waits as a queue does") {
    scheduling_policy p = policy_named("vllm");
    p.max_num_seqs = 1;
    p.num_async_steps = 0;
    for (const double share : {0.3, 0.6, 0.8}) {
        const auto requests = generate_requests(
            {.input = {10, 10}, .output = {1, 1}, .num_requests = 400'000, .request_rate = share / 10e-3, .seed = 11});
        double waited = 0;
        for (const request_record& r : run(requests, 0, {.policy = p, .num_pages = 1000}, {}).requests)
            waited += r.scheduled_seconds - r.queued_seconds;
        const double mean = waited / 400'000, expected = share * 10e-3 / (2 * (1 - share));
        CHECK(mean == doctest::Approx(expected).epsilon(0.02));
    }
}

// M/D/c: the next of c servers that is free takes the next request (Kiefer and Wolfowitz). The mean wait is about (1 +
// (1 − ρ)(c − 1)(√(4 + 5c) − 2) / 16ρc) / 2 of that with exponential services, which Erlang's formula gives. Source:
// Cosmetatos, Operational Research Quarterly 27, 1976.
TEST_CASE("several requests at a time, each as long as the others, wait as a queue for several servers does") {
    constexpr std::int64_t tokens = 200, num_requests = 60'000;
    constexpr double step = 1e-3, service = tokens * step;
    for (const std::int64_t servers : {2, 4}) {
        scheduling_policy p = policy_named("vllm");
        p.max_num_seqs = servers;
        p.num_async_steps = 0;
        constexpr double share = 0.8;
        const double rate = share * static_cast<double>(servers) / service;
        const auto requests = generate_requests({.input = {1, 1},
                                                 .output = {tokens, tokens},
                                                 .num_requests = num_requests,
                                                 .request_rate = rate,
                                                 .seed = 5});
        const simulation_result r = run(requests, 0, {.policy = p, .num_pages = 1'000'000}, {.step = step});
        std::vector<double> free(static_cast<std::size_t>(servers), 0.0);
        double waited = 0, by_theory = 0;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const auto next = std::min_element(free.begin(), free.end());
            by_theory += std::max(0.0, *next - requests[i].arrival_seconds);
            *next = std::max(*next, requests[i].arrival_seconds) + service;
            waited += r.requests[i].scheduled_seconds - r.requests[i].queued_seconds;
        }
        // who comes in the middle of a step waits for it, and a service begins with one: half a step of a service of
        // 200
        CHECK(waited / num_requests == doctest::Approx(by_theory / num_requests).epsilon(0.03));
        const auto c = static_cast<double>(servers);
        double sum = 0, term = 1;
        for (std::int64_t k = 0; k < servers; ++k) {
            sum += term;
            term *= share * c / static_cast<double>(k + 1);
        }
        const double waits = term / (1 - share) / (sum + term / (1 - share));
        const double exponential = waits * service / (c * (1 - share));
        const double constant =
            exponential / 2 * (1 + (1 - share) * (c - 1) * (std::sqrt(4 + 5 * c) - 2) / (16 * share * c));
        CHECK(by_theory / num_requests == doctest::Approx(constant).epsilon(0.05));
    }
}

// two stages: two micro-batches take turns, each step passes both
TEST_CASE("stages one behind the other compute as many micro-batches at a time") {
    const scheduling_policy p = policy_named("vllm");
    const std::vector<simulated_request> one{{.input_tokens = 10, .output_tokens = 101}};
    CHECK(
        run(one, 0, {.policy = p, .num_pages = 1000, .pipeline_parallel_size = 2}, {}).requests[0].last_token_seconds ==
        doctest::Approx(run(one, 0, {.policy = p, .num_pages = 1000}, {}).requests[0].last_token_seconds));
    const std::vector<simulated_request> two(2, {.input_tokens = 10, .output_tokens = 101});
    const simulation_result r =
        run(two, 0, {.policy = p, .num_pages = 1000, .pipeline_parallel_size = 2}, {.step = 0, .sequence = 10e-3});
    // each alone in its micro-batch: a step is its own 10 ms, and the second enters the first stage 5 ms behind
    CHECK(r.requests[0].last_token_seconds - r.requests[0].first_token_seconds == doctest::Approx(100 * 10e-3));
    CHECK(r.requests[1].last_token_seconds - r.requests[0].last_token_seconds == doctest::Approx(0).epsilon(0.01));
    // who writes behind a long prompt follows it from stage to stage: 90 ms of the prompt, and the last stage of its
    // own 10 ms
    std::vector<simulated_request> mixed{{.input_tokens = 10, .output_tokens = 200},
                                         {.input_tokens = 8000, .output_tokens = 1, .arrival_seconds = 0.5}};
    const affine_price price{.prompt_token = 1e-5};
    const double staged =
        summarize(run(mixed, 0, {.policy = p, .num_pages = 10'000, .pipeline_parallel_size = 4}, price)).itl.max;
    CHECK(staged <= doctest::Approx(92.5e-3));
    CHECK(staged > 90e-3);
    // as many engines' worth of work at a time: four stages, four times the requests a second
    std::vector<simulated_request> queued_requests(64, {.input_tokens = 10, .output_tokens = 100});
    const auto seconds = [&](std::int64_t stages) {
        return run(queued_requests, 0, {.policy = p, .num_pages = 100'000, .pipeline_parallel_size = stages},
                   {.step = 1e-6, .sequence = 1e-3})
            .seconds;
    };
    CHECK(seconds(4) == doctest::Approx(seconds(1) / 4).epsilon(0.05));
}

// ten conversations of four turns over two engines: sent where they were begun, each finds all that was said
TEST_CASE("a router that knows prefixes sends a turn where the ones before were") {
    const auto requests = generate_requests({.input = {640, 640},
                                             .output = {64, 64},
                                             .num_requests = 60,
                                             .request_rate = 5,
                                             .turns_per_conversation = 3,
                                             .pause_seconds = 0.5,
                                             .prefix_block_tokens = 64,
                                             .seed = 3});
    const auto found = [&](routing_policy router) {
        cluster_config plan{.policy = policy_named("vllm"), .num_pages = 100'000, .pages_per_block = 4, .replicas = 4};
        plan.router = router;
        return summarize(run(requests, 0, plan, {.prompt_token = 1e-5}));
    };
    const simulation_summary minimum = found(routing_policy::least_loaded),
                             prefix = found(routing_policy::prefix_aware);
    // of each conversation 640, 1344 and 2048 tokens: of the second 640 are there, of the third 1344 in whole blocks
    CHECK(prefix.prefix_hit_rate == doctest::Approx((640.0 + 1344) / (640 + 1344 + 2048)).epsilon(1e-9));
    CHECK(minimum.prefix_hit_rate < prefix.prefix_hit_rate);
    CHECK(prefix.ttft.mean < minimum.ttft.mean);
}

// ten that write and a step of 10 ms: the eleventh comes in the middle of one. It waits for the rest of it and for the
// one that is composed already
TEST_CASE("who comes in the middle of a step waits for it, and for the step that is composed ahead") {
    for (const std::int64_t ahead : {0, 1}) {
        scheduling_policy p = policy_named("vllm");
        p.num_async_steps = ahead;
        std::vector<simulated_request> requests(10, {.input_tokens = 10, .output_tokens = 1000});
        requests.push_back({.input_tokens = 10, .output_tokens = 10, .arrival_seconds = 0.5049});
        const simulation_result r = run(requests, 0, {.policy = p, .num_pages = 100'000}, {});
        CHECK(r.requests[10].scheduled_seconds == doctest::Approx(ahead == 0 ? 0.51 : 0.52));
        CHECK(r.requests[10].first_token_seconds == doctest::Approx(r.requests[10].scheduled_seconds + 10e-3));
    }
}

// SGLang: no decode steps while prompts arrive
TEST_CASE("prompts before those that write stall these, and mixed steps do not") {
    std::vector<simulated_request> requests{{.input_tokens = 100, .output_tokens = 200}};
    for (int i = 0; i < 40; ++i) requests.push_back({.input_tokens = 8000, .output_tokens = 1, .arrival_seconds = 0.1});
    const auto maximum = [&](literal engine) {
        const scheduling_policy p = policy_named(engine);
        return summarize(run(requests, 0, {.policy = p, .num_pages = 10'000'000 / p.page_size}, {.prompt_token = 1e-6}))
            .itl.max;
    };
    CHECK(maximum("sglang") > 20 * 18e-3);
    CHECK(maximum("vllm") < 2 * 18.2e-3);
}

// the second prompt, of which one part is computed, gives way to what the first writes
TEST_CASE("who gives way before a first token has it later, and not never") {
    scheduling_policy p = policy_named("vllm");
    p.max_num_batched_tokens = 20;
    std::vector<simulated_request> requests{{.input_tokens = 16, .output_tokens = 400},
                                            {.input_tokens = 300, .output_tokens = 4, .arrival_seconds = 3.0}};
    for (const std::int64_t pages : {30, 31, 32, 33, 34, 35}) {
        const simulation_result r = run(requests, 0, {.policy = p, .num_pages = pages}, {});
        for (const request_record& one : r.requests) {
            CHECK(one.scheduled_seconds < one.first_token_seconds);
            CHECK(one.first_token_seconds <= one.last_token_seconds);
        }
    }
    std::vector<simulated_request> queued_requests(40, {.input_tokens = 300, .output_tokens = 200});
    std::int64_t before_first = 0;
    const simulation_result r = run(queued_requests, 0, {.policy = p, .num_pages = 60}, {});
    for (const request_record& one : r.requests) {
        CHECK(one.scheduled_seconds < one.first_token_seconds);
        CHECK(one.first_token_seconds <= one.last_token_seconds);
        before_first += one.num_preemptions;
    }
    CHECK(before_first > 0);
}

TEST_CASE("a cache that is too small preempts the newest, who is computed again and answered") {
    const std::vector<simulated_request> requests(8, {.input_tokens = 160, .output_tokens = 400});
    for (const literal engine : {"vllm", "trtllm"}) {
        scheduling_policy p = policy_named(engine);
        p.admission = admission_mode::prompt;
        const simulation_result r = run(requests, 0, {.policy = p, .num_pages = 1920 / p.page_size}, {});
        CHECK(r.num_preemptions > 0);
        CHECK(r.requests[0].num_preemptions == 0);
        CHECK(r.requests[7].num_preemptions > 0);
        for (const request_record& one : r.requests) CHECK(one.output == 400);
        p.admission = admission_mode::full_output;  // who is admitted stays
        CHECK(run(requests, 0, {.policy = p, .num_pages = 1920 / p.page_size}, {}).num_preemptions == 0);
    }
}

// three turns: the second and third find what was said before, in whole blocks of 64
TEST_CASE("turns of a conversation find their beginning in the cache as long as there is room") {
    const auto requests = generate_requests({.input = {100, 100},
                                             .output = {28, 28},
                                             .num_requests = 3,
                                             .turns_per_conversation = 3,
                                             .prefix_block_tokens = 64});
    CHECK(requests[1].input_tokens == 228);
    CHECK(requests[2].input_tokens == 356);
    const cluster_config plan{.policy = policy_named("vllm"), .num_pages = 1000, .pages_per_block = 4};
    const simulation_result r = run(requests, 0, plan, {});
    CHECK(r.requests[0].num_cached_tokens == 0);
    CHECK(r.requests[1].num_cached_tokens == 64);
    CHECK(r.requests[2].num_cached_tokens == 192);
    CHECK(r.requests[1].sent_seconds == r.requests[0].last_token_seconds);
    cluster_config uncached_plan = plan;
    uncached_plan.policy.has_prefix_cache = false;
    CHECK(run(requests, 0, uncached_plan, {}).requests[2].num_cached_tokens == 0);
}

// one engine for prompts, one that writes; 0.2 s lie between
TEST_CASE("prompts may be computed elsewhere: the cache comes behind them") {
    std::vector<simulated_request> requests{{.input_tokens = 1000, .output_tokens = 11}};
    affine_price price{.prompt_token = 1e-5};
    const cluster_config plan{.policy = policy_named("vllm"), .num_pages = 10'000};
    cluster<affine_price> all(requests, 0, plan, price, plan, price, [](std::int64_t) { return 0.2; });
    const simulation_result r = all.run();
    // the prompt, the way, a step for its last token, ten tokens more
    CHECK(r.requests[0].first_token_seconds == doctest::Approx(20e-3 + 0.2 + 10e-3 + 1e-5));
    CHECK(r.requests[0].last_token_seconds - r.requests[0].first_token_seconds == doctest::Approx(10 * 10e-3));
    CHECK(r.requests[0].output == 11);
}

// four tokens a turn
TEST_CASE("proposed tokens that are kept make fewer steps") {
    const scheduling_policy p = policy_named("vllm");
    const simulation_result r = run({{.input_tokens = 10, .output_tokens = 401}}, 0,
                                    {.policy = p, .num_pages = 1000, .num_draft_tokens = 5, .tokens_per_step = 4}, {});
    CHECK(r.engine_steps == 1 + 100);
}

TEST_CASE("percentiles are those of all values, each as often as it is there") {
    const distribution d = detail::compute_distribution({{3, 1}, {1, 98}, {2, 1}});
    CHECK(d.mean == doctest::Approx(1.03));
    CHECK(d.p50 == 1);
    CHECK(d.p95 == 1);
    CHECK(d.p99 == 2);
    CHECK(d.max == 3);
}

TEST_CASE("what is drawn has its mean and its spread") {
    random_stream random(7);
    for (const double shape : {0.25, 1.0, 4.0}) {
        double sum = 0, squares = 0;
        constexpr int num_samples = 200'000;
        for (int i = 0; i < num_samples; ++i) {
            const double x = random.gamma(shape);
            sum += x;
            squares += x * x;
        }
        const double mean = sum / num_samples, spread = squares / num_samples - mean * mean;
        CHECK(mean == doctest::Approx(1).epsilon(0.02));
        CHECK(spread == doctest::Approx(1 / shape).epsilon(0.05));
    }
}
