// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <llmcost/simulation/batch_prices.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/summary.hpp>

namespace llmcost {

/// How engines stand beside each other, and what they are given.
struct simulated_deployment {
    std::int64_t clients =
        0;  ///< who each send a request behind the answer to the one before; 0: requests come at their times
    std::int64_t replicas = 1;          ///< engines behind a router
    std::int64_t writing_replicas = 0;  ///< engines that write, where `replicas` only compute prompts; 0: all do both
    double network = 0;                 ///< GB/s from a device of the ones to one of the others
    double network_latency = 0;         ///< s before the first byte
    std::int64_t block = 16;            ///< tokens of a block that requests name
    std::int64_t draft = 0;             ///< tokens that are proposed per step
    double acceptance = 0;              ///< chance that one is kept, if those before it were
    std::int64_t stages = 1;            ///< of devices one behind the other in each engine
    router_rule router = router_rule::least;
    request_bounds bounds{};
    std::int64_t most_broken = std::numeric_limits<std::int64_t>::max();  ///< requests that may break them: then it ends
};

/// What a simulation is made of.
struct simulated_server {
    server* on = nullptr;
    scheduling_policy policy{};
    host_times host{};
    bool ranks_in_step = false;  ///< groups of devices begin their steps together, as those that share experts do
    proposal drafts{};           ///< the model that proposes tokens; none: they cost nothing
    step_cost towers{};          ///< of what each prompt shows; its tokens are among those of the prompt
};

/// Tokens that a turn writes, on an average: one, and of those proposed each that is kept with all before it.
[[nodiscard]] inline double tokens_of_turn(std::int64_t draft, double acceptance) noexcept {
    double chance = 1, tokens = 1;
    for (std::int64_t i = 0; i < draft; ++i) tokens += chance *= acceptance;
    return tokens;
}

/// Tokens that the cache of a group of devices holds beside the weights, in sequences of so many; beside a model that
/// proposes tokens its weights and its cache, too.
[[nodiscard]] inline double cached_tokens(const simulated_server& by, std::int64_t tokens, std::int64_t stages = 1) {
    const double alone = by.on->cache_tokens(tokens, stages);
    if (by.drafts.by == nullptr) return alone;
    const double own = by.on->cache_bytes(tokens), all = own + by.drafts.by->cache_bytes(tokens);
    const double left = alone * own - by.drafts.by->weights() * static_cast<double>(tokens);
    return left > 0 ? left / all : 0;
}

/// Runs requests through engines of a server; `progress(answered, all)` hears how far it is.
///
/// The cache of each group of devices has as many pages as memory holds beside the weights, for requests of their mean
/// length.
template <class Progress>
[[nodiscard]] simulation_result simulate(const simulated_server& by, const std::vector<simulated_request>& requests,
                                         const simulated_deployment& as, bool keep_steps, Progress&& progress) {
    double tokens = 0;
    for (const simulated_request& r : requests) tokens += static_cast<double>(r.input) + static_cast<double>(r.output) / 2;
    const auto mean = static_cast<std::int64_t>(tokens / static_cast<double>(std::max<std::size_t>(1, requests.size())));
    const double held = cached_tokens(by, std::max<std::int64_t>(1, mean), as.stages);
    const std::int64_t groups = by.on->groups();
    cluster_plan plan{
        .policy = by.policy,
        .pages = std::max<std::int64_t>(1, static_cast<std::int64_t>(held / static_cast<double>(by.policy.block))),
        .pages_per_block = std::max<std::int64_t>(1, as.block / by.policy.block),
        .replicas = by.ranks_in_step ? as.replicas : as.replicas * groups,
        .ranks = by.ranks_in_step ? groups : 1,
        .proposed = as.draft,
        .tokens_per_turn = tokens_of_turn(as.draft, as.acceptance),
        .request_seconds = by.host.request_seconds,
        .stages = as.stages,
        .router = as.router,
        .bounds = as.bounds,
        .most_broken = as.most_broken};
    const stage_links links = by.on->links_of(as.stages);
    plan.leaves_node = links.leaves_node();
    proposal drafts = by.drafts;
    drafts.tokens = as.draft;
    const bool writes_alone = as.writing_replicas > 0;
    batch_prices price(*by.on, by.policy, by.host, drafts, links, writes_alone ? step_cost{} : by.towers);
    if (!writes_alone) {
        cluster<batch_prices> all(requests, as.clients, plan, price);
        return all.run(keep_steps, std::forward<Progress>(progress));
    }
    // those that write compute the last token of a prompt again beside the others (vLLM, v1/core/sched/scheduler.py)
    cluster_plan writing = plan;
    writing.replicas = by.ranks_in_step ? as.writing_replicas : as.writing_replicas * groups;
    writing.policy.mixes_chunks = true;
    plan.proposed = 0, plan.tokens_per_turn = 1;
    batch_prices price_of_prompts(*by.on, by.policy, by.host, {}, links, by.towers);
    const auto transfer = [&](std::int64_t n) { return as.network_latency + by.on->cache_bytes(n) / (as.network * 1e9); };
    cluster<batch_prices> all(requests, as.clients, plan, price_of_prompts, writing, price, transfer);
    return all.run(keep_steps, std::forward<Progress>(progress));
}
[[nodiscard]] inline simulation_result simulate(const simulated_server& by, const std::vector<simulated_request>& requests,
                                                const simulated_deployment& as) {
    return simulate(by, requests, as, false, [](std::size_t, std::size_t) {});
}

/// Joules of all devices from the first request to the last token, of so many engines: of steps, and at rest between them.
[[nodiscard]] inline double joules_of(const simulation_result& result, const device& on, std::int64_t engines,
                                      double devices_of_each) noexcept {
    const double resting = static_cast<double>(engines) * result.seconds - result.busy;
    return devices_of_each * (result.joules + power_model{}.idle * on.watts * (resting > 0 ? resting : 0));
}

}  // namespace llmcost
