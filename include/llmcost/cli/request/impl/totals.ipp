// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/totals.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE bool is_collinear(const metric_list& a, const metric_list& b, const metric_list& x, std::int64_t i,
                                 std::int64_t n) {
    for (std::size_t k = 0; k < x.size(); ++k) {
        for (const auto f : work_figures)
            if (!is_collinear(a[k].*f, b[k].*f, x[k].*f, i, n)) return false;
    }
    return true;
}

LLMCOST_INLINE void add_work(metric_list& sum, const metric_list& addend) {
    for (std::size_t k = 0; k < sum.size(); ++k)
        for (const auto f : work_figures) sum[k].*f += addend[k].*f;
}

LLMCOST_INLINE void add_caches(metric_list& sum, const metric_list& addend) {
    for (std::size_t k = 0; k < sum.size(); ++k)
        for (const auto f : cache_figures) sum[k].*f += addend[k].*f;
}

LLMCOST_INLINE void set_caches(metric_list& sum, const metric_list& last) {
    for (std::size_t k = 0; k < sum.size(); ++k)
        for (const auto f : cache_figures) sum[k].*f = last[k].*f;
}

/// The metrics without work and caches: only parameters and weights.
LLMCOST_INLINE metric_list cache_totals(metric_list r) {
    for (model_metrics& f : r) {
        for (const auto member : work_figures) f.*member = count{};
        for (const auto member : cache_figures) f.*member = count{};
    }
    return r;
}

LLMCOST_INLINE step_totals::step_totals(const repeated_step& s, const metric_function& compute_metrics)
    : load_(s.load), compute_metrics_(compute_metrics), first_(at(0)), sum_(cache_totals(first_)) {
    const std::int64_t last = s.steps - 1;
    if (last == 0) {
        add_work(sum_, first_);
        set_caches(sum_, first_);
        return;
    }
    const metric_list end = at(last);
    add(0, first_, last, end);
    set_caches(sum_, end);
}

LLMCOST_INLINE metric_list step_totals::at(std::int64_t step) {
    if (++num_evaluations_ > max_readings)
        throw error(errc::usage, "--output", "too many ranges in which the metrics are linear; use a smaller value");
    workload load = load_;
    load.past += step;
    return compute_metrics_(load);
}

LLMCOST_INLINE void step_totals::add(std::int64_t a, const metric_list& start, std::int64_t b, const metric_list& to) {
    const std::int64_t n = b - a;
    if (n < max_enumerated) {
        add_work(sum_, start);
        for (std::int64_t i = a + 1; i < b; ++i) add_work(sum_, at(i));
        add_work(sum_, to);
        return;
    }
    bool linear = true;
    for (const std::int64_t i : {std::int64_t{1}, n - 1, n / 2, n / 2 + 1, n * 2 / 7, n * 5 / 7})
        linear = linear && is_collinear(start, to, at(a + i), i, n);
    if (linear) {
        for (std::size_t k = 0; k < sum_.size(); ++k)
            for (const auto f : work_figures) sum_[k].*f += (start[k].*f + to[k].*f) * count(n + 1) / count(2);
        return;
    }
    const std::int64_t middle = a + n / 2;
    add(a, start, middle, at(middle));
    add(middle + 1, at(middle + 1), b, to);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE metric_list sum_of(const workload_phase& p, const metric_function& compute_metrics,
                                  const metric_list& previous) {
    if (p.parts.empty()) {
        metric_list unchanged = detail::cache_totals(previous);
        detail::set_caches(unchanged, previous);
        return unchanged;
    }
    metric_list sum;
    for (const repeated_step& s : p.parts) {
        const metric_list r = detail::step_totals(s, compute_metrics).sum();
        if (sum.empty()) {
            sum = r;
            continue;
        }
        detail::add_work(sum, r);
        p.is_sequential ? detail::set_caches(sum, r) : detail::add_caches(sum, r);
    }
    return sum;
}

LLMCOST_INLINE workload_totals compute_phases(std::vector<workload_phase> phases,
                                              const metric_function& compute_metrics) {
    workload_totals out;
    for (const workload_phase& p : phases) {
        out.phase_metrics.push_back(sum_of(p, compute_metrics, out.total));
        const metric_list& last = out.phase_metrics.back();
        if (out.total.empty()) {
            out.total = last;
            continue;
        }
        detail::add_work(out.total, last);
        detail::set_caches(out.total, last);
    }
    out.phases = std::move(phases);
    return out;
}

}  // namespace llmcost::cli
