// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/report/json_writer.hpp>

// The ranks of a training job: what they hold and the collectives that they issue.
namespace llmcost::cli::detail {

/// Writes the member `ranks`.
void write_ranks(json_writer& json, const std::vector<training_rank>& ranks);

/// Writes the member `schedule` of a job with a pipeline: the actions of each of its ranks, as PyTorch writes them.
void write_schedule(json_writer& json, const training_parallelism& parallel);

/// A table of the ranks, then the collectives of each distinct rank, summed by operation, group, phase and bytes.
[[nodiscard]] std::string rank_lines(const std::vector<training_rank>& ranks);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/rank_page.ipp>  // IWYU pragma: export
#endif
