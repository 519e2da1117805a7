// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/job_page.hpp>
#include <llmcost/distributed/schedule_simulation.hpp>
#include <llmcost/report/chart.hpp>

// A picture of a training job: the timeline of its pipeline, and the memory of its ranks.
namespace llmcost::cli::detail {

/// The seconds of a microbatch in a stage, from the estimate of the slowest pipeline rank; all stages are equal.
///
///     forward: forward of all microbatches / (microbatches · stages of a rank); backward: with recomputation.
///
/// Input and weight gradients are halves of backward, as their products have equal FLOPs. Transfers take no time.
[[nodiscard]] distributed::schedule_durations stage_durations_of(const job_response& job);

/// The timeline of the pipeline, if there is one, above a bar of the peak memory of each pipeline rank.
///
/// Throws: `usage` for a pipeline without an estimated time.
[[nodiscard]] svg_picture job_picture(const job_response& job);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/job_picture.ipp>  // IWYU pragma: export
#endif
