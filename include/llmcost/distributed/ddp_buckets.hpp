// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost {

/// Gradients that DistributedDataParallel sums in one all-reduce.
struct ddp_bucket {
    std::uint64_t bytes = 0;
    dtype type = dtype::float32;
    std::vector<std::int32_t> parameters{};  ///< indices in `tape::parameters`, in the order of their gradients
};

/// The buckets of DistributedDataParallel from the second step on.
///
/// `gradient_order`: trained parameters in the order in which the first backward completed their gradients. A bucket is
/// closed by the gradient with which it reaches its limit: `limit_bytes`, or 1 MiB for the first bucket of a type and
/// 25 MiB for the others if `limit_bytes` is 0. Source: torch/csrc/distributed/c10d/reducer.cpp, `rebuild_buckets`,
/// `compute_bucket_assignment_by_size`; torch/nn/parallel/distributed.py, `_ddp_init_helper`.
[[nodiscard]] std::vector<ddp_bucket> ddp_buckets_of(const tape& pass, const std::vector<std::int32_t>& gradient_order,
                                                     std::uint64_t limit_bytes);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/ddp_buckets.ipp>  // IWYU pragma: export
#endif
