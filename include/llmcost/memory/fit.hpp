// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/training_step.hpp>

// Inverse questions: how much of something fits into so much memory.
namespace llmcost {

/// The largest n from 1 to `most` for which `needed(n)` is at most `available`; 0 where none is.
///
/// `needed` grows with n. A workload that the model has no positions for does not fit.
template <class Needed>
[[nodiscard]] std::int64_t largest_that_fits(std::uint64_t available, std::int64_t most, const Needed& needed) {
    const auto fits = [&](std::int64_t n) {
        try {
            return needed(n) <= count(available);
        } catch (const workload_error&) {
            return false;
        } catch (const overflow_error&) {
            return false;
        }
    };
    if (most < 1 || !fits(1)) return 0;
    std::int64_t good = 1, bad = most + 1;
    for (std::int64_t next = 2; good < most; next *= 2) {
        const std::int64_t at = next < most ? next : most;
        if (!fits(at)) {
            bad = at;
            break;
        }
        good = at;
    }
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (fits(middle) ? good : bad) = middle;
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
    return m.dims.max_position_embeddings > 0 ? m.dims.max_position_embeddings : largest_input;
}

/// What fits for inference, the engine's share of the memory.
[[nodiscard]] inline fit_figures fit_inference(const model& m, const workload& load, const engine_memory& by,
                                               std::uint64_t bytes, maybe<count> stored = {}) {
    const auto available = static_cast<std::uint64_t>(static_cast<double>(bytes) * by.share);
    const auto with = [&](std::int64_t batch, std::int64_t sequence) {
        workload changed = load;
        changed.batch = batch, changed.sequence = sequence;
        return inference_memory_of(m, changed, by, stored);
    };
    fit_figures out;
    const inference_memory asked = with(load.batch, load.sequence);
    out.needed = asked.total(), out.fits = out.needed <= count(available);
    out.max_batch = largest_that_fits(available, 1 << 20, [&](std::int64_t n) { return with(n, load.sequence).total(); });
    out.max_context = largest_that_fits(available, longest_context(m) - load.past,
                                        [&](std::int64_t n) { return with(load.batch, n).total(); });
    const inference_memory one = with(1, load.sequence);
    const count fixed = one.weights + one.runtime + one.activations_peak;
    if (one.cache_allocated != count{} && fixed < count(available))
        out.max_concurrency = static_cast<std::int64_t>(((count(available) - fixed) / one.cache_allocated).to_64());
    return out;
}

/// What fits for training.
[[nodiscard]] inline fit_figures fit_training(const model& m, const workload& load, const training_plan& plan,
                                              std::uint64_t available) {
    const auto with = [&](std::int64_t batch, std::int64_t sequence) {
        workload changed = load;
        changed.batch = batch, changed.sequence = sequence;
        return count(train(m, changed, plan).memory.peak.bytes.total);
    };
    fit_figures out;
    out.needed = with(load.batch, load.sequence), out.fits = out.needed <= count(available);
    out.max_batch = largest_that_fits(available, 1 << 20, [&](std::int64_t n) { return with(n, load.sequence); });
    if (m.dims.vocab_size != 0)
        out.max_context =
            largest_that_fits(available, longest_context(m), [&](std::int64_t n) { return with(load.batch, n); });
    return out;
}

}  // namespace llmcost
