// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace llmcost {

/// A request that a client will send.
struct simulated_request {
    std::int64_t input = 1;   ///< tokens of its prompt
    std::int64_t output = 1;  ///< tokens that are written for it
    /// Seconds from the beginning, or after the request `after` was answered; of a client that sends one after the other
    /// nothing.
    double at = 0;
    std::size_t after = nobody;          ///< the request whose answer it waits for: the turn before in a conversation
    std::vector<std::uint64_t> blocks{};  ///< names of its prompt's whole blocks: those of one name hold, and follow, the same
    double cached = 0;                   ///< share of its prompt that is in the cache whatever else happens

    static constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();
};

/// What became of a request; seconds from the beginning.
struct request_record {
    double sent = 0;       ///< by its client
    double queued = 0;     ///< in the engine, its host time before that over
    double scheduled = 0;  ///< the first step that computes any of it begins
    double first = 0;      ///< its first token is at the client
    double last = 0;       ///< and its last one
    std::int64_t input = 0, output = 0;
    std::int64_t cached = 0;        ///< tokens of its prompt that were found in the cache
    std::int64_t preempted = 0;     ///< times that it gave its cache away and was computed again
    std::size_t replica = 0;        ///< that answered it

    [[nodiscard]] double time_to_first_token() const noexcept { return first - sent; }
    [[nodiscard]] double end_to_end() const noexcept { return last - sent; }
    /// Of an answer of one token none.
    [[nodiscard]] double time_per_output_token() const noexcept {
        return output > 1 ? (last - first) / static_cast<double>(output - 1) : 0;
    }
};

/// Bounds that a request keeps to; 0: none. Times are longer by what measured runs may take.
struct request_bounds {
    double ttft = 0, tpot = 0, end_to_end = 0;
    double ttft_longer = 1, tpot_longer = 1;

    [[nodiscard]] bool any() const noexcept { return ttft > 0 || tpot > 0 || end_to_end > 0; }
    /// Whether its first token comes in time.
    [[nodiscard]] bool begins_in_time(const request_record& r) const noexcept {
        return ttft == 0 || ttft_longer * r.time_to_first_token() <= ttft;
    }
    [[nodiscard]] bool holds(const request_record& r) const noexcept {
        const double first = ttft_longer * r.time_to_first_token();
        return begins_in_time(r) && (tpot == 0 || tpot_longer * r.time_per_output_token() <= tpot) &&
               (end_to_end == 0 || first + tpot_longer * (r.last - r.first) <= end_to_end);
    }
};

}  // namespace llmcost
