// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/simulate.hpp>

#include <cstdint>

#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/step_cost_model.hpp>

namespace llmcost {

LLMCOST_INLINE double expected_tokens_per_step(std::int64_t draft, double acceptance) noexcept {
    double chance = 1, tokens = 1;
    for (std::int64_t i = 0; i < draft; ++i) tokens += chance *= acceptance;
    return tokens;
}

LLMCOST_INLINE double max_cached_tokens(const simulated_engine& engine, std::int64_t tokens, std::int64_t stages) {
    const double capacity_tokens = engine.server->max_cache_tokens(tokens, stages);
    if (engine.draft_model.draft_server == nullptr) return capacity_tokens;
    const double target_bytes = engine.server->kv_cache_bytes(tokens),
                 all = target_bytes + engine.draft_model.draft_server->kv_cache_bytes(tokens);
    const double left = capacity_tokens * target_bytes -
                        engine.draft_model.draft_server->weight_bytes_per_device() * static_cast<double>(tokens);
    return left > 0 ? left / all : 0;
}

LLMCOST_INLINE double joules_of(const simulation_result& result, const device& device, std::int64_t engines,
                                double devices_of_each) noexcept {
    const double resting = static_cast<double>(engines) * result.seconds - result.busy_seconds;
    return devices_of_each *
           (result.joules + power_model{}.idle_fraction * device.thermal_design_watts * (resting > 0 ? resting : 0));
}

}  // namespace llmcost
