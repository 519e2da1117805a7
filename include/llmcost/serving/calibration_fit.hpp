// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/server.hpp>

// Fits the constants of an engine to measured loads.
namespace llmcost {

/// Seconds and requests of a load, measured or predicted; 0: not measured.
struct load_measurements {
    double ttft_seconds = 0;
    double tpot_seconds = 0;
    double batch_seconds = 0;      ///< of a static batch, from its first prefill to its last token
    double tokens_per_second = 0;  ///< output tokens of all requests
};

/// A measured load with the kernel times that its prediction consists of.
struct measured_load {
    std::string name;  ///< file and place, for reports
    serving_load load{};
    bool is_static_batch = false;  ///< all requests begin together, and no server takes part
    double request_rate = 0;       ///< arrivals per second, if requests arrive independently; 0: clients
    bool has_routed_experts = false;
    load_kernels kernels{};  ///< with all factors 1; `prefill` of a static batch: of all of its requests
    std::array<double, kernel_class_count> prefill_seconds{}, decode_seconds{};  ///< by class, parts of `kernels`
    load_measurements measured{};
};

/// Prediction of a load in closed form (`server::times`), with an engine's constants.
///
/// A static batch runs one prefill and `output - 1` decode steps, without the host times of requests:
/// `batch = s * t_prefill + a + (output - 1) * (s * t_decode + a + c * b)`.
[[nodiscard]] load_measurements predict(const engine& shipped, const constant_values& values, const measured_load& row);

/// Sets the kernel times of a row: `evaluate(factors, row)` sets `kernels` with these factors.
///
/// Times are linear in the factors, so that the time of a class is the increase if its factor is 2.
void measure_kernel_classes(measured_load& row,
                            const std::function<load_kernels(const kernel_time_factors&)>& evaluate);

/// The distance of a constant from its shipped value, in widths of its prior.
[[nodiscard]] double prior_distance(std::size_t index, double value, double shipped);

/// The constants that fit the rows best: least squares of logarithms with the priors of `calibrated_constants`.
///
/// Minimizes `sum log(1 + (log(predicted / measured) / soft)^2) + sum (distance / prior_scale)^2` over rows and
/// metrics, and over constants. `soft` is 5 %, as for the closed form in bench/fit_engines.cpp. Rows that are several
/// times as far off have ever less weight (Cauchy). Throughput counts only if no time per token is measured. Method:
/// Levenberg-Marquardt with bounds at 0.
[[nodiscard]] constant_values fit_constants(const engine& shipped, const std::vector<const measured_load*>& rows,
                                            double prior_scale = 1);

/// log2(measured / predicted) of rows.
struct log_errors {
    std::vector<double> ttft, tpot;  ///< `tpot` includes static batches and throughput

    void add(const load_measurements& predicted, const load_measurements& measured);
};

/// Constants that were fitted without some rows.
struct held_out_fit {
    std::vector<std::size_t> rows;
    constant_values constants{};
};

/// Factors of the widths of the priors, from which a cross-validation chooses; the first is preferred.
inline constexpr std::array<double, 4> prior_scales{1, 0.5, 0.25, 2};

/// Fits that leave out each row once: a single row up to 20 rows, otherwise a fifth.
struct cross_validation {
    double prior_scale = 1;  ///< the one of `prior_scales` with the smallest loss of rows that were left out
    std::vector<held_out_fit> fits{};
    log_errors errors{};  ///< of rows with constants that were fitted without them
};
[[nodiscard]] cross_validation cross_validate(const engine& shipped, const std::vector<measured_load>& rows);

/// Median of |predicted / measured - 1|; 0 without errors.
[[nodiscard]] double median_error(const std::vector<double>& log_errors);

/// The interval of held-out errors: the distance from 0 of nine in ten, averaged with the shipped interval, which
/// counts as `prior_rows` rows.
[[nodiscard]] held_out_error held_out_error_of(const std::vector<double>& log_errors, const relative_interval& shipped);

inline constexpr double prior_rows = 4;  ///< fewer rows than this tell less than the runs of other models

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/calibration_fit.ipp>  // IWYU pragma: export
#endif
