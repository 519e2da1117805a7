// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/text/error.hpp>

// Metrics of workloads with several forward passes.
namespace llmcost::cli {

/// The metrics of scopes, in a fixed order.
using metric_list = std::vector<model_metrics>;

/// Computes the metrics of one forward pass.
using metric_function = std::function<metric_list(const workload&)>;

namespace detail {

/// The metrics that are summed over forward passes, in contrast to parameters and caches.
inline constexpr std::array<count model_metrics::*, 18> work_figures{
    &model_metrics::add,
    &model_metrics::mult,
    &model_metrics::div,
    &model_metrics::sqrt,
    &model_metrics::exp,
    &model_metrics::log,
    &model_metrics::tanh,
    &model_metrics::erf,
    &model_metrics::trig,
    &model_metrics::pow,
    &model_metrics::neg,
    &model_metrics::cmp,
    &model_metrics::module_output_elements,
    &model_metrics::written_elements,
    &model_metrics::torch_flops,
    &model_metrics::unrouted_flops,
    &model_metrics::encoder_cache_elements,
    &model_metrics::encoder_cache_bytes,
};
inline constexpr std::array<count model_metrics::*, 2> cache_figures{&model_metrics::cache_elements,
                                                                     &model_metrics::cache_bytes};
/// The metrics that are not summed: parameters, weights and the KV cache.
inline constexpr std::array<count model_metrics::*, 5> state_figures{
    &model_metrics::params, &model_metrics::active_params, &model_metrics::weight_bytes, &model_metrics::cache_elements,
    &model_metrics::cache_bytes};
static_assert(sizeof(model_metrics) ==
                  (work_figures.size() + state_figures.size() + 2 + num_primitives) * sizeof(count),
              "new metric: add it to work_figures if it is summed; parameters, weights and training metrics are not");

/// Whether `x`, at step `i` of `n` from `a` to `b`, lies on the line from `a` to `b`.
constexpr bool is_collinear(count a, count b, count x, std::int64_t i, std::int64_t n) {
    const bool is_decreasing = b < a;
    const count height = is_decreasing ? a - b : b - a;
    if ((is_decreasing ? x > a || a - x > height : x < a || x - a > height)) return false;
    return (is_decreasing ? a - x : x - a) * count(n) == height * count(i);
}

inline bool is_collinear(const metric_list& a, const metric_list& b, const metric_list& x, std::int64_t i,
                         std::int64_t n) {
    for (std::size_t k = 0; k < x.size(); ++k) {
        for (const auto f : work_figures)
            if (!is_collinear(a[k].*f, b[k].*f, x[k].*f, i, n)) return false;
    }
    return true;
}

inline void add_work(metric_list& sum, const metric_list& addend) {
    for (std::size_t k = 0; k < sum.size(); ++k)
        for (const auto f : work_figures) sum[k].*f += addend[k].*f;
}
inline void add_caches(metric_list& sum, const metric_list& addend) {
    for (std::size_t k = 0; k < sum.size(); ++k)
        for (const auto f : cache_figures) sum[k].*f += addend[k].*f;
}
inline void set_caches(metric_list& sum, const metric_list& last) {
    for (std::size_t k = 0; k < sum.size(); ++k)
        for (const auto f : cache_figures) sum[k].*f = last[k].*f;
}
/// The metrics without work and caches: only parameters and weights.
inline metric_list cache_totals(metric_list r) {
    for (model_metrics& f : r) {
        for (const auto member : work_figures) f.*member = count{};
        for (const auto member : cache_figures) f.*member = count{};
    }
    return r;
}

/// Sums the metrics of consecutive steps; the sum of a linear range follows from its ends.
class step_totals {
public:
    step_totals(const repeated_step& s, const metric_function& compute_metrics)
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
    [[nodiscard]] const metric_list& sum() const noexcept { return sum_; }

private:
    static constexpr std::int64_t max_readings = 100'000;
    static constexpr std::int64_t max_enumerated = 12;  ///< shorter ranges are computed step by step

    metric_list at(std::int64_t step) {
        if (++readings_ > max_readings)
            throw error(errc::usage, "--output",
                        "the cost of this model changes too often over this many tokens; use a smaller value");
        workload load = load_;
        load.past += step;
        return compute_metrics_(load);
    }
    /// Adds steps a to b, whose metrics are known. A range that is not linear is halved: a bend changes the slope at an
    /// end, or a point inside leaves the line.
    void add(std::int64_t a, const metric_list& start, std::int64_t b, const metric_list& to) {
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

    workload load_;
    const metric_function& compute_metrics_;
    std::int64_t readings_ = 0;
    metric_list first_;
    metric_list sum_;
};

}  // namespace detail

/// The metrics of a phase: the sum of the work of its parts, parameters once, and the cache at its end.
///
/// `previous` is the result of the previous phase; a phase without steps returns its parameters and cache.
[[nodiscard]] inline metric_list sum_of(const workload_phase& p, const metric_function& compute_metrics,
                                        const metric_list& previous = {}) {
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

/// The metrics of a workload: by phase, and in total.
struct workload_totals {
    std::vector<workload_phase> phases;
    std::vector<metric_list> by_phase;
    metric_list total;
};

/// Computes the metrics of all phases of a workload.
[[nodiscard]] inline workload_totals compute_phases(std::vector<workload_phase> phases,
                                                    const metric_function& compute_metrics) {
    workload_totals out;
    for (const workload_phase& p : phases) {
        out.by_phase.push_back(sum_of(p, compute_metrics, out.total));
        const metric_list& last = out.by_phase.back();
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
