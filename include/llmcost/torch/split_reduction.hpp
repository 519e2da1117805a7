// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/torch/fusion_group.hpp>

namespace llmcost::detail {

/// The partial sums per result of a reduction with too few results to occupy the device; 1: it is not divided.
///
/// Source: torch/_inductor/choices.py, `InductorChoices.reduction_split_factor`; torch/_inductor/ir.py,
/// `Reduction.num_splits`.
[[nodiscard]] std::uint64_t num_partial_results(const fusion_group& group, const inductor_device& device);

/// Divides a reduction: `group` writes partial results, and the returned kernel sums them.
[[nodiscard]] fusion_group split_reduction(fusion_group& group, std::uint64_t parts);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/split_reduction.ipp>  // IWYU pragma: export
#endif
