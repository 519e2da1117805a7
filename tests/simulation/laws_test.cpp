// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/load.hpp>
#include <llmcost/simulation/summary.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace llmcost;

namespace {

/// A step that takes a time of its own, one for each sequence, one for each new token of a prompt and one for what is read.
struct affine_price {
    double step = 10e-3, sequence = 0, prompt_token = 0, past_token = 0;

    step_price operator()(const step_batch& b, double past) const {
        double prompt = 0;
        for (const prompt_chunk& c : b.prompts) prompt += static_cast<double>(c.tokens);
        const auto writing = static_cast<double>(b.writing);
        return {step + sequence * writing + prompt_token * prompt + past_token * writing * past, 1};
    }
};

scheduling_policy policy_named(literal engine) {
    for (const scheduling_policy& p : scheduling_policies)
        if (p.engine == string_ref(engine)) return p;
    FAIL("no such engine");
    return scheduling_policies[0];
}
simulation_result run(const std::vector<simulated_request>& requests, std::int64_t clients, const cluster_plan& plan,
                      affine_price price) {
    cluster<affine_price> all(requests, clients, plan, price);
    return all.run(true, [](std::size_t, std::size_t) {});
}
std::vector<simulated_request> drawn(std::uint64_t seed, std::int64_t many, double rate, std::int64_t turns = 1) {
    return requests_of({.input = {1, 3000},
                        .output = {1, 300},
                        .requests = many,
                        .rate = rate,
                        .burstiness = 0.5,
                        .turns = turns,
                        .block = 64,
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
                                                 .pages = pages * 16 / p.block,
                                                 .pages_per_block = std::max<std::int64_t>(1, 64 / p.block),
                                                 .replicas = 2,
                                                 .request_seconds = 1e-3},
                                                {.sequence = 1e-4, .prompt_token = 1e-5, .past_token = 1e-9});
                REQUIRE(r.requests.size() == requests.size());
                for (std::size_t i = 0; i < requests.size(); ++i) {
                    const request_record& one = r.requests[i];
                    CHECK(one.input == requests[i].input);
                    CHECK(one.output == requests[i].output);
                    CHECK(one.sent <= one.queued);
                    CHECK(one.queued <= one.scheduled);
                    CHECK(one.scheduled < one.first);
                    CHECK((one.output == 1 ? one.last == one.first : one.last > one.first));
                }
                std::int64_t prompts = 0;
                double written = 0;
                for (const simulated_steps& s : r.steps) {
                    prompts += s.prompt_tokens, written += static_cast<double>(s.writing * s.steps);
                    CHECK(s.pages <= 1);
                    CHECK(s.end > s.begin);
                }
                std::int64_t input = 0, output = 0, cached = 0, again = 0;
                for (const request_record& one : r.requests)
                    input += one.input, output += one.output - 1, cached += one.cached, again += one.preempted;
                if (again == 0) {  // what is computed again is computed more than once
                    CHECK(prompts == input - cached);
                    CHECK(written == static_cast<double>(output));
                }
            }
}

TEST_CASE("the same seed gives the same, another one something else") {
    const auto all = [](std::uint64_t seed) {
        std::vector<double> times;
        const cluster_plan plan{.policy = policy_named("vllm"), .pages = 100'000};
        for (const request_record& r : run(drawn(seed, 200, 10), 0, plan, {}).requests) times.push_back(r.last);
        return times;
    };
    CHECK(all(1) == all(1));
    CHECK(all(1) != all(2));
}

// a prompt of 5,000 tokens in steps of 2,048, then 99 tokens behind the first
TEST_CASE("a request alone takes its steps one after the other") {
    scheduling_policy p = policy_named("vllm");
    p.tokens_per_step = 2048;
    const affine_price price{.step = 1e-3, .sequence = 1e-4, .prompt_token = 1e-5, .past_token = 1e-8};
    const simulation_result r = run({{.input = 5000, .output = 100}}, 0, {.policy = p, .pages = 1000}, price);
    CHECK(r.requests[0].first == doctest::Approx(3e-3 + 5000 * 1e-5));
    double expected = 0;
    for (int i = 0; i < 99; ++i) expected += 1.1e-3 + 1e-8 * (5000 + i);
    CHECK(r.requests[0].last - r.requests[0].first == doctest::Approx(expected).epsilon(1e-12));
    CHECK(r.engine_steps == 3 + 99);
}

TEST_CASE("where every prompt fits into the first step, all policies agree") {
    std::vector<simulated_request> requests(20, {.input = 100, .output = 50});
    std::vector<double> last;
    for (scheduling_policy p : scheduling_policies) {
        p.tokens_per_step = p.prompt_tokens = 1'000'000;
        const simulation_result r =
            run(requests, 0, {.policy = p, .pages = 1'000'000}, {.sequence = 1e-4, .prompt_token = 1e-6});
        for (const request_record& one : r.requests) CHECK(one.first == r.requests[0].first);
        last.push_back(r.requests[0].last);
    }
    CHECK(last[0] == last[1]);
    CHECK(last[0] == last[2]);
}

TEST_CASE("who comes behind all others makes none of them later") {
    for (const scheduling_policy& p : scheduling_policies) {
        if (p.steps != step_rule::mixed) continue;  // elsewhere prompts of others come before what is written
        auto requests = drawn(5, 300, 15);
        const cluster_plan plan{.policy = p, .pages = 40'000};
        const affine_price price{.sequence = 1e-4, .prompt_token = 1e-5};
        const simulation_result before = run(requests, 0, plan, price);
        requests.push_back({.input = 2000, .output = 200, .at = requests.back().at});
        const simulation_result after = run(requests, 0, plan, price);
        for (std::size_t i = 0; i + 1 < requests.size(); ++i)
            CHECK(after.requests[i].first >= before.requests[i].first - 1e-9);
    }
}

// M/D/1: a queue of Poisson arrivals for one server of a constant time D waits ρ·D / 2(1 − ρ) on an average (Pollaczek and
// Khinchine)
TEST_CASE("one request at a time with one token waits as a queue does") {
    scheduling_policy p = policy_named("vllm");
    p.sequences = 1, p.steps_ahead = 0;
    for (const double share : {0.3, 0.6, 0.8}) {
        const auto requests =
            requests_of({.input = {10, 10}, .output = {1, 1}, .requests = 400'000, .rate = share / 10e-3, .seed = 11});
        double waited = 0;
        for (const request_record& r : run(requests, 0, {.policy = p, .pages = 1000}, {}).requests)
            waited += r.scheduled - r.queued;
        const double mean = waited / 400'000, expected = share * 10e-3 / (2 * (1 - share));
        CHECK(mean == doctest::Approx(expected).epsilon(0.02));
    }
}

// M/D/c: the next of c servers that is free takes the next request (Kiefer and Wolfowitz); on an average it waits about as
// long as (1 + (1 − ρ)(c − 1)(√(4 + 5c) − 2) / 16ρc) / 2 times as with exponential services (Cosmetatos, Operational
// Research Quarterly 27, 1976), which Erlang's formula gives
TEST_CASE("several requests at a time, each as long as the others, wait as a queue for several servers does") {
    constexpr std::int64_t tokens = 200, many = 60'000;
    constexpr double step = 1e-3, service = tokens * step;
    for (const std::int64_t servers : {2, 4}) {
        scheduling_policy p = policy_named("vllm");
        p.sequences = servers, p.steps_ahead = 0;
        constexpr double share = 0.8;
        const double rate = share * static_cast<double>(servers) / service;
        const auto requests =
            requests_of({.input = {1, 1}, .output = {tokens, tokens}, .requests = many, .rate = rate, .seed = 5});
        const simulation_result r = run(requests, 0, {.policy = p, .pages = 1'000'000}, {.step = step});
        std::vector<double> free(static_cast<std::size_t>(servers), 0.0);
        double waited = 0, by_theory = 0;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const auto next = std::min_element(free.begin(), free.end());
            by_theory += std::max(0.0, *next - requests[i].at);
            *next = std::max(*next, requests[i].at) + service;
            waited += r.requests[i].scheduled - r.requests[i].queued;
        }
        // who comes in the middle of a step waits for it, and a service begins with one: half a step of a service of 200
        CHECK(waited / many == doctest::Approx(by_theory / many).epsilon(0.03));
        const auto c = static_cast<double>(servers);
        double sum = 0, term = 1;
        for (std::int64_t k = 0; k < servers; ++k) sum += term, term *= share * c / static_cast<double>(k + 1);
        const double waits = term / (1 - share) / (sum + term / (1 - share));
        const double exponential = waits * service / (c * (1 - share));
        const double constant =
            exponential / 2 * (1 + (1 - share) * (c - 1) * (std::sqrt(4 + 5 * c) - 2) / (16 * share * c));
        CHECK(by_theory / many == doctest::Approx(constant).epsilon(0.05));
    }
}

// two stages: two micro-batches take turns, each step passes both
TEST_CASE("stages one behind the other compute as many micro-batches at a time") {
    const scheduling_policy p = policy_named("vllm");
    const std::vector<simulated_request> one{{.input = 10, .output = 101}};
    CHECK(run(one, 0, {.policy = p, .pages = 1000, .stages = 2}, {}).requests[0].last ==
          doctest::Approx(run(one, 0, {.policy = p, .pages = 1000}, {}).requests[0].last));
    const std::vector<simulated_request> two(2, {.input = 10, .output = 101});
    const simulation_result r = run(two, 0, {.policy = p, .pages = 1000, .stages = 2}, {.step = 0, .sequence = 10e-3});
    // each alone in its micro-batch: a step is its own 10 ms, and the second enters the first stage 5 ms behind
    CHECK(r.requests[0].last - r.requests[0].first == doctest::Approx(100 * 10e-3));
    CHECK(r.requests[1].last - r.requests[0].last == doctest::Approx(0).epsilon(0.01));
    // who writes behind a long prompt follows it from stage to stage: 90 ms of the prompt, and the last stage of its own 10
    // ms
    std::vector<simulated_request> mixed{{.input = 10, .output = 200}, {.input = 8000, .output = 1, .at = 0.5}};
    const affine_price price{.prompt_token = 1e-5};
    const double staged = summary_of(run(mixed, 0, {.policy = p, .pages = 10'000, .stages = 4}, price)).itl.most;
    CHECK(staged <= doctest::Approx(92.5e-3));
    CHECK(staged > 90e-3);
    // as many engines' worth of work at a time: four stages, four times the requests a second
    std::vector<simulated_request> many(64, {.input = 10, .output = 100});
    const auto seconds = [&](std::int64_t stages) {
        return run(many, 0, {.policy = p, .pages = 100'000, .stages = stages}, {.step = 1e-6, .sequence = 1e-3}).seconds;
    };
    CHECK(seconds(4) == doctest::Approx(seconds(1) / 4).epsilon(0.05));
}

// ten conversations of four turns over two engines: sent where they were begun, each finds all that was said
TEST_CASE("a router that knows prefixes sends a turn where the ones before were") {
    const auto requests = requests_of({.input = {640, 640},
                                       .output = {64, 64},
                                       .requests = 60,
                                       .rate = 5,
                                       .turns = 3,
                                       .pause = 0.5,
                                       .block = 64,
                                       .seed = 3});
    const auto found = [&](router_rule router) {
        cluster_plan plan{.policy = policy_named("vllm"), .pages = 100'000, .pages_per_block = 4, .replicas = 4};
        plan.router = router;
        return summary_of(run(requests, 0, plan, {.prompt_token = 1e-5}));
    };
    const simulation_summary least = found(router_rule::least), prefix = found(router_rule::prefix);
    // of each conversation 640, 1344 and 2048 tokens: of the second 640 are there, of the third 1344 in whole blocks
    CHECK(prefix.cached_share == doctest::Approx((640.0 + 1344) / (640 + 1344 + 2048)).epsilon(1e-9));
    CHECK(least.cached_share < prefix.cached_share);
    CHECK(prefix.ttft.mean < least.ttft.mean);
}

// ten that write and a step of 10 ms: the eleventh comes in the middle of one. It waits for the rest of it and for the one
// that is composed already
TEST_CASE("who comes in the middle of a step waits for it, and for the step that is composed ahead") {
    for (const std::int64_t ahead : {0, 1}) {
        scheduling_policy p = policy_named("vllm");
        p.steps_ahead = ahead;
        std::vector<simulated_request> requests(10, {.input = 10, .output = 1000});
        requests.push_back({.input = 10, .output = 10, .at = 0.5049});
        const simulation_result r = run(requests, 0, {.policy = p, .pages = 100'000}, {});
        CHECK(r.requests[10].scheduled == doctest::Approx(ahead == 0 ? 0.51 : 0.52));
        CHECK(r.requests[10].first == doctest::Approx(r.requests[10].scheduled + 10e-3));
    }
}

// SGLang: while prompts come, nobody writes
TEST_CASE("prompts before those that write stall these, and mixed steps do not") {
    std::vector<simulated_request> requests{{.input = 100, .output = 200}};
    for (int i = 0; i < 40; ++i) requests.push_back({.input = 8000, .output = 1, .at = 0.1});
    const auto most = [&](literal engine) {
        const scheduling_policy p = policy_named(engine);
        return summary_of(run(requests, 0, {.policy = p, .pages = 10'000'000 / p.block}, {.prompt_token = 1e-6})).itl.most;
    };
    CHECK(most("sglang") > 20 * 18e-3);
    CHECK(most("vllm") < 2 * 18.2e-3);
}

// the second prompt, of which one part is computed, gives way to what the first writes
TEST_CASE("who gives way before a first token has it later, and not never") {
    scheduling_policy p = policy_named("vllm");
    p.tokens_per_step = 20;
    std::vector<simulated_request> requests{{.input = 16, .output = 400}, {.input = 300, .output = 4, .at = 3.0}};
    for (const std::int64_t pages : {30, 31, 32, 33, 34, 35}) {
        const simulation_result r = run(requests, 0, {.policy = p, .pages = pages}, {});
        for (const request_record& one : r.requests) {
            CHECK(one.scheduled < one.first);
            CHECK(one.first <= one.last);
        }
    }
    std::vector<simulated_request> many(40, {.input = 300, .output = 200});
    std::int64_t before_first = 0;
    const simulation_result r = run(many, 0, {.policy = p, .pages = 60}, {});
    for (const request_record& one : r.requests) {
        CHECK(one.scheduled < one.first);
        CHECK(one.first <= one.last);
        before_first += one.preempted;
    }
    CHECK(before_first > 0);
}

TEST_CASE("a cache that is too small preempts the newest, who is computed again and answered") {
    const std::vector<simulated_request> requests(8, {.input = 160, .output = 400});
    for (const literal engine : {"vllm", "trtllm"}) {
        scheduling_policy p = policy_named(engine);
        p.admits = admission_rule::prompt;
        const simulation_result r = run(requests, 0, {.policy = p, .pages = 1920 / p.block}, {});
        CHECK(r.preemptions > 0);
        CHECK(r.requests[0].preempted == 0);
        CHECK(r.requests[7].preempted > 0);
        for (const request_record& one : r.requests) CHECK(one.output == 400);
        p.admits = admission_rule::whole_output;  // who is admitted stays
        CHECK(run(requests, 0, {.policy = p, .pages = 1920 / p.block}, {}).preemptions == 0);
    }
}

// three turns: the second and third find what was said before, in whole blocks of 64
TEST_CASE("turns of a conversation find their beginning in the cache as long as there is room") {
    const auto requests = requests_of({.input = {100, 100}, .output = {28, 28}, .requests = 3, .turns = 3, .block = 64});
    CHECK(requests[1].input == 228);
    CHECK(requests[2].input == 356);
    const cluster_plan plan{.policy = policy_named("vllm"), .pages = 1000, .pages_per_block = 4};
    const simulation_result r = run(requests, 0, plan, {});
    CHECK(r.requests[0].cached == 0);
    CHECK(r.requests[1].cached == 64);
    CHECK(r.requests[2].cached == 192);
    CHECK(r.requests[1].sent == r.requests[0].last);
    cluster_plan without = plan;
    without.policy.caches_prefixes = false;
    CHECK(run(requests, 0, without, {}).requests[2].cached == 0);
}

// one engine for prompts, one that writes; 0.2 s lie between
TEST_CASE("prompts may be computed elsewhere: the cache comes behind them") {
    std::vector<simulated_request> requests{{.input = 1000, .output = 11}};
    affine_price price{.prompt_token = 1e-5};
    const cluster_plan plan{.policy = policy_named("vllm"), .pages = 10'000};
    cluster<affine_price> all(requests, 0, plan, price, plan, price, [](std::int64_t) { return 0.2; });
    const simulation_result r = all.run();
    // the prompt, the way, a step for its last token, ten tokens more
    CHECK(r.requests[0].first == doctest::Approx(20e-3 + 0.2 + 10e-3 + 1e-5));
    CHECK(r.requests[0].last - r.requests[0].first == doctest::Approx(10 * 10e-3));
    CHECK(r.requests[0].output == 11);
}

// four tokens a turn
TEST_CASE("proposed tokens that are kept make fewer steps") {
    const scheduling_policy p = policy_named("vllm");
    const simulation_result r =
        run({{.input = 10, .output = 401}}, 0, {.policy = p, .pages = 1000, .proposed = 5, .tokens_per_turn = 4}, {});
    CHECK(r.engine_steps == 1 + 100);
}

TEST_CASE("percentiles are those of all values, each as often as it is there") {
    const distribution d = detail::distribution_of({{3, 1}, {1, 98}, {2, 1}});
    CHECK(d.mean == doctest::Approx(1.03));
    CHECK(d.p50 == 1);
    CHECK(d.p95 == 1);
    CHECK(d.p99 == 2);
    CHECK(d.most == 3);
}

TEST_CASE("what is drawn has its mean and its spread") {
    random_stream random(7);
    for (const double shape : {0.25, 1.0, 4.0}) {
        double sum = 0, squares = 0;
        constexpr int many = 200'000;
        for (int i = 0; i < many; ++i) {
            const double x = random.gamma(shape);
            sum += x, squares += x * x;
        }
        const double mean = sum / many, spread = squares / many - mean * mean;
        CHECK(mean == doctest::Approx(1).epsilon(0.02));
        CHECK(spread == doctest::Approx(1 / shape).epsilon(0.05));
    }
}
