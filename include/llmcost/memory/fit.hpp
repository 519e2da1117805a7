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
struct need_at {
    std::int64_t n = 0;
    count needed{};
};

/// About what is needed of none, which nobody asks for; whether more of each than of the one before it.
struct need_of_none {
    count needed{};
    bool bends = false;
};

namespace detail {

/// Where a parabola through the last three needs, or a line through two, comes to what is available; far off where none
/// does.
[[nodiscard]] inline double meets(const std::vector<need_at>& known, std::uint64_t available) {
    const std::size_t last = known.size() - 1;
    const auto x = [&](std::size_t back) { return static_cast<double>(known[last - back].n); };
    const auto y = [&](std::size_t back) {
        return static_cast<double>(known[last - back].needed) - static_cast<double>(available);
    };
    if (last == 0) return 2 * x(0);
    const double slope = (y(0) - y(1)) / (x(0) - x(1));
    const double bend = last < 2 ? 0 : (slope - (y(1) - y(2)) / (x(1) - x(2))) / (x(0) - x(2));
    const double here = slope + bend * (x(0) - x(1));  // the parabola's slope at the last one
    const double under = here * here - 4 * bend * y(0);
    const double root = under > 0 ? std::sqrt(under) : 0;
    const double way = here + root;  // of both roots the one that a line has, too
    return way > 0 ? x(0) - 2 * y(0) / way : static_cast<double>(largest_input);
}

}  // namespace detail

/// The largest n from 1 to `most` for which `needed(n)` is at most `available`; 0 where none is.
///
/// `needed` grows with n. A workload that the model has no positions for does not fit. What is needed is mostly a polynomial
/// of n: it is asked where one through what is known already says that it comes to `available`, and beside that; every
/// answer is `needed`'s own. `known` is one that the caller has, `fixed` about what is needed of none, which is never asked.
template <class Needed>
[[nodiscard]] std::int64_t largest_that_fits(std::uint64_t available, std::int64_t most, const Needed& needed,
                                             maybe<need_at> known = {}, maybe<need_of_none> fixed = {}) {
    if (most < 1) return 0;
    std::int64_t good = 0, bad = most + 1, before = most;
    std::vector<need_at> at;
    const auto found = [&](const need_at& one) {
        (one.needed <= count(available) ? good : bad) = one.n;
        at.push_back(one);
    };
    if (fixed) at.push_back({0, fixed->needed});
    if (known && known->n >= 1 && known->n <= most) found(*known);
    bool tells = true;  // whether the last one had an answer
    for (int asked = 1; bad - good > 1; ++asked) {
        double next = at.empty() ? 1 : std::floor(detail::meets(at, available));
        // what bends upwards comes there before a line does, and behind a square alone
        if (asked == 1 && known && fixed && fixed->bends && next > static_cast<double>(known->n))
            next = std::sqrt(next * static_cast<double>(known->n));
        const bool looks_back = asked % (bad > most ? 4 : 3) == 0;
        if (!tells || (looks_back && 2 * (bad - good) > before))  // what is known says little
            next = static_cast<double>(bad > most ? 2 * good : good + (bad - good) / 2);
        if (looks_back) before = bad - good;
        const std::int64_t n = next <= static_cast<double>(good)  ? good + 1
                               : next >= static_cast<double>(bad) ? bad - 1
                                                                  : static_cast<std::int64_t>(next);
        tells = false;
        try {
            found({n, needed(n)}), tells = true;
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
    out.max_batch = largest_that_fits(
        available, 1 << 20, [&](std::int64_t n) { return with(n, load.sequence).total(); }, need_at{load.batch, out.needed},
        need_of_none{asked.weights + asked.runtime});
    out.max_context = largest_that_fits(
        available, longest_context(m) - load.past, [&](std::int64_t n) { return with(load.batch, n).total(); },
        need_at{load.sequence, out.needed}, need_of_none{asked.weights + asked.runtime});
    const inference_memory one = load.batch == 1 ? asked : with(1, load.sequence);
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
        return train(m, changed, plan).memory.peak.bytes;
    };
    const auto total = [&](std::int64_t batch, std::int64_t sequence) { return count(with(batch, sequence).total); };
    fit_figures out;
    const memory_bytes asked = with(load.batch, load.sequence);
    count fixed;
    for (const memory_category c :
         {memory_category::parameters, memory_category::buffers, memory_category::gradients, memory_category::optimizer})
        fixed += count(asked[c]);
    out.needed = count(asked.total), out.fits = out.needed <= count(available);
    out.max_batch = largest_that_fits(
        available, 1 << 20, [&](std::int64_t n) { return total(n, load.sequence); }, need_at{load.batch, out.needed},
        need_of_none{fixed});
    if (m.dims.vocab_size != 0)
        out.max_context = largest_that_fits(
            available, longest_context(m), [&](std::int64_t n) { return total(load.batch, n); },
            need_at{load.sequence, out.needed}, need_of_none{fixed, true});
    return out;
}

}  // namespace llmcost
