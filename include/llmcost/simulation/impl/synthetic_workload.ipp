// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/synthetic_workload.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/simulation/random_stream.hpp>
#include <llmcost/simulation/request.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<simulated_request> generate_requests(const synthetic_workload& load) {
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
            const std::int64_t num_prompt_blocks = r.input_tokens / load.prefix_block_tokens;
            const std::int64_t num_blocks = (r.input_tokens + r.output_tokens - 1) / load.prefix_block_tokens;
            for (std::int64_t b = 0; load.turns_per_conversation > 1 && b < num_blocks; ++b)
                (b < num_prompt_blocks ? r.prefix_blocks : r.output_blocks)
                    .push_back((conversation + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(b));
            context_tokens = r.input_tokens + r.output_tokens;
            all.push_back(std::move(r));
        }
        if (load.request_rate > 0) now += random.gamma(load.burstiness) / load.request_rate;
    }
    return all;
}

}  // namespace llmcost
