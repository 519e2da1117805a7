// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <llmcost/serving/mixed_batch.hpp>
#include <llmcost/serving/size_polynomials.hpp>

namespace llmcost {

/// A cache of step costs by workload. Sweeps evaluate the same few thousand workloads again and again.
class step_cost_cache {
public:
    /// The cached cost of a workload, or `price()`.
    template <class Price>
    [[nodiscard]] step_cost operator()(step_shape w, Price price) {
        if (memory_.empty()) {
            if (++calls_ < min_cached_calls) return price();
            memory_.resize(std::size_t{1} << bits);
        }
        entry& known = memory_[place(w)];
        if (known.at.batch != w.batch || known.at.sequence != w.sequence || known.at.past != w.past)
            known = {w, price()};
        return known.cost;
    }

private:
    static constexpr int bits = 12;
    static constexpr int min_cached_calls = 64;  ///< fewer calls are not cached
    struct entry {
        step_shape at{};
        step_cost cost{};
    };
    static std::size_t place(step_shape w) noexcept {
        std::uint64_t h = 0;
        for (const std::int64_t n : {w.batch, w.sequence, w.past}) {
            h = (h ^ static_cast<std::uint64_t>(n)) * 0x9e3779b97f4a7c15U;
            h ^= h >> 29;
        }
        return (h * 0xbf58476d1ce4e5b9U) >> (64 - bits);
    }
    std::vector<entry> memory_;
    int calls_ = 0;
};

/// A region of workloads with the same kernels, whose sizes are polynomials of the workload.
struct kernel_region {
    step_shape base_point;      ///< far enough from the boundaries of tensors
    step_shape check_point;     ///< a trace here verifies the polynomials
    unsigned common_monomials;  ///< monomials (bit set) of the sizes of most models
    unsigned all_monomials;     ///< monomials of all models, with positions and masks
};
/// Decode; prefill; prefill after cached tokens. Each for one sequence and for several.
///
/// One sequence needs no copies to be contiguous.
inline constexpr kernel_region step_regions[3][2]{
    {{{1, 1, 8}, {1, 1, 131}, 0x001, 0x011}, {{2, 1, 8}, {7, 1, 131}, 0x003, 0x033}},
    {{{1, 8, 0}, {1, 131, 0}, 0x005, 0x045}, {{2, 8, 0}, {7, 131, 0}, 0x00f, 0x0cf}},
    {{{1, 8, 8}, {1, 131, 129}, 0x015, 0x555}, {{2, 8, 8}, {7, 131, 129}, 0x03f, 0xfff}},
};

/// The cost of steps of one model on one device as a function of the workload.
///
/// Kernel sizes are interpolated from traces and verified with another trace, lazily for each region.
/// If they do not agree, every workload is traced, which is about 100 times slower. A delta rule, for example, pads to
/// full chunks. Not thread-safe.
class step_time_model {
public:
    step_time_model(const model& model, const execution& execution, const device& device, kernel_source& kernels)
        : model_(model),
          execution_(execution),
          device_(&device),
          kernels_(&kernels),
          per_launch_(seconds_per_launch(execution, device, kernels)) {}

    /// Whether a workload needs no trace.
    [[nodiscard]] bool has_closed_form(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        return region_of({batch, sequence, past}) != nullptr;
    }
    /// The cost of one step of `batch` sequences with `sequence` new tokens each after `past` cached ones.
    [[nodiscard]] step_cost operator()(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        return known_({batch, sequence, past}, [&] { return priced(batch, sequence, past).issued_in(per_launch_); });
    }
    /// The cost of one step with several groups of sequences.
    ///
    /// Kernels over all tokens run once, attention runs for each group.
    /// Groups outside of all regions are traced and merged (`merge_step`).
    [[nodiscard]] step_cost mixed_batch_cost(const std::vector<step_shape>& groups) {
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
                if (k.of_rows()) rows += cost_of(*device_, k.at(values));
            return rows;
        });
        for (const step_shape& w : groups) {
            const monomial_values values(w.batch, w.sequence, w.past);
            for (planned_kernel& k : region_of(w)->kernels)
                if (!k.of_rows()) sum += cost_of(*device_, k.at(values));
        }
        return sum.issued_in(per_launch_);
    }
    [[nodiscard]] double seconds(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        return (*this)(batch, sequence, past).seconds;
    }

private:
    struct planned_region {
        bool holds = false;
        std::vector<planned_kernel> kernels{};
        step_cost_cache past_independent_costs{};        ///< of kernels that do not read the KV cache
        step_cost_cache shared_costs{};                  ///< of kernels over the tokens of several groups
        std::optional<bool> holds_for_small_sequence{};  ///< for fewer new tokens, where a convolution or a window may
                                                         ///< change the kernels
        std::optional<bool> holds_for_short{};           ///< for a shorter past
    };
    using traced_kernels = std::vector<model_kernel>;

    /// The region of a workload; null if it must be traced.
    [[nodiscard]] planned_region* region_of(step_shape w) {
        if (w.sequence == 1 && w.past == 0) return nullptr;
        const std::size_t kind = w.sequence == 1 ? 0 : w.past == 0 ? 1 : 2, several = w.batch == 1 ? 0 : 1;
        const kernel_region& region = step_regions[kind][several];
        std::optional<planned_region>& known = regions_[kind][several];
        if (!known) known = planned(region);
        if (!known->holds) return nullptr;
        if (w.sequence < region.base_point.sequence) {
            if (!known->holds_for_small_sequence)
                known->holds_for_small_sequence =
                    is_verified(*known, {region.base_point.batch, 2, region.base_point.past});
            if (!*known->holds_for_small_sequence) return nullptr;
        }
        if (w.past < region.base_point.past) {
            if (!known->holds_for_short)
                known->holds_for_short = is_verified(*known, {region.base_point.batch, region.base_point.sequence, 1});
            if (!*known->holds_for_short) return nullptr;
        }
        return &*known;
    }
    [[nodiscard]] step_cost priced(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
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
    [[nodiscard]] step_cost trace_mixed_batch(const std::vector<step_shape>& groups) {
        traced_kernels all;
        for (const step_shape& w : groups) merge_step(all, trace_step(w), execution_.mixed_decode_mode);
        step_cost sum;
        for (const known_kernel& k : match_kernels(std::move(all), execution_, *kernels_)) sum += cost_of(*device_, k);
        return sum.issued_in(per_launch_);
    }
    [[nodiscard]] traced_kernels trace_step(step_shape w) const {
        return kernels_of(model_, {.batch = w.batch, .sequence = w.sequence, .past = w.past, .head = logits::last},
                          execution_);
    }

    [[nodiscard]] planned_region planned(const kernel_region& region) const {
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
    /// The interpolated kernels that agree with the trace at the check point. Fewer than traced if one does not agree.
    [[nodiscard]] std::vector<planned_kernel> solve_region(const kernel_region& region, unsigned basis,
                                                           const std::vector<traced_kernels>& traces,
                                                           const traced_kernels& check_kernels) const {
        std::vector<planned_kernel> kernels;
        for (std::size_t i = 0; i < monomial_count; ++i)
            if (size_polynomial::in(basis, i) && traces[i].size() != check_kernels.size()) return kernels;
        const monomial_values check_values(region.check_point.batch, region.check_point.sequence,
                                           region.check_point.past);
        for (std::size_t i = 0; i < check_kernels.size(); ++i) {
            const operator_type& family = *traces[0][i].shape.type;
            size_polynomial sizes[max_operator_sizes];
            for (std::size_t k = 0; k < family.size_count; ++k)
                if (region.base_point.past != 0 && family.sizes[k].is_past_length)
                    sizes[k].twice[past_alone] = 2;
                else
                    sizes[k] = size_polynomial::interpolate(
                        region.base_point, basis, [&](std::size_t at) { return traces[at][i].shape.sizes[k]; });
            planned_kernel p(match_kernels({traces[0][i]}, execution_, *kernels_).front(), sizes);
            const model_kernel& expected_kernel = p.at(check_values).kernel;
            if (!(expected_kernel == check_kernels[i]) || expected_kernel.num_runs != check_kernels[i].num_runs)
                return kernels;
            p.precompute_curves(*device_);
            kernels.push_back(std::move(p));
        }
        return kernels;
    }
    static constexpr std::size_t past_alone = 4;
    static_assert(monomials[past_alone].past == 1 && monomials[past_alone].batch == 0);

    /// Whether the kernels of a region are those of a trace, in any order.
    [[nodiscard]] bool is_verified(planned_region& region, step_shape w) const {
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
    [[nodiscard]] bool pads_to_chunks() const {
        region_edges edges;
        trace t{workload{.sequence = 2, .past = 0, .head = logits::last}};
        t.set_region_edges(&edges);
        model_.trace_with_loss(t);
        return edges.chunk_size != 0;
    }

    model model_;
    execution execution_;
    const device* device_;
    kernel_source* kernels_;
    double per_launch_;
    std::optional<planned_region> regions_[3][2];
    step_cost_cache known_;
};

}  // namespace llmcost
