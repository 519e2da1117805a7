// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/serving/model_kernel.hpp>

// Groups of requests of different lengths in one step.
namespace llmcost {

namespace detail {

/// Whether a size stays as it is when two kernels become one: a site's, and of sequences that go through together their new
/// tokens.
constexpr bool stays(const operator_family& family, std::size_t size) noexcept {
    const operator_size& s = family.sizes[size];
    return s.role == size_role::site || (family.axes > 1 && size > 0 && !s.past);
}
/// Whether two kernels of one step go through the device as one: those of one module whose rows or sequences add up.
inline bool joins(const model_kernel& a, const model_kernel& b) noexcept {
    const operator_family& family = *a.shape.family;
    bool same = b.shape.family == &family && a.name == b.name && a.times == b.times && a.shape.operand == b.shape.operand &&
                a.shape.variant == b.shape.variant;
    for (std::size_t i = 0; same && i < family.size_count; ++i)
        same = !stays(family, i) || a.shape.sizes[i] == b.shape.sizes[i];
    return same;
}
/// The two as one, sequences behind as many tokens as move no less than both: their mean where no window ends it.
constexpr operator_shape joined(const operator_shape& a, const operator_shape& b) {
    const operator_family& family = *a.family;
    operator_shape both = a;
    for (std::size_t i = 0; i < family.size_count; ++i) {
        if (stays(family, i)) continue;
        const std::int64_t sum = both.sizes[i] + b.sizes[i];
        if (family.axes == 1 || !family.sizes[i].past) {
            both.sizes[i] = sum;
            continue;
        }
        const bool a_is_less = a.sizes[i] < b.sizes[i];
        std::int64_t low = a_is_less ? a.sizes[i] : b.sizes[i], high = a_is_less ? b.sizes[i] : a.sizes[i];
        const double least = a.work().bytes + b.work().bytes;
        while (low < high) {
            both.sizes[i] = low + (high - low) / 2;
            if (both.work().bytes < least)
                low = both.sizes[i] + 1;
            else
                high = both.sizes[i];
        }
        both.sizes[i] = low;
    }
    return both;
}

}  // namespace detail

/// Adds the kernels of another group of requests to those of a step, each to the one that it goes through the device with:
/// products, experts and chains do all rows at once, attention all sequences that bring as many new tokens.
inline void join_step(std::vector<model_kernel>& all, std::vector<model_kernel> more) {
    std::vector<bool> joined(all.size());
    for (model_kernel& k : more) {
        std::size_t i = 0;
        while (i < joined.size() && (joined[i] || !detail::joins(all[i], k))) ++i;
        if (i == joined.size()) {
            all.push_back(std::move(k));
            continue;
        }
        joined[i] = true;
        all[i].shape = detail::joined(all[i].shape, k.shape);
    }
}

}  // namespace llmcost
