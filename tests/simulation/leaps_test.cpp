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
    simulated_step_cost operator()(const step_batch&, double) const { return {1, 1}; }
};

struct answered {
    std::vector<double> first, last;
};

/// One engine whose every step takes a second, composed step by step.
answered one_by_one(const std::vector<simulated_request>& requests, const cluster_config& plan) {
    std::vector<request_progress> progress(requests.size());
    scheduler engine(plan.policy, plan.num_pages, 1, {requests, progress});
    answered times{std::vector<double>(requests.size()), std::vector<double>(requests.size())};
    std::size_t num_arrived = 0, done = 0;
    step_batch runs;
    const auto compose = [&](double visible_until) {
        step_batch& next = engine.schedule(visible_until);
        if (next.num_steps > 1) engine.truncate(next, 1);
        return next;
    };
    double now = 0;
    while (done < requests.size() && now < 1e5) {
        const double begin = now;
        now = runs.num_steps > 0 ? now + 1 : std::max(now, requests[num_arrived].arrival_seconds);
        for (; num_arrived < requests.size() && requests[num_arrived].arrival_seconds <= now; ++num_arrived)
            engine.add_request(num_arrived, requests[num_arrived].arrival_seconds);
        for (const std::size_t id : runs.first_token) times.first[id] = now;
        for (const std::size_t id : runs.finished) times.last[id] = now;
        done += runs.finished.size();
        const step_batch previous_batch = runs;
        const bool ahead = plan.policy.num_async_steps > 0 && previous_batch.num_steps > 0;
        if (!ahead) engine.free_finished(previous_batch.finished);
        runs = compose(ahead ? begin : now);
        if (ahead) {
            engine.free_finished(previous_batch.finished);
            if (runs.num_steps == 0) runs = compose(now);
        }
        if (runs.num_steps == 0 && num_arrived == requests.size() && done < requests.size()) break;
    }
    return times;
}

}  // namespace

TEST_CASE("leaps over steps that are alike change no answer's time") {
    std::mt19937 random(20260101);
    const auto draw_uniform = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    second_per_step price;
    for (int i = 0; i < 400; ++i) {
        cluster_config plan;
        plan.policy = scheduling_policies[draw_uniform(0, 2)];
        plan.policy.has_prefix_cache = false;
        plan.policy.max_num_batched_tokens = draw_uniform(64, 96);
        plan.policy.max_num_seqs = draw_uniform(2, 6);
        plan.policy.page_size = draw_uniform(1, 2);
        plan.policy.num_async_steps = draw_uniform(0, 1);
        std::vector<simulated_request> requests;
        double seconds = 0;
        std::int64_t longest = 0;
        for (int k = draw_uniform(2, 12); k > 0; --k) {
            simulated_request r;
            r.input_tokens = draw_uniform(1, 60);
            r.output_tokens = draw_uniform(1, 1 + draw_uniform(1, 60));
            r.arrival_seconds = seconds += draw_uniform(0, 1) == 0 ? 0 : draw_uniform(0, 30) + 0.5;
            longest = std::max(longest, r.input_tokens + r.output_tokens);
            requests.push_back(r);
        }
        plan.num_pages = longest + 2 + draw_uniform(0, 1) * draw_uniform(0, 150);
        const answered stepwise = one_by_one(requests, plan);
        const simulation_result all = cluster(requests, 0, plan, price).run();
        INFO(i, ": ", std::string(plan.policy.engine.data()), " ahead ", plan.policy.num_async_steps);
        for (std::size_t k = 0; k < requests.size(); ++k) {
            INFO(k);
            CHECK(all.requests[k].first_token_seconds == stepwise.first[k]);
            CHECK(all.requests[k].last_token_seconds == stepwise.last[k]);
        }
    }
}

TEST_CASE("an engine that computes prompts has their pages back once another writes") {
    second_per_step price;
    cluster_config prompts;
    prompts.policy.page_size = 1;
    prompts.policy.max_num_batched_tokens = 64;
    prompts.policy.num_async_steps = 0;
    prompts.num_pages = 64;
    cluster_config writing = prompts;
    writing.num_pages = 4096;
    std::vector<simulated_request> requests(20);
    for (simulated_request& r : requests) {
        r.input_tokens = 32;
        r.output_tokens = 5;
    }
    const simulation_result all =
        cluster(requests, 0, prompts, price, writing, price, [](std::int64_t) { return 0.25; }).run();
    for (std::size_t i = 0; i < requests.size(); ++i) {  // two in a step, and no third has room
        INFO(i);
        CHECK(all.requests[i].scheduled_seconds == static_cast<double>(i / 2));
        CHECK(all.requests[i].last_token_seconds > all.requests[i].scheduled_seconds + 5);
    }
}
