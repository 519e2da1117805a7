// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/analysis/formula.hpp>

namespace llmcost {

/// A model, or the part of it that a role or word names, made ready for many evaluations: closed forms of the regions it has
/// met, a walk where there is none.
///
/// Answers as `count_model` does, in a fraction of its time, and where a walk would meet a tensor of 2^63 elements as well;
/// one evaluator per thread. No allocation.
class evaluator {
public:
    constexpr explicit evaluator(const model& m, scope_query asked = {}) noexcept : model_(m), asked_(asked) {}

    /// The figures of a workload; the first one of a region makes the region's form.
    constexpr figures operator()(const workload& w) {
        if (w.training) return count_model(model_, w, asked_);
        const workload asked = resolved(w, types_of(model_, w));
        for (std::size_t i = 0; i < used_; ++i)
            if (forms_[i].concerns(asked)) return forms_[i].exact() ? forms_[i](asked) : count_model(model_, w, asked_);
        closed_form& form = forms_[next_];
        form = closed_form(model_, asked, asked_);
        next_ = (next_ + 1) % most;
        used_ = used_ < most ? used_ + 1 : most;
        return form.covers(asked) ? form(asked) : count_model(model_, w, asked_);
    }

private:
    static constexpr std::size_t most = 24;
    model model_;
    scope_query asked_;
    closed_form forms_[most]{};
    std::size_t used_ = 0;
    std::size_t next_ = 0;
};

}  // namespace llmcost
