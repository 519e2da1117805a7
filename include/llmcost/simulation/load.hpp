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

/// Lengths, each from `low` to `high` as likely as the others.
struct length_range {
    std::int64_t low = 1024, high = 1024;
};

/// Requests that nobody recorded.
struct simulated_load {
    length_range input{};   ///< tokens of a prompt, or of what each turn of a conversation adds
    length_range output{};  ///< tokens written for it
    std::int64_t requests = 1000;
    double rate = 0;        ///< conversations that begin in a second; 0: all at once, or as clients send them
    double burstiness = 1;  ///< shape of the gamma distribution of gaps between them: 1 Poisson, less in bursts, more evenly
    double cached = 0;      ///< share of each prompt that is in the cache before
    std::int64_t turns = 1;  ///< of a conversation: the prompt of each is all that was said before and what is new
    double pause = 0;       ///< seconds between an answer and the next turn
    std::int64_t block = 16;  ///< tokens of a block that turns share
    std::uint64_t seed = 1;
};

/// The requests of a load, in the order in which they begin; the same ones for the same seed.
[[nodiscard]] inline std::vector<simulated_request> requests_of(const simulated_load& load) {
    random_stream random(load.seed);
    std::vector<simulated_request> all;
    all.reserve(static_cast<std::size_t>(load.requests));
    double now = 0;
    const auto drawn = [&](length_range r) { return random.integer(r.low, r.high); };
    for (std::uint64_t conversation = 0; static_cast<std::int64_t>(all.size()) < load.requests; ++conversation) {
        std::int64_t said = 0;
        for (std::int64_t turn = 0; turn < load.turns && static_cast<std::int64_t>(all.size()) < load.requests; ++turn) {
            simulated_request r{.input = said + drawn(load.input), .output = drawn(load.output)};
            r.at = turn > 0 ? load.pause : now, r.cached = load.cached;
            if (turn > 0) r.after = all.size() - 1;
            if (load.turns > 1)
                for (std::int64_t b = 0; b < r.input / load.block; ++b)
                    r.blocks.push_back((conversation + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(b));
            said = r.input + r.output;
            all.push_back(std::move(r));
        }
        if (load.rate > 0) now += random.gamma(load.burstiness) / load.rate;
    }
    return all;
}

}  // namespace llmcost
