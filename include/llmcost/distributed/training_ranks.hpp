// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

// What each rank of a training job holds, computes and communicates in a step.
namespace llmcost {

/// The given ranks of a job, in a step after the first two.
[[nodiscard]] std::vector<training_rank> training_ranks_of(const model& m, const workload& load, training_plan plan,
                                                           const training_parallelism& parallel,
                                                           const std::vector<std::int64_t>& ranks);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/training_ranks.ipp>  // IWYU pragma: export
#endif
