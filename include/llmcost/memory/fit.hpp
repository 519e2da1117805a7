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

// Inverse questions: how much of something fits into so much memory.
namespace llmcost {

/// What is needed at a number.
struct known_requirement {
    std::int64_t n = 0;
    count needed{};
};

/// About what is needed of none, which nobody asks for; whether more of each than of the one before it.
struct fixed_requirement {
    count needed{};
    bool is_nonlinear = false;
};

namespace detail {

/// Where a parabola through the last three needs, or a line through two, comes to what is available; far off where none
/// does.
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
    const double last_slope = slope + bend * (x(0) - x(1));  // the parabola's slope at the last one
    const double discriminant = last_slope * last_slope - 4 * bend * y(0);
    const double root = discriminant > 0 ? std::sqrt(discriminant) : 0;
    const double way = last_slope + root;  // of both roots the one that a line has, too
    return way > 0 ? x(0) - 2 * y(0) / way : static_cast<double>(max_input);
}

}  // namespace detail

/// The largest n from 1 to `maximum` for which `needed(n)` is at most `available`; 0 where none is.
///
/// `needed` grows with n. A workload that the model has no positions for does not fit. What is needed is mostly a
/// polynomial of n: it is asked where one through what is known already says that it comes to `available`, and beside
/// that; every answer is `needed`'s own. `known` is one that the caller has, `fixed` about what is needed of none,
/// which is never asked.
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
    bool has_result = true;  // whether the last one had an answer
    for (int iteration = 1; bad - good > 1; ++iteration) {
        double next = at.empty() ? 1 : std::floor(detail::interpolated_limit(at, available_bytes));
        // what bends upwards comes there before a line does, and behind a square alone
        if (iteration == 1 && known && fixed && fixed->is_nonlinear && next > static_cast<double>(known->n))
            next = std::sqrt(next * static_cast<double>(known->n));
        const bool looks_back = iteration % (bad > maximum ? 4 : 3) == 0;
        if (!has_result || (looks_back && 2 * (bad - good) > previous_gap))  // what is known says little
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

/// How much a memory of so many bytes holds.
struct fit_figures {
    count needed{};
    bool fits = false;
    std::int64_t max_batch = 0;
    std::int64_t max_context = 0;      ///< tokens of each sequence of the batch that was asked for
    std::int64_t max_concurrency = 0;  ///< sequences of that length beside each other, one step's tensors for all
};

/// The longest sequence that a model has positions for; the largest number where it names none.
[[nodiscard]] constexpr std::int64_t longest_context(const model& m) noexcept {
    return m.config.max_position_embeddings > 0 ? m.config.max_position_embeddings : max_input;
}

/// What fits for inference, the engine's share of the memory.
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

/// What fits for training.
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
