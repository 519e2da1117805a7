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
    std::int64_t input_tokens = 1;   ///< tokens of its prompt
    std::int64_t output_tokens = 1;  ///< tokens that are written for it
    /// Seconds from the beginning, or after the request `after` was answered; of a client that sends one after the
    /// other nothing.
    double arrival_seconds = 0;
    std::size_t previous_request =
        no_request;  ///< the request whose answer it waits for: the turn before in a conversation
    std::vector<std::uint64_t>
        prefix_blocks{};         ///< names of its prompt's whole blocks: those of one name hold, and follow, the same
    double cached_fraction = 0;  ///< share of its prompt that is in the cache whatever else happens

    static constexpr std::size_t no_request = std::numeric_limits<std::size_t>::max();
};

/// What became of a request; seconds from the beginning.
struct request_record {
    double sent_seconds = 0;         ///< by its client
    double queued_seconds = 0;       ///< in the engine, its host time before that over
    double scheduled_seconds = 0;    ///< the first step that computes any of it begins
    double first_token_seconds = 0;  ///< its first token is at the client
    double last_token_seconds = 0;   ///< and its last one
    std::int64_t input = 0, output = 0;
    std::int64_t num_cached_tokens = 0;  ///< tokens of its prompt that were found in the cache
    std::int64_t num_preemptions = 0;    ///< times that it gave its cache away and was computed again
    std::size_t replica = 0;             ///< that answered it

    [[nodiscard]] double time_to_first_token() const noexcept { return first_token_seconds - sent_seconds; }
    [[nodiscard]] double end_to_end_latency() const noexcept { return last_token_seconds - sent_seconds; }
    /// Of an answer of one token none.
    [[nodiscard]] double time_per_output_token() const noexcept {
        return output > 1 ? (last_token_seconds - first_token_seconds) / static_cast<double>(output - 1) : 0;
    }
};

/// Bounds that a request keeps to; 0: none. Times are longer by what measured runs may take.
struct request_slo {
    double ttft = 0, tpot = 0, end_to_end = 0;
    double ttft_safety_factor = 1, tpot_safety_factor = 1;

    [[nodiscard]] bool is_set() const noexcept { return ttft > 0 || tpot > 0 || end_to_end > 0; }
    /// Whether its first token comes in time.
    [[nodiscard]] bool meets_ttft(const request_record& r) const noexcept {
        return ttft == 0 || ttft_safety_factor * r.time_to_first_token() <= ttft;
    }
    [[nodiscard]] bool is_met_by(const request_record& r) const noexcept {
        const double first = ttft_safety_factor * r.time_to_first_token();
        return meets_ttft(r) && (tpot == 0 || tpot_safety_factor * r.time_per_output_token() <= tpot) &&
               (end_to_end == 0 ||
                first + tpot_safety_factor * (r.last_token_seconds - r.first_token_seconds) <= end_to_end);
    }
};

}  // namespace llmcost
