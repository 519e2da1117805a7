// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

// Inverse questions: the largest workload that fits into a given amount of memory.
namespace llmcost {

/// The required memory for a known n.
struct known_requirement {
    std::int64_t n = 0;
    count needed{};
};

/// An estimate of the required memory at n = 0, and whether the memory grows faster than linearly.
struct fixed_requirement {
    count needed{};
    bool is_nonlinear = false;
};

namespace detail {

/// The n at which a parabola through the last three points, or a line through two, reaches the available memory.
///
/// Returns `max_input` if there is no such n.
[[nodiscard]] double interpolated_limit(const std::vector<known_requirement>& known, std::uint64_t available_bytes);

}  // namespace detail

/// The largest n from 1 to `maximum` for which `required_bytes(n)` is at most `available_bytes`; 0 if there is none.
///
/// `required_bytes` must grow with n. It is mostly a polynomial, so the search interpolates, and each result is
/// checked. An n with more positions than the model has does not fit. `known`: a point that the caller has computed.
/// `fixed`: an estimate for n = 0, which is never evaluated.
template <class Needed>
[[nodiscard]] std::int64_t find_largest_fit(std::uint64_t available_bytes, std::int64_t maximum,
                                            const Needed& required_bytes, maybe<known_requirement> known = {},
                                            maybe<fixed_requirement> fixed = {}) {
    if (maximum < 1) return 0;
    std::int64_t good = 0, bad = maximum + 1, previous_gap = maximum;
    std::vector<known_requirement> evaluations;
    const auto found = [&](const known_requirement& one) {
        (one.needed <= count(available_bytes) ? good : bad) = one.n;
        evaluations.push_back(one);
    };
    if (fixed) evaluations.push_back({0, fixed->needed});
    if (known && known->n >= 1 && known->n <= maximum) found(*known);
    bool has_result = true;  // whether the last evaluation succeeded
    for (int iteration = 1; bad - good > 1; ++iteration) {
        double next = evaluations.empty() ? 1 : std::floor(detail::interpolated_limit(evaluations, available_bytes));
        // with quadratic growth the limit is below the linear estimate
        if (iteration == 1 && known && fixed && fixed->is_nonlinear && next > static_cast<double>(known->n))
            next = std::sqrt(next * static_cast<double>(known->n));
        const bool looks_back = iteration % (bad > maximum ? 4 : 3) == 0;
        if (!has_result || (looks_back && 2 * (bad - good) > previous_gap))  // the interpolation converges slowly
            next = static_cast<double>(bad > maximum ? 2 * good : good + (bad - good) / 2);
        if (looks_back) previous_gap = bad - good;
        const std::int64_t n = next <= static_cast<double>(good)  ? good + 1
                               : next >= static_cast<double>(bad) ? bad - 1
                                                                  : static_cast<std::int64_t>(next);
        has_result = false;
        try {
            found({n, required_bytes(n)});
            has_result = true;
        } catch (const workload_error&) {
            bad = n;
        } catch (const overflow_error&) {
            bad = n;
        }
    }
    return good;
}

/// The largest workloads that fit into a memory.
struct fit_figures {
    count needed{};
    bool fits = false;
    std::int64_t max_batch = 0;
    std::int64_t max_context = 0;      ///< tokens per sequence, for the requested batch
    std::int64_t max_concurrency = 0;  ///< sequences of the requested length at the same time, with activations for all
};

/// The longest sequence that the model has positions for, with RoPE scaling; `max_input` if it has no limit.
[[nodiscard]] constexpr std::int64_t longest_context(const model& m) noexcept {
    return m.config.context_length() > 0 ? m.config.context_length() : max_input;
}

/// The largest workloads for which each rank fits, within the memory fraction of the engine.
[[nodiscard]] fit_figures fit_inference(const rank_memory& ranks, const workload& load, std::uint64_t bytes);

/// The largest workloads that fit for training.
[[nodiscard]] fit_figures fit_training(const model& m, const workload& load, const training_plan& plan,
                                       std::uint64_t available_bytes);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/fit.ipp>  // IWYU pragma: export
#endif
