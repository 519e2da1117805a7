// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/summary.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/replica.hpp>
#include <llmcost/simulation/request.hpp>

namespace llmcost::detail {

LLMCOST_INLINE distribution compute_distribution(std::vector<token_gap> values) {
    distribution d;
    double all = 0;
    for (const token_gap& v : values) {
        all += v.num_gaps;
        d.mean += v.seconds * v.num_gaps;
    }
    if (all == 0) return {};
    d.mean /= all;
    std::sort(values.begin(), values.end(),
              [](const token_gap& a, const token_gap& b) { return a.seconds < b.seconds; });
    struct wanted {
        double share;
        double* to;
    };
    const wanted shares[]{{0.5, &d.p50}, {0.9, &d.p90}, {0.95, &d.p95}, {0.99, &d.p99}, {1, &d.max}};
    std::size_t next = 0;
    double so_far = 0;
    for (const token_gap& v : values)
        for (so_far += v.num_gaps; next < 5 && so_far >= shares[next].share * all * (1 - 1e-12); ++next)
            *shares[next].to = v.seconds;
    for (; next < 5; ++next) *shares[next].to = values.back().seconds;
    return d;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE simulation_summary summarize(const simulation_result& result, const request_slo& bounds,
                                            std::size_t warm_up) {
    simulation_summary s;
    std::vector<token_gap> ttft, tpot, end_to_end;
    double begin = INFINITY, cached = 0, loaded = 0, good = 0, in_system = 0;
    for (std::size_t i = warm_up; i < result.requests.size(); ++i) {
        const request_record& r = result.requests[i];
        ttft.push_back({r.time_to_first_token(), 1});
        end_to_end.push_back({r.end_to_end_latency(), 1});
        if (r.output > 1) tpot.push_back({r.time_per_output_token(), 1});
        begin = std::min(begin, r.sent_seconds);
        s.seconds = std::max(s.seconds, r.last_token_seconds);
        s.input_tokens += r.input;
        s.output_tokens += r.output;
        s.num_preemptions += r.num_preemptions;
        cached += static_cast<double>(r.num_cached_tokens);
        loaded += static_cast<double>(r.num_loaded_tokens);
        good += bounds.is_met_by(r) ? 1 : 0;
        in_system += r.end_to_end_latency();
    }
    s.requests = static_cast<std::int64_t>(ttft.size());
    if (s.requests == 0) return s;
    s.seconds -= begin;
    s.ttft = detail::compute_distribution(std::move(ttft));
    s.tpot = detail::compute_distribution(std::move(tpot));
    s.end_to_end = detail::compute_distribution(std::move(end_to_end));
    s.itl = detail::compute_distribution(result.gaps);
    const auto num_requests = static_cast<double>(s.requests);
    s.requests_per_second = num_requests / s.seconds;
    s.goodput = good / s.seconds;
    s.slo_attainment = good / num_requests;
    s.output_tokens_per_second = static_cast<double>(s.output_tokens) / s.seconds;
    s.input_tokens_per_second = static_cast<double>(s.input_tokens) / s.seconds;
    s.prefix_hit_rate = s.input_tokens > 0 ? cached / static_cast<double>(s.input_tokens) : 0;
    s.loaded_share = s.input_tokens > 0 ? loaded / static_cast<double>(s.input_tokens) : 0;
    s.mean_concurrency = in_system / s.seconds;
    return s;
}

}  // namespace llmcost
