// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/step_time_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/mixed_batch.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/size_polynomials.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

LLMCOST_INLINE std::size_t step_cost_cache::place(step_shape w) noexcept {
    std::uint64_t h = 0;
    for (const std::int64_t n : {w.batch, w.sequence, w.past}) {
        h = (h ^ static_cast<std::uint64_t>(n)) * 0x9e3779b97f4a7c15U;
        h ^= h >> 29;
    }
    return (h * 0xbf58476d1ce4e5b9U) >> (64 - bits);
}

LLMCOST_INLINE step_time_model::step_time_model(const model& model, const execution& execution, const device& device,
                                                kernel_source& kernels)
    : model_(model),
      execution_(execution),
      device_(&device),
      kernels_(&kernels),
      launch_seconds_(seconds_per_launch(execution, device, kernels)) {}

LLMCOST_INLINE step_cost step_time_model::mixed_batch_cost(const std::vector<step_shape>& groups) {
    if (groups.size() == 1) return (*this)(groups[0].batch, groups[0].sequence, groups[0].past);
    planned_region* leading = nullptr;
    std::int64_t maximum = 0;
    step_shape all{};
    for (const step_shape& w : groups) {
        planned_region* const group_region = region_of({w.batch > 1 ? w.batch : 2, w.sequence, w.past});
        if (group_region == nullptr || region_of(w) == nullptr) return trace_mixed_batch(groups);
        if (w.sequence > maximum) {
            leading = group_region;
            maximum = w.sequence;
        }
        all.batch += w.batch;
        all.sequence += w.batch * w.sequence;
        all.past += w.past > 0 ? w.batch * w.past : 0;
    }
    step_cost sum = leading->shared_costs(all, [&] {
        monomial_values values(groups[0].batch, groups[0].sequence, groups[0].past);
        for (std::size_t i = 1; i < groups.size(); ++i)
            values += monomial_values(groups[i].batch, groups[i].sequence, groups[i].past);
        step_cost rows;
        for (planned_kernel& k : leading->kernels)
            if (k.is_row_kernel()) rows += cost_of(*device_, k.at(values));
        return rows;
    });
    for (const step_shape& w : groups) {
        const monomial_values values(w.batch, w.sequence, w.past);
        for (planned_kernel& k : region_of(w)->kernels)
            if (!k.is_row_kernel()) sum += cost_of(*device_, k.at(values));
    }
    return sum.issued_in(launch_seconds_);
}

LLMCOST_INLINE step_time_model::planned_region* step_time_model::region_of(step_shape w) {
    if (w.sequence == 1 && w.past == 0) return nullptr;
    const std::size_t kind = w.sequence == 1 ? 0 : w.past == 0 ? 1 : 2, several = w.batch == 1 ? 0 : 1;
    const kernel_region& region = step_regions[kind][several];
    std::optional<planned_region>& known = regions_[kind][several];
    if (!known) known = planned(region);
    if (!known->holds) return nullptr;
    if (w.sequence < region.base_point.sequence) {
        if (!known->holds_for_small_sequence)
            known->holds_for_small_sequence = is_verified(*known, {region.base_point.batch, 2, region.base_point.past});
        if (!*known->holds_for_small_sequence) return nullptr;
    }
    if (w.past < region.base_point.past) {
        if (!known->holds_for_short)
            known->holds_for_short = is_verified(*known, {region.base_point.batch, region.base_point.sequence, 1});
        if (!*known->holds_for_short) return nullptr;
    }
    return &*known;
}

LLMCOST_INLINE step_cost step_time_model::priced(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
    planned_region* const region = region_of({batch, sequence, past});
    step_cost sum;
    if (region == nullptr) {
        for (const known_kernel& k : match_kernels(trace_step({batch, sequence, past}), execution_, *kernels_))
            sum += cost_of(*device_, k);
        return sum;
    }
    const monomial_values values(batch, sequence, past);
    const auto of_those = [&](bool read_past) {
        step_cost part;
        for (planned_kernel& k : region->kernels)
            if (k.reads_past() == read_past) part += cost_of(*device_, k.at(values));
        return part;
    };
    sum = region->past_independent_costs({batch, sequence, 0}, [&] { return of_those(false); });
    return sum += of_those(true);
}

LLMCOST_INLINE step_cost step_time_model::trace_mixed_batch(const std::vector<step_shape>& groups) {
    traced_kernels all;
    for (const step_shape& w : groups) merge_step(all, trace_step(w), execution_.mixed_decode_mode);
    step_cost sum;
    for (const known_kernel& k : match_kernels(std::move(all), execution_, *kernels_)) sum += cost_of(*device_, k);
    return sum.issued_in(launch_seconds_);
}

LLMCOST_INLINE step_time_model::traced_kernels step_time_model::trace_step(step_shape w) const {
    return kernels_of(model_, {.batch = w.batch, .sequence = w.sequence, .past = w.past, .head = logits::last},
                      execution_);
}

LLMCOST_INLINE step_time_model::planned_region step_time_model::planned(const kernel_region& region) const {
    planned_region result;
    if (region.base_point.sequence > 1 && pads_to_chunks()) return result;
    try {
        const traced_kernels check_kernels = trace_step(region.check_point);
        std::vector<traced_kernels> traces(monomial_count);
        for (const unsigned basis : {region.common_monomials, region.all_monomials}) {
            for (std::size_t i = 0; i < monomial_count; ++i)
                if (size_polynomial::in(basis, i) && traces[i].empty())
                    traces[i] = trace_step(region.base_point.monomial_after(monomials[i]));
            result.kernels = solve_region(region, basis, traces, check_kernels);
            result.holds = result.kernels.size() == check_kernels.size();
            if (result.holds) break;
        }
        // A top-k selection of many tokens changes the kernels beyond the interpolated range.
        for (std::int64_t times = 4; result.holds && times <= 256; times *= 4) {
            step_shape w = region.check_point;
            (region.base_point.past > 0 ? w.past : w.sequence) *= times;
            result.holds = is_verified(result, w);
        }
    } catch (const workload_error&) {  // the model has fewer positions than the traces need
    }
    return result;
}

LLMCOST_INLINE std::vector<planned_kernel> step_time_model::solve_region(const kernel_region& region, unsigned basis,
                                                                         const std::vector<traced_kernels>& traces,
                                                                         const traced_kernels& check_kernels) const {
    std::vector<planned_kernel> kernels;
    for (std::size_t i = 0; i < monomial_count; ++i)
        if (size_polynomial::in(basis, i) && traces[i].size() != check_kernels.size()) return kernels;
    const monomial_values check_values(region.check_point.batch, region.check_point.sequence, region.check_point.past);
    for (std::size_t i = 0; i < check_kernels.size(); ++i) {
        const operator_type& family = *traces[0][i].shape.type;
        size_polynomial sizes[max_operator_sizes];
        for (std::size_t k = 0; k < family.size_count; ++k)
            if (region.base_point.past != 0 && family.sizes[k].is_past_length &&
                traces[0][i].shape.sizes[k] == region.base_point.past)
                sizes[k].twice[past_alone] = 2;
            else  // cross-attention reads the keys of an encoder, independent of the past
                sizes[k] = size_polynomial::interpolate(
                    region.base_point, basis, [&](std::size_t index) { return traces[index][i].shape.sizes[k]; });
        planned_kernel p(match_kernels({traces[0][i]}, execution_, *kernels_).front(), sizes);
        const model_kernel& expected_kernel = p.at(check_values).kernel;
        if (!(expected_kernel == check_kernels[i]) || expected_kernel.num_runs != check_kernels[i].num_runs)
            return kernels;
        p.precompute_curves(*device_);
        kernels.push_back(std::move(p));
    }
    return kernels;
}

LLMCOST_INLINE bool step_time_model::is_verified(planned_region& region, step_shape w) const {
    traced_kernels traced = trace_step(w);
    const monomial_values values(w.batch, w.sequence, w.past);
    if (traced.size() != region.kernels.size()) return false;
    return std::all_of(region.kernels.begin(), region.kernels.end(), [&](planned_kernel& planned) {
        const model_kernel& expected_kernel = planned.at(values).kernel;
        return std::any_of(traced.begin(), traced.end(), [&](const model_kernel& k) {
            return k == expected_kernel && k.num_runs == expected_kernel.num_runs;
        });
    });
}

LLMCOST_INLINE bool step_time_model::pads_to_chunks() const {
    region_edges edges;
    trace t{workload{.sequence = 2, .past = 0, .head = logits::last}};
    t.set_region_edges(&edges);
    model_.trace_with_loss(t);
    return edges.chunk_size != 0;
}

}  // namespace llmcost
