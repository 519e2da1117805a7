// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/calibration_fit.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/server.hpp>

namespace llmcost {

LLMCOST_INLINE load_measurements predict(const engine& shipped, const constant_values& values,
                                         const measured_load& row) {
    const engine e = with_constants(shipped, values);
    const kernel_time_factors factors = factors_of(values);
    load_kernels k = row.kernels;
    for (std::size_t i = 0; i < kernel_class_count; ++i) {
        k.prefill.seconds += (factors.values[i] - 1) * row.prefill_seconds[i];
        k.decode.seconds += (factors.values[i] - 1) * row.decode_seconds[i];
    }
    k.prefill.seconds *= factors.prefill;
    const auto output = static_cast<double>(row.load.output_tokens);
    load_measurements predicted;
    if (row.is_static_batch) {
        const double step = e.kernel_time_factor * k.decode.seconds + e.host_seconds_per_step +
                            e.host_seconds_per_sequence * k.num_running_per_rank;
        predicted.ttft_seconds = e.kernel_time_factor * k.prefill.seconds + e.host_seconds_per_step;
        predicted.tpot_seconds = step / k.tokens_per_step;
        predicted.batch_seconds = predicted.ttft_seconds + (output - 1) * predicted.tpot_seconds;
        predicted.tokens_per_second = k.num_running * output / predicted.batch_seconds;
        return predicted;
    }
    const load_times t = server::times(e, row.load, k);
    predicted.ttft_seconds = t.ttft_seconds;
    predicted.tpot_seconds = t.tpot_seconds;
    predicted.tokens_per_second = k.num_running * k.tokens_per_step / t.step_seconds;
    return predicted;
}

LLMCOST_INLINE void measure_kernel_classes(measured_load& row,
                                           const std::function<load_kernels(const kernel_time_factors&)>& evaluate) {
    row.kernels = evaluate({});
    for (std::size_t i = 0; i < kernel_class_count; ++i) {
        kernel_time_factors twice;
        twice.values[i] = 2;
        const load_kernels k = evaluate(twice);
        row.prefill_seconds[i] = k.prefill.seconds - row.kernels.prefill.seconds;
        row.decode_seconds[i] = k.decode.seconds - row.kernels.decode.seconds;
    }
}

}  // namespace llmcost

namespace llmcost::detail {

inline constexpr double soft = 0.05;  ///< errors of this size and below have full weight

/// The parameters of a fit: distances from the shipped values, bounded so that no constant is negative.
struct fit_problem {
    const engine* shipped;
    const std::vector<const measured_load*>* rows;
    double prior_scale;
    constant_values start{};

    [[nodiscard]] constant_values values_at(const constant_values& distances) const {
        constant_values values{};
        for (std::size_t i = 0; i < values.size(); ++i) {
            const calibrated_constant& c = calibrated_constants[i];
            values[i] = c.is_logarithmic ? start[i] * std::exp(c.width * distances[i])
                                         : std::max(0.0, start[i] + c.width * distances[i]);
        }
        return values;
    }
    [[nodiscard]] double lower_bound(std::size_t i) const {
        return calibrated_constants[i].is_logarithmic ? -INFINITY : -start[i] / calibrated_constants[i].width;
    }
    /// Logarithms of predicted over measured, in units of `soft`.
    void residuals(const constant_values& distances, std::vector<double>& out) const {
        out.clear();
        const constant_values values = values_at(distances);
        for (const measured_load* row : *rows) {
            const load_measurements p = predict(*shipped, values, *row);
            const load_measurements& m = row->measured;
            const auto add = [&](double predicted, double measured) {
                if (measured > 0) out.push_back(std::log(predicted / measured) / soft);
            };
            add(p.tpot_seconds, m.tpot_seconds);
            add(p.ttft_seconds, m.ttft_seconds);
            add(p.batch_seconds, m.batch_seconds);
            if (m.tpot_seconds == 0 && m.batch_seconds == 0)  // otherwise it follows from the two times
                add(p.tokens_per_second, m.tokens_per_second);
        }
    }
    [[nodiscard]] double cost(const std::vector<double>& residuals, const constant_values& distances) const {
        double sum = 0;
        for (const double r : residuals) sum += std::log1p(r * r);
        for (const double d : distances) sum += d * d / (prior_scale * prior_scale);
        return sum;
    }
};

/// Solves `a x = b` for a symmetric positive definite matrix by Cholesky's decomposition, which replaces `a`.
template <std::size_t n>
void solve_positive_definite(std::array<std::array<double, n>, n>& a, std::array<double, n>& b) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a[i][j];
            for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
        }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE double prior_distance(std::size_t index, double value, double shipped) {
    const calibrated_constant& c = calibrated_constants[index];
    return (c.is_logarithmic ? std::log(value / shipped) : value - shipped) / c.width;
}

LLMCOST_INLINE constant_values fit_constants(const engine& shipped, const std::vector<const measured_load*>& rows,
                                             double prior_scale) {
    constexpr std::size_t n = calibrated_constant_count;
    constexpr double difference = 1e-4;  // of a prior's width
    const detail::fit_problem problem{&shipped, &rows, prior_scale, shipped_constants(shipped)};
    constant_values best{};
    std::vector<double> residuals, shifted;
    problem.residuals(best, residuals);
    double minimum = problem.cost(residuals, best), damping = 1e-3;
    for (int step = 0; step < 100 && damping < 1e9; ++step) {
        std::vector<std::array<double, n>> jacobian(residuals.size());
        for (std::size_t i = 0; i < n; ++i) {
            constant_values moved = best;
            moved[i] += difference;
            problem.residuals(moved, shifted);
            for (std::size_t r = 0; r < residuals.size(); ++r)
                jacobian[r][i] = (shifted[r] - residuals[r]) / difference;
        }
        std::array<std::array<double, n>, n> normal{};
        std::array<double, n> gradient{};
        for (std::size_t i = 0; i < n; ++i) {
            normal[i][i] = 1 / (prior_scale * prior_scale);
            gradient[i] = best[i] / (prior_scale * prior_scale);
        }
        for (std::size_t r = 0; r < residuals.size(); ++r) {
            const double weight = 1 / (1 + residuals[r] * residuals[r]);
            for (std::size_t i = 0; i < n; ++i) {
                gradient[i] += weight * jacobian[r][i] * residuals[r];
                for (std::size_t k = 0; k < n; ++k) normal[i][k] += weight * jacobian[r][i] * jacobian[r][k];
            }
        }
        std::array<bool, n> is_fixed{};  // at 0, and the cost falls only below it
        for (std::size_t i = 0; i < n; ++i) is_fixed[i] = best[i] <= problem.lower_bound(i) && gradient[i] > 0;
        bool is_better = false;
        double decrease = 0;
        for (; !is_better && damping < 1e9; damping *= 10) {
            auto matrix = normal;
            std::array<double, n> move{};
            for (std::size_t i = 0; i < n; ++i) {
                matrix[i][i] *= 1 + damping;
                move[i] = is_fixed[i] ? 0 : -gradient[i];
                for (std::size_t k = 0; k < n; ++k)
                    if (i != k && (is_fixed[i] || is_fixed[k])) matrix[i][k] = 0;
            }
            detail::solve_positive_definite(matrix, move);
            constant_values next = best;
            for (std::size_t i = 0; i < n; ++i)
                next[i] = std::max(problem.lower_bound(i), best[i] + std::clamp(move[i], -1.0, 1.0));
            problem.residuals(next, shifted);
            const double cost = problem.cost(shifted, next);
            if (!(cost < minimum)) continue;
            is_better = true;
            decrease = minimum - cost;
            minimum = cost;
            best = next;
            residuals = shifted;
            damping = std::max(1e-9, damping / 100);
        }
        if (decrease < 1e-10 * (1 + minimum)) break;
    }
    return problem.values_at(best);
}

LLMCOST_INLINE void log_errors::add(const load_measurements& predicted, const load_measurements& measured) {
    const auto add_to = [](std::vector<double>& errors, double p, double m) {
        if (m > 0) errors.push_back(std::log2(m / p));
    };
    add_to(ttft, predicted.ttft_seconds, measured.ttft_seconds);
    if (measured.tpot_seconds > 0)
        add_to(tpot, predicted.tpot_seconds, measured.tpot_seconds);
    else if (measured.batch_seconds > 0)
        add_to(tpot, predicted.batch_seconds, measured.batch_seconds);
    else
        add_to(tpot, 1 / predicted.tokens_per_second,
               measured.tokens_per_second > 0 ? 1 / measured.tokens_per_second : 0);
}

}  // namespace llmcost

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE std::vector<held_out_fit> fit_without_rows(const engine& shipped,
                                                                        const std::vector<measured_load>& rows,
                                                                        double prior_scale) {
    constexpr std::size_t alone = 20, fifths = 5;
    const std::size_t folds = rows.size() <= alone ? rows.size() : fifths;
    std::vector<held_out_fit> fits(folds);
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<const measured_load*> others;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (i % folds == fold)
                fits[fold].rows.push_back(i);
            else
                others.push_back(&rows[i]);
        fits[fold].constants = fit_constants(shipped, others, prior_scale);
    }
    return fits;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE cross_validation cross_validate(const engine& shipped, const std::vector<measured_load>& rows) {
    cross_validation best;
    double minimum = INFINITY;
    for (const double scale : prior_scales) {
        cross_validation candidate{scale, detail::fit_without_rows(shipped, rows, scale), {}};
        for (const held_out_fit& fit : candidate.fits)
            for (const std::size_t i : fit.rows)
                candidate.errors.add(predict(shipped, fit.constants, rows[i]), rows[i].measured);
        double loss = 0;
        for (const std::vector<double>* errors : {&candidate.errors.ttft, &candidate.errors.tpot})
            for (const double e : *errors) loss += std::log1p(std::pow(e * std::log(2) / detail::soft, 2));
        if (!(loss < minimum)) continue;
        minimum = loss;
        best = std::move(candidate);
    }
    return best;
}

LLMCOST_INLINE double median_error(const std::vector<double>& log_errors) {
    std::vector<double> errors;
    for (const double e : log_errors) errors.push_back(std::fabs(std::exp2(-e) - 1));
    if (errors.empty()) return 0;
    std::sort(errors.begin(), errors.end());
    const std::size_t middle = errors.size() / 2;
    return errors.size() % 2 == 1 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
}

LLMCOST_INLINE held_out_error held_out_error_of(const std::vector<double>& log_errors,
                                                const relative_interval& shipped) {
    constexpr double covered = 0.9;
    held_out_error out{static_cast<std::int64_t>(log_errors.size()), median_error(log_errors), shipped};
    if (log_errors.empty()) return out;
    std::vector<double> distances;
    for (const double e : log_errors) distances.push_back(std::fabs(e));
    std::sort(distances.begin(), distances.end());
    // as if the next row were one more of them (split conformal prediction, arXiv 2107.07511, section 1)
    const double rank = std::ceil(covered * static_cast<double>(distances.size() + 1));
    const double distance = distances[std::min(distances.size(), static_cast<std::size_t>(rank)) - 1];
    const double rows = static_cast<double>(distances.size());
    out.interval.low = (prior_rows * shipped.low - rows * distance) / (prior_rows + rows);
    out.interval.high = (prior_rows * shipped.high + rows * distance) / (prior_rows + rows);
    return out;
}

}  // namespace llmcost
