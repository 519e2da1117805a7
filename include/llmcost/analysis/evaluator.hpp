// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/analysis/closed_form.hpp>

namespace llmcost {

/// Evaluates a model, or the part that a query selects, for many workloads.
///
/// Uses closed forms of the regions met so far, and a trace where there is none. Returns what `count_model` returns, in
/// less time. It also works for workloads whose trace would have tensors beyond 2^63 elements. Does not allocate
/// memory. Use one evaluator per thread.
class cost_evaluator {
public:
    constexpr explicit cost_evaluator(const model& m, scope_query query = {}) noexcept : model_(m), query_(query) {}

    /// The figures of a workload. The first workload of a region creates the closed form of the region.
    constexpr model_metrics operator()(const workload& w) {
        if (w.training) return count_model(model_, w, query_);
        const workload resolved_workload = with_storage_types(w, storage_types_of(model_, w));
        for (std::size_t i = 0; i < num_forms_; ++i)
            if (forms_[i].applies_to(resolved_workload))
                return forms_[i].exact() ? forms_[i](resolved_workload) : count_model(model_, w, query_);
        closed_form& form = forms_[next_];
        form = closed_form(model_, resolved_workload, query_);
        next_ = (next_ + 1) % maximum;
        num_forms_ = num_forms_ < maximum ? num_forms_ + 1 : maximum;
        return form.contains_workload(resolved_workload) ? form(resolved_workload) : count_model(model_, w, query_);
    }

private:
    static constexpr std::size_t maximum = 24;
    model model_;
    scope_query query_;
    closed_form forms_[maximum]{};
    std::size_t num_forms_ = 0;
    std::size_t next_ = 0;
};

}  // namespace llmcost
