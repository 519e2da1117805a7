// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/trace/ops.hpp>

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

/// Sums the metrics of consecutive steps; the sum of a linear range follows from its ends.
class step_totals {
public:
    step_totals(const repeated_step& s, const metric_function& compute_metrics);
    [[nodiscard]] const metric_list& sum() const noexcept { return sum_; }

private:
    static constexpr std::int64_t max_readings = 100'000;
    static constexpr std::int64_t max_enumerated = 12;  ///< shorter ranges are computed step by step

    metric_list at(std::int64_t step);
    /// Adds steps a to b, whose metrics are known. A range that is not linear is halved: a bend changes the slope at an
    /// end, or a point inside leaves the line.
    void add(std::int64_t a, const metric_list& start, std::int64_t b, const metric_list& to);

    workload load_;
    const metric_function& compute_metrics_;
    std::int64_t num_evaluations_ = 0;
    metric_list first_;
    metric_list sum_;
};

}  // namespace detail

/// The metrics of a phase: the sum of the work of its parts, parameters once, and the cache at its end.
///
/// `previous` is the result of the previous phase; a phase without steps returns its parameters and cache.
[[nodiscard]] metric_list sum_of(const workload_phase& p, const metric_function& compute_metrics,
                                 const metric_list& previous = {});

/// The metrics of a workload: by phase, and in total.
struct workload_totals {
    std::vector<workload_phase> phases;
    std::vector<metric_list> phase_metrics;
    metric_list total;
};

/// Computes the metrics of all phases of a workload.
[[nodiscard]] workload_totals compute_phases(std::vector<workload_phase> phases,
                                             const metric_function& compute_metrics);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/totals.ipp>  // IWYU pragma: export
#endif
