// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/size_polynomials.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE planned_kernel::planned_kernel(known_kernel kernel, const size_polynomial (&sizes)[max_operator_sizes])
    : kernel_(std::move(kernel)) {
    for (std::size_t k = 0; k < max_operator_sizes; ++k) {
        bool varies = false;
        for (std::size_t i = 1; i < monomial_count; ++i) varies = varies || sizes[k].twice[i] != 0;
        if (!varies) continue;
        const operator_type& family = *kernel_.kernel.shape.type;
        has_non_axis_variation_ =
            has_non_axis_variation_ || (k >= family.num_axes && k != family.additive_size_index());
        for (std::size_t i = 0; i < monomial_count; ++i)
            if (sizes[k].twice[i] != 0) {
                terms_.push_back({k, i, sizes[k].twice[i]});
                reads_past_ = reads_past_ || monomials[i].past != 0;
            }
    }
}

LLMCOST_INLINE const known_kernel& planned_kernel::at(const monomial_values& values) {
    constexpr double maximum = 7e17;  // of a term: the sum of twelve terms fits into 64 bits
    for (std::size_t i = 0; i < terms_.size();) {
        const std::size_t size = terms_[i].size;
        std::int64_t twice = 0;
        for (; i < terms_.size() && terms_[i].size == size; ++i) {
            const term& t = terms_[i];
            if (!(std::fabs(static_cast<double>(t.twice) * values.real[t.monomial_index]) < maximum))
                throw_overflow_error();
            twice += t.twice * values.integer[t.monomial_index];
        }
        kernel_.kernel.shape.sizes[size] = twice / 2;
    }
    return kernel_;
}

LLMCOST_INLINE void planned_kernel::precompute_curves(const device& device) {
    if (has_non_axis_variation_) return;
    known_kernel& k = kernel_;
    k.curve = curve_of(device, k);
    if (k.companion_calibration != nullptr && !k.includes_companion())
        k.companion_curve = {device, k.companion_shape(), *k.companion_calibration, k.companion_position};
}

}  // namespace llmcost
