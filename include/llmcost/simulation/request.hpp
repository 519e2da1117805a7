// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace llmcost {

/// A request of a workload.
struct simulated_request {
    std::int64_t input_tokens = 1;  ///< prompt tokens
    std::int64_t output_tokens = 1;
    /// Seconds from the beginning, or after the completion of `previous_request`. Ignored for requests of a client.
    double arrival_seconds = 0;
    std::size_t previous_request = no_request;  ///< in a conversation, the request whose completion this one waits for
    std::vector<std::uint64_t>
        prefix_blocks{};  ///< ids of the full prompt blocks; equal ids: equal tokens, also before them
    std::vector<std::uint64_t> output_blocks{};  ///< ids of the full blocks after them, which the output completes
    double cached_fraction = 0;                  ///< fraction of the prompt that is always in the cache

    static constexpr std::size_t no_request = std::numeric_limits<std::size_t>::max();
};

/// The times of a request, in seconds from the beginning.
struct request_record {
    double sent_seconds = 0;         ///< the client sends it
    double queued_seconds = 0;       ///< it enters the waiting queue, after the host time
    double scheduled_seconds = 0;    ///< its first step begins
    double first_token_seconds = 0;  ///< the client receives its first token
    double last_token_seconds = 0;   ///< the client receives its last token
    std::int64_t input = 0, output = 0;
    std::int64_t num_cached_tokens = 0;  ///< prompt tokens found in the prefix cache
    std::int64_t num_loaded_tokens = 0;  ///< those of them that were loaded from lower tiers
    std::int64_t num_preemptions = 0;    ///< each recomputes the request from its prompt
    std::size_t replica = 0;             ///< replica that ran the prefill

    [[nodiscard]] double time_to_first_token() const noexcept { return first_token_seconds - sent_seconds; }
    [[nodiscard]] double end_to_end_latency() const noexcept { return last_token_seconds - sent_seconds; }
    /// Mean time per output token after the first; 0 for a single output token.
    [[nodiscard]] double time_per_output_token() const noexcept {
        return output > 1 ? (last_token_seconds - first_token_seconds) / static_cast<double>(output - 1) : 0;
    }
};

/// Latency targets of a request, in seconds; 0: none. Safety factors multiply the predicted times.
struct request_slo {
    double ttft = 0, tpot = 0, end_to_end = 0;
    double ttft_safety_factor = 1, tpot_safety_factor = 1;

    [[nodiscard]] bool is_set() const noexcept { return ttft > 0 || tpot > 0 || end_to_end > 0; }
    /// Whether TTFT meets its target.
    [[nodiscard]] bool meets_ttft(const request_record& r) const noexcept {
        return ttft == 0 || ttft_safety_factor * r.time_to_first_token() <= ttft;
    }
    /// The end-to-end latency with the safety factors.
    [[nodiscard]] double end_to_end_at_quantile(const request_record& r) const noexcept {
        return ttft_safety_factor * r.time_to_first_token() +
               tpot_safety_factor * (r.last_token_seconds - r.first_token_seconds);
    }
    [[nodiscard]] bool is_met_by(const request_record& r) const noexcept;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/request.ipp>  // IWYU pragma: export
#endif
