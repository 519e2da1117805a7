// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/ops.hpp>

// Primitives of an optimizer step, counted like those of a forward pass (docs/counting.md).
namespace llmcost::detail {

/// The primitives of matrix products.
[[nodiscard]] primitives<count> primitives_of(const std::vector<optimizer_product>& products);

/// The primitives of one optimizer step.
[[nodiscard]] primitives<count> step_primitives(const optimizer_spec& o, std::int64_t rank,
                                                const std::vector<tape_parameter>& trained);
/// The matrix products of one step. Products of equal sizes are combined.
[[nodiscard]] std::vector<optimizer_product> step_products(const optimizer_spec& o, std::int64_t rank,
                                                           const std::vector<tape_parameter>& trained);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/optimizer_primitives.ipp>  // IWYU pragma: export
#endif
