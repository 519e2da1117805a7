// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_ranks.hpp>

// The output of `llmcost train` for a job whose ranks hold different parts of a model.
namespace llmcost::cli::detail {

/// The memory of the ranks of a job. The step of `training` is one microbatch, without a run.
struct job_response {
    training_response training;
    training_parallelism parallel;
    training_job_memory memory;

    [[nodiscard]] const rank_training_memory& largest() const { return memory.largest(); }
    [[nodiscard]] count needed() const { return count(largest().peak.total); }
};

[[nodiscard]] std::string job_page(const job_response& job);
[[nodiscard]] std::string job_json(const job_response& job);
/// A table with pipeline ranks as rows.
[[nodiscard]] table job_table(const job_response& job);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/job_page.ipp>  // IWYU pragma: export
#endif
