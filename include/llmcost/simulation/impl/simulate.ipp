// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/simulate.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/prefix_tiers.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

namespace llmcost {

LLMCOST_INLINE kv_cache_capacity kv_cache_of(const simulated_engine& engine, std::int64_t tokens, std::int64_t stages) {
    engine_memory_profile profile = engine.server->memory_profile();
    const scheduling_policy& policy = engine.policy;
    const scheduling_policy usual = default_policy(policy.engine, engine.server->target_device());
    if (policy.page_size != usual.page_size) profile.block_size = profile.sglang.page_size = policy.page_size;
    if (policy.max_num_batched_tokens != usual.max_num_batched_tokens)
        profile.max_num_batched_tokens = profile.sglang.chunked_prefill_size = policy.max_num_batched_tokens;
    if (policy.max_num_seqs != usual.max_num_seqs) {
        if (profile.max_num_seqs > 0) profile.max_num_seqs = policy.max_num_seqs;
        profile.sglang.max_running_requests = policy.max_num_seqs;
    }
    engine.server->set_draft_model(engine.draft_model);
    const maybe<kv_cache_capacity> capacity = engine.server->kv_cache(tokens, stages, profile);
    if (capacity) return *capacity;
    kv_cache_capacity unlimited;
    unlimited.num_blocks = max_input;
    unlimited.blocks_of_request = {.fixed_blocks = 1, .kinds = {}};
    return unlimited;
}

LLMCOST_INLINE bool fits_kv_cache(const simulated_engine& engine, std::int64_t tokens, std::int64_t stages) {
    const kv_cache_capacity capacity = kv_cache_of(engine, tokens, stages);
    return capacity.max_num_seqs > 0 && capacity.blocks_of_request(tokens) <= capacity.num_blocks / stages;
}

LLMCOST_INLINE void set_kv_cache(cluster_config& plan, const kv_cache_capacity& capacity,
                                 std::int64_t prefix_block_tokens) {
    plan.num_pages = std::max<std::int64_t>(1, capacity.num_blocks);
    plan.pages_of_request = capacity.blocks_of_request;
    const std::vector<block_table_kind>& kinds = capacity.blocks_of_request.kinds;
    const bool is_single_table = kinds.size() == 1 && kinds.front().num_tables == 1 && kinds.front().max_tokens == 0 &&
                                 capacity.blocks_of_request.fixed_blocks == 0 &&
                                 capacity.blocks_of_request.units_per_block == 1;
    plan.policy.max_num_seqs = std::max<std::int64_t>(1, std::min(plan.policy.max_num_seqs, capacity.max_num_seqs));
    if (is_single_table) {
        plan.pages_per_block = std::max<std::int64_t>(1, prefix_block_tokens / kinds.front().block_size);
        plan.tokens_per_block = plan.pages_per_block * kinds.front().block_size;
        return;
    }
    plan.pages_per_block = 0;
    plan.tokens_per_block = prefix_block_tokens;
    for (const block_table_kind& kind : kinds)
        if (kind.max_tokens == 0) plan.pages_per_block += kind.num_tables * (prefix_block_tokens / kind.block_size);
}

LLMCOST_INLINE void set_kv_tiers(cluster_config& plan, const simulated_engine& engine,
                                 const simulation_config& config) {
    plan.tiers.clear();
    if (plan.pages_per_block == 0 || plan.tokens_per_block == 0) return;
    const double block_bytes =
        engine.server->kv_cache_bytes(plan.tokens_per_block) / static_cast<double>(config.pipeline_parallel_size);
    if (block_bytes == 0) return;
    const double device_blocks =
        static_cast<double>(plan.num_pages * std::max<std::int64_t>(1, plan.pages_of_request.units_per_block)) /
        static_cast<double>(plan.pages_per_block);
    for (const kv_cache_tier_size& tier : config.tiers)
        plan.tiers.push_back({.num_blocks = static_cast<std::int64_t>(
                                  tier.bytes > 0 ? tier.bytes / block_bytes : tier.kv_cache_ratio * device_blocks),
                              .seconds_per_block = block_bytes / tier.bytes_per_second});
}

LLMCOST_INLINE double joules_of(const simulated_work& work, double seconds, const device& device, std::int64_t engines,
                                double devices_of_each) noexcept {
    const double resting = static_cast<double>(engines) * seconds - work.busy_seconds;
    return devices_of_each * (work.joules + power_model_of(device).idle_fraction * device.thermal_design_watts *
                                                (resting > 0 ? resting : 0));
}

}  // namespace llmcost
