// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/torch/product_operators.hpp>

namespace llmcost::detail {

/// Operations of a tape that Inductor decomposes: reductions, norms, softmax, embeddings, copies and the loss.
class reduction_operators : public product_operators {
protected:
    using product_operators::product_operators;
    ~reduction_operators() = default;

    std::int32_t add_softmax(std::size_t i);
    std::int32_t add_log_softmax(std::size_t i);
    std::int32_t add_layer_norm(std::size_t i);
    std::int32_t add_batch_norm(std::size_t i);
    std::int32_t add_reduction(std::size_t i, literal name);
    std::int32_t add_embedding(std::size_t i);
    std::int32_t add_max_pool(std::size_t i);
    std::int32_t add_copy(std::size_t i);
    std::int32_t add_cat(std::size_t i);
    std::int32_t add_loss(std::size_t i);
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/reduction_operators.ipp>  // IWYU pragma: export
#endif
