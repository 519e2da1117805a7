// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/simulation/random_stream.hpp>
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
[[nodiscard]] inline std::vector<simulated_request> generate_requests(const synthetic_workload& load) {
    random_stream random(load.seed);
    std::vector<simulated_request> all;
    all.reserve(static_cast<std::size_t>(load.num_requests));
    double now = 0;
    const auto drawn = [&](length_range r) { return random.integer(r.low, r.high); };
    for (std::uint64_t conversation = 0; static_cast<std::int64_t>(all.size()) < load.num_requests; ++conversation) {
        std::int64_t context_tokens = 0;
        for (std::int64_t turn = 0;
             turn < load.turns_per_conversation && static_cast<std::int64_t>(all.size()) < load.num_requests; ++turn) {
            simulated_request r{.input_tokens = context_tokens + drawn(load.input),
                                .output_tokens = drawn(load.output)};
            r.arrival_seconds = turn > 0 ? load.pause_seconds : now;
            r.cached_fraction = load.prefix_hit_rate;
            if (turn > 0) r.previous_request = all.size() - 1;
            if (load.turns_per_conversation > 1)
                for (std::int64_t b = 0; b < r.input_tokens / load.prefix_block_tokens; ++b)
                    r.prefix_blocks.push_back((conversation + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(b));
            context_tokens = r.input_tokens + r.output_tokens;
            all.push_back(std::move(r));
        }
        if (load.request_rate > 0) now += random.gamma(load.burstiness) / load.request_rate;
    }
    return all;
}

}  // namespace llmcost
