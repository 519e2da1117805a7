// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/arguments.hpp>

#include <cstddef>
#include <cstdint>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::custom {

LLMCOST_INLINE shape arguments::expand_to_rank(std::size_t i, int rank) const {
    shape out;
    out.rank = rank;
    if (count_[i] > 1 && count_[i] != rank)
        throw_description_error("expected one number per dimension, or one for all");
    for (int k = 0; k < rank; ++k) out.size[k] = at(i, count_[i] > 1 ? k : 0);
    return out;
}

LLMCOST_INLINE shape arguments::shape_argument(std::size_t i) const {
    shape out;
    if (count_[i] > max_rank) throw_description_error("expected at most six dimensions");
    for (int k = 0; k < count_[i]; ++k) out.size[out.rank++] = at(i, k);
    return out;
}

LLMCOST_INLINE void arguments::begin(const argument_row* rows, int results) noexcept {
    rows_ = rows;
    results_ = results;
    num_numbers_ = 0;
    for (auto& n : count_) n = 0;
}

LLMCOST_INLINE void arguments::open(std::size_t i) noexcept {
    first_[i] = num_numbers_;
    count_[i] = 0;
    open_argument_ = i;
}

LLMCOST_INLINE void arguments::push(std::int64_t n) {
    if (num_numbers_ == max_numbers) throw_description_error("expected fewer numbers");
    numbers_[num_numbers_++] = n;
    ++count_[open_argument_];
}

}  // namespace llmcost::custom
