// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <llmcost/simulation/request.hpp>

namespace llmcost {

/// A uniform distribution of lengths, in tokens.
struct length_range {
    std::int64_t low = 1024, high = 1024;
};

/// A synthetic workload.
struct synthetic_workload {
    length_range input{};   ///< tokens of a prompt, or new tokens of each turn of a conversation
    length_range output{};  ///< output tokens
    std::int64_t num_requests = 1000;
    double request_rate = 0;     ///< conversations per second; 0: all at once, or by clients
    double burstiness = 1;       ///< shape of the gamma-distributed gaps: 1 Poisson, below 1 bursty, above 1 regular
    double prefix_hit_rate = 0;  ///< fraction of each prompt that is always in the cache
    std::int64_t turns_per_conversation = 1;  ///< each prompt contains all previous turns of its conversation
    double pause_seconds = 0;                 ///< from an answer to the next turn
    std::int64_t prefix_block_tokens = 16;    ///< tokens per prefix block
    std::uint64_t seed = 1;
};

/// Generates the requests of a workload in the order of their arrival. Deterministic for a seed.
[[nodiscard]] std::vector<simulated_request> generate_requests(const synthetic_workload& load);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/synthetic_workload.ipp>  // IWYU pragma: export
#endif
