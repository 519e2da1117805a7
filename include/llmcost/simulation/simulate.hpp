// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/step_cost_model.hpp>
#include <llmcost/simulation/summary.hpp>

namespace llmcost {

/// How engines stand beside each other, and what they are given.
struct simulation_config {
    std::int64_t num_clients =
        0;  ///< who each send a request behind the answer to the one before; 0: requests come at their times
    std::int64_t num_replicas = 1;        ///< engines behind a router
    std::int64_t num_decode_workers = 0;  ///< engines that write, where `replicas` only compute prompts; 0: all do both
    double network_gigabytes_per_second = 0;  ///< GB/s from a device of the ones to one of the others
    double network_latency_seconds = 0;       ///< s before the first byte
    std::int64_t prefix_block_tokens = 16;    ///< tokens of a block that requests name
    std::int64_t num_draft_tokens = 0;        ///< tokens that are proposed per step
    double acceptance_rate = 0;               ///< chance that one is kept, if those before it were
    std::int64_t pipeline_parallel_size = 1;  ///< of devices one behind the other in each engine
    routing_policy router = routing_policy::least_loaded;
    request_slo slo{};
    std::int64_t max_slo_violations =
        std::numeric_limits<std::int64_t>::max();  ///< requests that may break them: then it ends
};

/// What a simulation is made of.
struct simulated_engine {
    llmcost::server* server = nullptr;
    scheduling_policy policy{};
    host_times host{};
    bool has_synchronized_ranks =
        false;                         ///< groups of devices begin their steps together, as those that share experts do
    draft_model_config draft_model{};  ///< the model that proposes tokens; none: they cost nothing
    step_cost encoder_cost{};          ///< of what each prompt shows; its tokens are among those of the prompt
};

/// Tokens that a turn writes, on an average: one, and of those proposed each that is kept with all before it.
[[nodiscard]] inline double expected_tokens_per_step(std::int64_t draft, double acceptance) noexcept {
    double chance = 1, tokens = 1;
    for (std::int64_t i = 0; i < draft; ++i) tokens += chance *= acceptance;
    return tokens;
}

/// Tokens that the cache of a group of devices holds beside the weights, in sequences of so many; beside a model that
/// proposes tokens its weights and its cache, too.
[[nodiscard]] inline double max_cached_tokens(const simulated_engine& engine, std::int64_t tokens,
                                              std::int64_t stages = 1) {
    const double capacity_tokens = engine.server->max_cache_tokens(tokens, stages);
    if (engine.draft_model.draft_server == nullptr) return capacity_tokens;
    const double target_bytes = engine.server->kv_cache_bytes(tokens),
                 all = target_bytes + engine.draft_model.draft_server->kv_cache_bytes(tokens);
    const double left = capacity_tokens * target_bytes -
                        engine.draft_model.draft_server->weight_bytes_per_device() * static_cast<double>(tokens);
    return left > 0 ? left / all : 0;
}

/// Runs requests through engines of a server; `progress(answered, all)` hears how far it is.
///
/// The cache of each group of devices has as many pages as memory holds beside the weights, for requests of their mean
/// length.
template <class Progress>
[[nodiscard]] simulation_result simulate(const simulated_engine& engine, const std::vector<simulated_request>& requests,
                                         const simulation_config& config, bool records_steps, Progress&& progress) {
    double tokens = 0;
    for (const simulated_request& r : requests)
        tokens += static_cast<double>(r.input_tokens) + static_cast<double>(r.output_tokens) / 2;
    const auto mean =
        static_cast<std::int64_t>(tokens / static_cast<double>(std::max<std::size_t>(1, requests.size())));
    const double capacity_tokens =
        max_cached_tokens(engine, std::max<std::int64_t>(1, mean), config.pipeline_parallel_size);
    const std::int64_t groups = engine.server->data_parallel_size();
    cluster_config plan{
        .policy = engine.policy,
        .num_pages = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(capacity_tokens / static_cast<double>(engine.policy.page_size))),
        .pages_per_block = std::max<std::int64_t>(1, config.prefix_block_tokens / engine.policy.page_size),
        .replicas = engine.has_synchronized_ranks ? config.num_replicas : config.num_replicas * groups,
        .data_parallel_size = engine.has_synchronized_ranks ? groups : 1,
        .num_draft_tokens = config.num_draft_tokens,
        .tokens_per_step = expected_tokens_per_step(config.num_draft_tokens, config.acceptance_rate),
        .host_seconds_per_request = engine.host.request_seconds,
        .pipeline_parallel_size = config.pipeline_parallel_size,
        .router = config.router,
        .slo = config.slo,
        .max_slo_violations = config.max_slo_violations};
    const stage_links links = engine.server->stage_links_of(config.pipeline_parallel_size);
    plan.crosses_node = links.crosses_node();
    draft_model_config drafts = engine.draft_model;
    drafts.num_draft_tokens = config.num_draft_tokens;
    const bool writes_alone = config.num_decode_workers > 0;
    step_cost_model price(*engine.server, engine.policy, engine.host, drafts, links,
                          writes_alone ? step_cost{} : engine.encoder_cost);
    if (!writes_alone) {
        cluster<step_cost_model> all(requests, config.num_clients, plan, price);
        return all.run(records_steps, std::forward<Progress>(progress));
    }
    // those that write compute the last token of a prompt again beside the others (vLLM, v1/core/sched/scheduler.py)
    cluster_config writing = plan;
    writing.replicas = engine.has_synchronized_ranks ? config.num_decode_workers : config.num_decode_workers * groups;
    writing.policy.has_mixed_chunk = true;
    plan.num_draft_tokens = 0;
    plan.tokens_per_step = 1;
    step_cost_model price_of_prompts(*engine.server, engine.policy, engine.host, {}, links, engine.encoder_cost);
    const auto transfer = [&](std::int64_t n) {
        return config.network_latency_seconds +
               engine.server->kv_cache_bytes(n) / (config.network_gigabytes_per_second * 1e9);
    };
    cluster<step_cost_model> all(requests, config.num_clients, plan, price_of_prompts, writing, price, transfer);
    return all.run(records_steps, std::forward<Progress>(progress));
}
[[nodiscard]] inline simulation_result simulate(const simulated_engine& engine,
                                                const std::vector<simulated_request>& requests,
                                                const simulation_config& config) {
    return simulate(engine, requests, config, false, [](std::size_t, std::size_t) {});
}

/// Joules of all devices from the first request to the last token, of so many engines: of steps, and at rest between
/// them.
[[nodiscard]] inline double joules_of(const simulation_result& result, const device& device, std::int64_t engines,
                                      double devices_of_each) noexcept {
    const double resting = static_cast<double>(engines) * result.seconds - result.busy_seconds;
    return devices_of_each *
           (result.joules + power_model{}.idle_fraction * device.thermal_design_watts * (resting > 0 ? resting : 0));
}

}  // namespace llmcost
