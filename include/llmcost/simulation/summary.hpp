// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/replica.hpp>
#include <llmcost/simulation/request.hpp>

namespace llmcost {

/// Mean and percentiles of a distribution.
struct distribution {
    double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};

namespace detail {

/// The weighted distribution of `values`; zeros if there are none.
[[nodiscard]] distribution compute_distribution(std::vector<token_gap> values);

}  // namespace detail

/// Metrics of a simulation.
struct simulation_summary {
    distribution ttft{};        ///< s, time to first token
    distribution tpot{};        ///< s, time per output token after the first, by request
    distribution itl{};         ///< s, inter-token latency, of all tokens
    distribution end_to_end{};  ///< s, end-to-end latency
    double seconds = 0;         ///< from the first request to the last token
    double requests_per_second = 0, output_tokens_per_second = 0, input_tokens_per_second = 0;
    double goodput = 0;           ///< requests per second that meet the SLO
    double slo_attainment = 0;    ///< fraction of requests that meet the SLO
    double prefix_hit_rate = 0;   ///< fraction of prompt tokens found in the prefix cache
    double loaded_share = 0;      ///< fraction of prompt tokens loaded from lower tiers, a part of `prefix_hit_rate`
    double mean_concurrency = 0;  ///< mean number of requests in the system
    std::int64_t requests = 0, input_tokens = 0, output_tokens = 0, num_preemptions = 0;
};

/// Summarizes all requests after the first `warm_up`.
[[nodiscard]] simulation_summary summarize(const simulation_result& result, const request_slo& bounds = {},
                                           std::size_t warm_up = 0);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/summary.ipp>  // IWYU pragma: export
#endif
