// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training_candidates.hpp>

// The search for the fastest parallel configuration of a training job over devices, under memory.
namespace llmcost {

/// Searches parallel configurations of a training job.
///
///     tensor: powers of two within a node; pipeline: divisors of the remaining devices, up to one layer per stage;
///     stages per rank: 1, or any number that divides the layers equally if the microbatches are a multiple of the
///     pipeline ranks; context: powers of two with at least 4096 tokens per rank; expert: divisors of the experts, each
///     over powers of two up to the tensor-parallel ranks; data: the remaining devices, with FSDP shards · replicas;
///     microbatch: 1, 2, 4, 8 and 16 sequences.
///
/// Candidates are visited by a lower bound of their time. One is excluded without its exact values if
/// - the parameters, gradients and optimizer state of its division exceed the memory (`minimum_state_bytes`),
/// - its time without communication, or with the least bubble, exceeds that of the best candidates, and its memory
///   that of a faster one (`minimum_step_seconds`, `minimum_pipeline_seconds`), or
/// - the least memory of its stages exceeds the memory (`stage_memory_bounds`, `minimum_peak_bytes`).
///
/// The result is that of `training_search_space::is_exhaustive`. Candidates with equal work per microbatch share one
/// trace; candidates with equal sizes of a rank share one recorded pass; equal collectives are computed once.
class training_search {
public:
    /// `is_supported`: whether the model can be divided so; sizes of pipeline and data parallelism are arbitrary.
    training_search(const model& memory_model, const model& timed_model, const execution& execution,
                    const device& device, kernel_source& kernels, std::vector<training_variant> variants,
                    std::function<bool(const training_parallelism&)> is_supported);
    ~training_search();
    training_search(const training_search&) = delete;
    training_search& operator=(const training_search&) = delete;

    [[nodiscard]] training_search_result operator()(const training_search_space& space);
    [[nodiscard]] const std::vector<training_variant>& variants() const noexcept { return variants_; }

private:
    struct state;
    class run;

    std::vector<training_variant> variants_;
    std::unique_ptr<state> state_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/training_search.ipp>  // IWYU pragma: export
#endif
