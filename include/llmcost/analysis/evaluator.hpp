// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/analysis/closed_form.hpp>

namespace llmcost {

/// A model, or the part of it that a role or word names, made ready for many evaluations: closed forms of the regions
/// it has met, a walk where there is none.
///
/// Answers as `count_model` does, in a fraction of its time, and where a walk would meet a tensor of 2^63 elements as
/// well; one evaluator per thread. No allocation.
class cost_evaluator {
public:
    constexpr explicit cost_evaluator(const model& m, scope_query query = {}) noexcept : model_(m), query_(query) {}

    /// The figures of a workload; the first one of a region makes the region's form.
    constexpr model_metrics operator()(const workload& w) {
        if (w.training) return count_model(model_, w, query_);
        const workload resolved_workload = with_storage_types(w, storage_types_of(model_, w));
        for (std::size_t i = 0; i < used_; ++i)
            if (forms_[i].applies_to(resolved_workload))
                return forms_[i].exact() ? forms_[i](resolved_workload) : count_model(model_, w, query_);
        closed_form& form = forms_[next_];
        form = closed_form(model_, resolved_workload, query_);
        next_ = (next_ + 1) % maximum;
        used_ = used_ < maximum ? used_ + 1 : maximum;
        return form.contains_workload(resolved_workload) ? form(resolved_workload) : count_model(model_, w, query_);
    }

private:
    static constexpr std::size_t maximum = 24;
    model model_;
    scope_query query_;
    closed_form forms_[maximum]{};
    std::size_t used_ = 0;
    std::size_t next_ = 0;
};

}  // namespace llmcost
