// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/maybe.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/training_step.hpp>

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
[[nodiscard]] inline double interpolated_limit(const std::vector<known_requirement>& known,
                                               std::uint64_t available_bytes) {
    const std::size_t last = known.size() - 1;
    const auto x = [&](std::size_t offset) { return static_cast<double>(known[last - offset].n); };
    const auto y = [&](std::size_t offset) {
        return static_cast<double>(known[last - offset].needed) - static_cast<double>(available_bytes);
    };
    if (last == 0) return 2 * x(0);
    const double slope = (y(0) - y(1)) / (x(0) - x(1));
    const double bend = last < 2 ? 0 : (slope - (y(1) - y(2)) / (x(1) - x(2))) / (x(0) - x(2));
    const double last_slope = slope + bend * (x(0) - x(1));  // slope of the parabola at the last point
    const double discriminant = last_slope * last_slope - 4 * bend * y(0);
    const double root = discriminant > 0 ? std::sqrt(discriminant) : 0;
    const double denominator = last_slope + root;  // of both roots, the one that a line also has
    return denominator > 0 ? x(0) - 2 * y(0) / denominator : static_cast<double>(max_input);
}

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
    std::vector<known_requirement> at;
    const auto found = [&](const known_requirement& one) {
        (one.needed <= count(available_bytes) ? good : bad) = one.n;
        at.push_back(one);
    };
    if (fixed) at.push_back({0, fixed->needed});
    if (known && known->n >= 1 && known->n <= maximum) found(*known);
    bool has_result = true;  // whether the last evaluation succeeded
    for (int iteration = 1; bad - good > 1; ++iteration) {
        double next = at.empty() ? 1 : std::floor(detail::interpolated_limit(at, available_bytes));
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

/// The longest sequence that the model has positions for; `max_input` if it has no limit.
[[nodiscard]] constexpr std::int64_t longest_context(const model& m) noexcept {
    return m.config.max_position_embeddings > 0 ? m.config.max_position_embeddings : max_input;
}

/// The largest workloads that fit for inference, within the memory fraction of the engine.
[[nodiscard]] inline fit_figures fit_inference(const model& m, const workload& load,
                                               const engine_memory_profile& engine, std::uint64_t bytes,
                                               maybe<count> stored = {}) {
    const auto available_bytes = static_cast<std::uint64_t>(static_cast<double>(bytes) * engine.gpu_memory_utilization);
    const auto memory_for = [&](std::int64_t batch, std::int64_t sequence) {
        workload changed = load;
        changed.batch = batch;
        changed.sequence = sequence;
        return inference_memory_of(m, changed, engine, stored);
    };
    fit_figures out;
    const inference_memory requested_memory = memory_for(load.batch, load.sequence);
    out.needed = requested_memory.total_bytes();
    out.fits = out.needed <= count(available_bytes);
    out.max_batch = find_largest_fit(
        available_bytes, 1 << 20, [&](std::int64_t n) { return memory_for(n, load.sequence).total_bytes(); },
        known_requirement{load.batch, out.needed},
        fixed_requirement{requested_memory.weight_bytes + requested_memory.runtime_bytes});
    out.max_context = find_largest_fit(
        available_bytes, longest_context(m) - load.past,
        [&](std::int64_t n) { return memory_for(load.batch, n).total_bytes(); },
        known_requirement{load.sequence, out.needed},
        fixed_requirement{requested_memory.weight_bytes + requested_memory.runtime_bytes});
    const inference_memory one = load.batch == 1 ? requested_memory : memory_for(1, load.sequence);
    const count fixed = one.weight_bytes + one.runtime_bytes + one.peak_activation_bytes;
    if (one.kv_cache_allocated_bytes != count{} && fixed < count(available_bytes))
        out.max_concurrency =
            static_cast<std::int64_t>(((count(available_bytes) - fixed) / one.kv_cache_allocated_bytes).to_64());
    return out;
}

/// The largest workloads that fit for training.
[[nodiscard]] inline fit_figures fit_training(const model& m, const workload& load, const training_plan& plan,
                                              std::uint64_t available_bytes) {
    const auto memory_for = [&](std::int64_t batch, std::int64_t sequence) {
        workload changed = load;
        changed.batch = batch;
        changed.sequence = sequence;
        return train(m, changed, plan).memory.peak.bytes;
    };
    const auto total = [&](std::int64_t batch, std::int64_t sequence) {
        return count(memory_for(batch, sequence).total);
    };
    fit_figures out;
    const memory_bytes requested_memory = memory_for(load.batch, load.sequence);
    count fixed;
    for (const memory_category c : {memory_category::parameters, memory_category::buffers, memory_category::gradients,
                                    memory_category::optimizer})
        fixed += count(requested_memory[c]);
    out.needed = count(requested_memory.total);
    out.fits = out.needed <= count(available_bytes);
    out.max_batch = find_largest_fit(
        available_bytes, 1 << 20, [&](std::int64_t n) { return total(n, load.sequence); },
        known_requirement{load.batch, out.needed}, fixed_requirement{fixed});
    if (m.config.vocab_size != 0)
        out.max_context = find_largest_fit(
            available_bytes, longest_context(m), [&](std::int64_t n) { return total(load.batch, n); },
            known_requirement{load.sequence, out.needed}, fixed_requirement{fixed, true});
    return out;
}

}  // namespace llmcost
