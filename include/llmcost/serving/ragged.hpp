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

/// Whether two kernels of one step belong to one module and compute alike.
inline bool same_module(const model_kernel& a, const model_kernel& b) noexcept {
    return a.shape.family == b.shape.family && a.name == b.name && a.times == b.times &&
           a.shape.operand == b.shape.operand && a.shape.variant == b.shape.variant;
}
/// Whether a size adds up where two kernels become one: rows and what goes with them; of sequences their number.
constexpr bool adds_up(const operator_family& family, std::size_t size) noexcept {
    return family.axes == 1 ? family.sizes[size].role != size_role::site : size == 0;
}
/// Whether two kernels are one for all their rows or sequences.
inline bool joins(const model_kernel& a, const model_kernel& b) noexcept {
    bool same = same_module(a, b);
    for (std::size_t i = 0; same && i < a.shape.family->size_count; ++i)
        same = adds_up(*a.shape.family, i) || a.shape.sizes[i] == b.shape.sizes[i];
    return same;
}

}  // namespace detail

/// Adds the kernels of another group of requests to those of a step; throws where their rows need more than 64 bits.
///
/// Products, experts and chains go through all rows at once, attention through all sequences of the same lengths; sequences
/// of other lengths go in the launch of those before them.
inline void join_step(std::vector<model_kernel>& all, std::vector<model_kernel> more) {
    std::vector<bool> joined(all.size());
    for (model_kernel& k : more) {
        std::size_t i = 0;
        while (i < joined.size() && (joined[i] || !detail::joins(all[i], k))) ++i;
        if (i < joined.size()) {
            joined[i] = true;
            for (std::size_t s = 0; s < k.shape.family->size_count; ++s)
                if (detail::adds_up(*k.shape.family, s) &&
                    __builtin_add_overflow(all[i].shape.sizes[s], k.shape.sizes[s], &all[i].shape.sizes[s]))
                    report_overflow();
            continue;
        }
        if (k.shape.family->axes > 1)
            for (const model_kernel& before : all) k.beside_another = k.beside_another || detail::same_module(before, k);
        all.push_back(std::move(k));
    }
}

}  // namespace llmcost
