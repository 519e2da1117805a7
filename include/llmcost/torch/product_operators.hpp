// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/torch/tape_values.hpp>

namespace llmcost::detail {

/// Operations of a tape that libraries compute, and those that are not decomposed.
class product_operators : public tape_values {
protected:
    using tape_values::tape_values;
    ~product_operators() = default;

    std::int32_t add_linear(std::size_t i);
    std::int32_t add_batched_product(std::size_t i);
    std::int32_t add_convolution(std::size_t i);
    std::int32_t add_attention(std::size_t i);
    /// An operation that neither fuses nor is decomposed: the kernels of eager PyTorch.
    std::int32_t add_eager(std::size_t i);
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/product_operators.ipp>  // IWYU pragma: export
#endif
