// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/fit.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::detail {

LLMCOST_INLINE double interpolated_limit(const std::vector<known_requirement>& known, std::uint64_t available_bytes) {
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

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE fit_figures fit_inference(const rank_memory& ranks, const workload& load, std::uint64_t bytes) {
    const std::uint64_t available_bytes = usable_bytes_of(ranks.engine(), bytes);
    const auto reserved_for = [&](std::int64_t batch, std::int64_t sequence) {
        workload changed = load;
        changed.batch = batch;
        changed.sequence = sequence;
        return ranks.reserved_bytes(changed, ranks.largest(changed), bytes);
    };
    fit_figures out;
    const inference_memory requested_memory = ranks.largest(load);
    out.needed = requested_memory.total_bytes();
    const count reserved = ranks.reserved_bytes(load, requested_memory, bytes);
    out.fits = reserved <= count(available_bytes);
    out.max_batch = find_largest_fit(
        available_bytes, 1 << 20, [&](std::int64_t n) { return reserved_for(n, load.sequence); },
        known_requirement{load.batch, reserved},
        fixed_requirement{requested_memory.weight_bytes + requested_memory.runtime_bytes});
    out.max_context = find_largest_fit(
        available_bytes, longest_context(ranks.shard()) - load.past,
        [&](std::int64_t n) { return reserved_for(load.batch, n); }, known_requirement{load.sequence, reserved},
        fixed_requirement{requested_memory.weight_bytes + requested_memory.runtime_bytes});
    if (const maybe<kv_cache_capacity> capacity = ranks.capacity(load, bytes))
        out.max_concurrency = static_cast<std::int64_t>(capacity->max_concurrency);
    return out;
}

LLMCOST_INLINE fit_figures fit_training(const model& m, const workload& load, const training_plan& plan,
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
