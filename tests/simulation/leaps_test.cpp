// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Steps that are alike are taken at once: requests are answered when they are where each step is composed by itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <llmcost/simulation/cluster.hpp>

namespace {

using namespace llmcost;

struct second_per_step {
    step_price operator()(const step_batch&, double) const { return {1, 1}; }
};

struct answered {
    std::vector<double> first, last;
};

/// One engine whose every step takes a second, composed step by step.
answered one_by_one(const std::vector<simulated_request>& requests, const cluster_plan& plan) {
    std::vector<request_progress> progress(requests.size());
    scheduler engine(plan.policy, plan.pages, 1, requests, progress);
    answered times{std::vector<double>(requests.size()), std::vector<double>(requests.size())};
    std::size_t here = 0, done = 0;
    step_batch runs;
    const auto compose = [&](double visible_until) {
        step_batch& next = engine.compose(visible_until);
        if (next.steps > 1) engine.cut(next, 1);
        return next;
    };
    double now = 0;
    while (done < requests.size() && now < 1e5) {
        const double begin = now;
        now = runs.steps > 0 ? now + 1 : std::max(now, requests[here].at);
        for (; here < requests.size() && requests[here].at <= now; ++here) engine.arrive(here, requests[here].at);
        for (const std::size_t id : runs.started) times.first[id] = now;
        for (const std::size_t id : runs.ended) times.last[id] = now;
        done += runs.ended.size();
        const step_batch before = runs;
        const bool ahead = plan.policy.steps_ahead > 0 && before.steps > 0;
        if (!ahead) engine.release(before.ended);
        runs = compose(ahead ? begin : now);
        if (ahead) {
            engine.release(before.ended);
            if (runs.steps == 0) runs = compose(now);
        }
        if (runs.steps == 0 && here == requests.size() && done < requests.size()) break;
    }
    return times;
}

}  // namespace

TEST_CASE("leaps over steps that are alike change no answer's time") {
    std::mt19937 random(20260101);
    const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    second_per_step price;
    for (int i = 0; i < 400; ++i) {
        cluster_plan plan;
        plan.policy = scheduling_policies[between(0, 2)];
        plan.policy.caches_prefixes = false;
        plan.policy.tokens_per_step = between(64, 96), plan.policy.sequences = between(2, 6), plan.policy.block = between(1, 2);
        plan.policy.steps_ahead = between(0, 1);
        std::vector<simulated_request> requests;
        double at = 0;
        std::int64_t longest = 0;
        for (int k = between(2, 12); k > 0; --k) {
            simulated_request r;
            r.input = between(1, 60), r.output = between(1, 1 + between(1, 60));
            r.at = at += between(0, 1) == 0 ? 0 : between(0, 30) + 0.5;
            longest = std::max(longest, r.input + r.output);
            requests.push_back(r);
        }
        plan.pages = longest + 2 + between(0, 1) * between(0, 150);
        const answered each = one_by_one(requests, plan);
        const simulation_result all = cluster(requests, 0, plan, price).run();
        INFO(i, ": ", std::string(plan.policy.engine.data()), " ahead ", plan.policy.steps_ahead);
        for (std::size_t k = 0; k < requests.size(); ++k) {
            INFO(k);
            CHECK(all.requests[k].first == each.first[k]);
            CHECK(all.requests[k].last == each.last[k]);
        }
    }
}

TEST_CASE("an engine that computes prompts has their pages back once another writes") {
    second_per_step price;
    cluster_plan prompts;
    prompts.policy.block = 1, prompts.policy.tokens_per_step = 64, prompts.policy.steps_ahead = 0, prompts.pages = 64;
    cluster_plan writing = prompts;
    writing.pages = 4096;
    std::vector<simulated_request> requests(20);
    for (simulated_request& r : requests) r.input = 32, r.output = 5;
    const simulation_result all =
        cluster(requests, 0, prompts, price, writing, price, [](std::int64_t) { return 0.25; }).run();
    for (std::size_t i = 0; i < requests.size(); ++i) {  // two in a step, and no third has room
        INFO(i);
        CHECK(all.requests[i].scheduled == static_cast<double>(i / 2));
        CHECK(all.requests[i].last > all.requests[i].scheduled + 5);
    }
}
