// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/mixed_batch.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/size_polynomials.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// A cache of step costs by workload. Sweeps evaluate the same few thousand workloads again and again.
class step_cost_cache {
public:
    /// The cached cost of a workload, or `price()`.
    template <class Price>
    [[nodiscard]] step_cost operator()(step_shape w, Price price) {
        if (entries_.empty()) {
            if (++calls_ < min_cached_calls) return price();
            entries_.resize(std::size_t{1} << bits);
        }
        entry& known = entries_[place(w)];
        if (known.shape.batch != w.batch || known.shape.sequence != w.sequence || known.shape.past != w.past)
            known = {w, price()};
        return known.cost;
    }

private:
    static constexpr int bits = 12;
    static constexpr int min_cached_calls = 64;  ///< fewer calls are not cached
    struct entry {
        step_shape shape{};
        step_cost cost{};
    };
    static std::size_t place(step_shape w) noexcept;
    std::vector<entry> entries_;
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
    step_time_model(const model& model, const execution& execution, const device& device, kernel_source& kernels);

    /// Whether a workload needs no trace.
    [[nodiscard]] bool has_closed_form(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        return region_of({batch, sequence, past}) != nullptr;
    }
    /// The cost of one step of `batch` sequences with `sequence` new tokens each after `past` cached ones.
    [[nodiscard]] step_cost operator()(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        return cache_({batch, sequence, past},
                      [&] { return priced(batch, sequence, past).issued_in(launch_seconds_); });
    }
    /// The cost of one step with several groups of sequences.
    ///
    /// Kernels over all tokens run once, attention runs for each group.
    /// Groups outside of all regions are traced and merged (`merge_step`).
    [[nodiscard]] step_cost mixed_batch_cost(const std::vector<step_shape>& groups);
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
    [[nodiscard]] planned_region* region_of(step_shape w);
    [[nodiscard]] step_cost priced(std::int64_t batch, std::int64_t sequence, std::int64_t past);
    [[nodiscard]] step_cost trace_mixed_batch(const std::vector<step_shape>& groups);
    [[nodiscard]] traced_kernels trace_step(step_shape w) const;

    [[nodiscard]] planned_region planned(const kernel_region& region) const;
    /// The interpolated kernels that agree with the trace at the check point. Fewer than traced if one does not agree.
    [[nodiscard]] std::vector<planned_kernel> solve_region(const kernel_region& region, unsigned basis,
                                                           const std::vector<traced_kernels>& traces,
                                                           const traced_kernels& check_kernels) const;
    static constexpr std::size_t past_alone = 4;
    static_assert(monomials[past_alone].past == 1 && monomials[past_alone].batch == 0);

    /// Whether the kernels of a region are those of a trace, in any order.
    [[nodiscard]] bool is_verified(planned_region& region, step_shape w) const;
    [[nodiscard]] bool pads_to_chunks() const;

    model model_;
    execution execution_;
    const device* device_;
    kernel_source* kernels_;
    double launch_seconds_;
    std::optional<planned_region> regions_[3][2];
    step_cost_cache cache_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/step_time_model.ipp>  // IWYU pragma: export
#endif
