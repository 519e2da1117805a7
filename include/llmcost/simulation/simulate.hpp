// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/serving/draft_model.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/prefix_tiers.hpp>
#include <llmcost/simulation/replica.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_cost_model.hpp>
#include <llmcost/simulation/summary.hpp>

namespace llmcost {

struct simulated_engine;

/// Configuration of a simulation.
struct simulation_config {
    std::int64_t num_clients =
        0;  ///< concurrent clients; each sends its next request when the previous one completes; 0: arrival times
    std::int64_t num_replicas = 1;                    ///< replicas; prefill workers if `num_decode_workers` is above 0
    std::int64_t num_decode_workers = 0;              ///< 0: aggregated prefill and decode
    const simulated_engine* decode_engine = nullptr;  ///< of the decode workers; null: as that of the prefill workers
    double network_gigabytes_per_second = 0;          ///< from a prefill worker to a decode worker, per device
    double network_latency_seconds = 0;               ///< s before the first byte
    std::int64_t prefix_block_tokens = 16;            ///< tokens per prefix block
    std::int64_t num_draft_tokens = 0;                ///< per request and step
    double acceptance_rate = 0;  ///< probability that a draft token is accepted, given that all before it are
    double accepted_tokens = 0;  ///< measured mean of accepted draft tokens per step; 0: by `acceptance_rate`
    std::int64_t pipeline_parallel_size = 1;  ///< pipeline stages of each engine
    std::vector<kv_cache_tier_size> tiers{};  ///< memory for prefix blocks below that of a device
    routing_policy router = routing_policy::least_loaded;
    request_slo slo{};
    std::int64_t max_slo_violations =
        std::numeric_limits<std::int64_t>::max();  ///< the simulation stops when more requests violate the SLO
};

/// An engine to simulate.
struct simulated_engine {
    llmcost::server* server = nullptr;
    scheduling_policy policy{};
    host_times host{};
    bool has_synchronized_ranks =
        false;                         ///< data-parallel ranks begin their steps together, as with expert parallelism
    draft_model_config draft_model{};  ///< draft model; without one, draft tokens cost nothing
    step_cost encoder_cost{};          ///< per request, for multimodal inputs; their tokens are part of the prompt
};

/// The KV cache of each data-parallel rank, for requests of `tokens` tokens: `rank_memory::capacity`, with the limits
/// of the scheduling policy that are not the defaults of the engine.
///
/// A draft model takes memory for its weights and its KV cache. A model without a KV cache has unlimited pages.
[[nodiscard]] kv_cache_capacity kv_cache_of(const simulated_engine& engine, std::int64_t tokens,
                                            std::int64_t stages = 1);

/// Whether a request of `tokens` tokens fits into the KV cache, in each of `stages` microbatches.
[[nodiscard]] bool fits_kv_cache(const simulated_engine& engine, std::int64_t tokens, std::int64_t stages = 1);

/// The pages of the KV cache of each rank in `plan`, with prefix blocks of `prefix_block_tokens` tokens.
///
/// A prefix block has no pages if it is shorter than a page. Windows and states are not shared.
void set_kv_cache(cluster_config& plan, const kv_cache_capacity& capacity, std::int64_t prefix_block_tokens);

/// The tiers of each rank in `plan`, after `set_kv_cache`. A model without a KV cache has none.
void set_kv_tiers(cluster_config& plan, const simulated_engine& engine, const simulation_config& config);

/// Simulates requests on an engine. Calls `progress(completed, total)` after every run of steps.
///
/// The KV cache of each rank has the pages that fit next to the weights, for requests of mean length.
template <class Progress>
[[nodiscard]] simulation_result simulate(const simulated_engine& engine, const std::vector<simulated_request>& requests,
                                         const simulation_config& config, bool records_steps, Progress&& progress) {
    double tokens = 0;
    for (const simulated_request& r : requests)
        tokens += static_cast<double>(r.input_tokens) + static_cast<double>(r.output_tokens) / 2;
    const auto mean =
        static_cast<std::int64_t>(tokens / static_cast<double>(std::max<std::size_t>(1, requests.size())));
    const std::int64_t groups = engine.server->data_parallel_size();
    cluster_config plan{.policy = engine.policy,
                        .replicas = engine.has_synchronized_ranks ? config.num_replicas : config.num_replicas * groups,
                        .data_parallel_size = engine.has_synchronized_ranks ? groups : 1,
                        .num_draft_tokens = config.num_draft_tokens,
                        .tokens_per_step = expected_tokens_per_step(config.num_draft_tokens, config.acceptance_rate,
                                                                    config.accepted_tokens),
                        .host_seconds_per_request = engine.host.request_seconds,
                        .host_seconds_per_prompt_token = engine.host.prompt_token_seconds,
                        .pipeline_parallel_size = config.pipeline_parallel_size,
                        .router = config.router,
                        .slo = config.slo,
                        .max_slo_violations = config.max_slo_violations};
    const kv_cache_capacity capacity =
        kv_cache_of(engine, std::max<std::int64_t>(1, mean), config.pipeline_parallel_size);
    set_kv_cache(plan, capacity, config.prefix_block_tokens);
    set_kv_tiers(plan, engine, config);
    const auto with_capacity = [&](simulation_result result) {
        result.kv_cache_bytes = capacity.bytes;
        result.kv_cache_blocks = capacity.num_blocks;
        return result;
    };
    const stage_links links = engine.server->stage_links_of(config.pipeline_parallel_size);
    plan.crosses_node = links.crosses_node();
    draft_model_config drafts = engine.draft_model;
    drafts.num_draft_tokens = config.num_draft_tokens;
    if (config.num_decode_workers == 0) {
        step_cost_model price(*engine.server, engine.policy, engine.host, drafts, links, engine.encoder_cost);
        cluster<step_cost_model> all(requests, config.num_clients, plan, price);
        return with_capacity(all.run(records_steps, std::forward<Progress>(progress)));
    }
    // Decode workers recompute the last prompt token, together with decodes (vllm, v1/core/sched/scheduler.py).
    const simulated_engine& writer = config.decode_engine != nullptr ? *config.decode_engine : engine;
    const std::int64_t writing_groups = writer.server->data_parallel_size();
    cluster_config writing = plan;
    writing.policy = writer.policy;
    writing.data_parallel_size = writer.has_synchronized_ranks ? writing_groups : 1;
    writing.replicas =
        writer.has_synchronized_ranks ? config.num_decode_workers : config.num_decode_workers * writing_groups;
    const stage_links writing_links = writer.server->stage_links_of(config.pipeline_parallel_size);
    if (config.decode_engine != nullptr) {
        set_kv_cache(writing, kv_cache_of(writer, std::max<std::int64_t>(1, mean), config.pipeline_parallel_size),
                     config.prefix_block_tokens);
        writing.crosses_node = writing_links.crosses_node();
    }
    writing.tiers.clear();
    writing.policy.has_mixed_chunk = true;
    step_cost_model price_of_writing(*writer.server, writer.policy, writer.host, drafts, writing_links, step_cost{});
    plan.num_draft_tokens = 0;
    plan.tokens_per_step = 1;
    step_cost_model price_of_prompts(*engine.server, engine.policy, engine.host, {}, links, engine.encoder_cost);
    const auto transfer = [&](std::int64_t n) {
        // the side with fewer devices sends or receives more bytes with each of them
        return config.network_latency_seconds +
               std::max(engine.server->kv_cache_bytes(n), writer.server->kv_cache_bytes(n)) /
                   (config.network_gigabytes_per_second * 1e9);
    };
    cluster<step_cost_model> all(requests, config.num_clients, plan, price_of_prompts, writing, price_of_writing,
                                 transfer);
    return with_capacity(all.run(records_steps, std::forward<Progress>(progress)));
}
[[nodiscard]] inline simulation_result simulate(const simulated_engine& engine,
                                                const std::vector<simulated_request>& requests,
                                                const simulation_config& config) {
    return simulate(engine, requests, config, false, [](std::size_t, std::size_t) {});
}

/// Energy of all devices of `engines` engines that do this work, including idle power for the rest of `seconds` (J).
[[nodiscard]] double joules_of(const simulated_work& work, double seconds, const device& device, std::int64_t engines,
                               double devices_of_each) noexcept;

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/simulate.ipp>  // IWYU pragma: export
#endif
