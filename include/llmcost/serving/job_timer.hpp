// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/workload.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/parallel_training_cost.hpp>
#include <llmcost/serving/training_collectives.hpp>
#include <llmcost/serving/training_job.hpp>
#include <llmcost/serving/training_work.hpp>

// The time of a training step from the work of its ranks.
namespace llmcost::detail {

/// The time of a training step of a job whose work is known. `load`: a microbatch.
///
/// `is_bound`: a lower bound of the time. It has the bubble of `minimum_pipeline_seconds`; everything else is equal.
[[nodiscard]] parallel_training_cost time_job(const model& full_model, const workload& load, const training_plan& plan,
                                              const training_job& job, const training_work& work,
                                              collective_times& collectives, bool is_bound);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/job_timer.ipp>  // IWYU pragma: export
#endif
