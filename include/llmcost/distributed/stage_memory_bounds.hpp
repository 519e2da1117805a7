// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <llmcost/analysis/layer_run.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

// Lower bounds of the memory of pipeline stages, without a pass over all layers.
namespace llmcost {

/// Lower bounds of the memory of pipeline stages of a job, from models with at most six repetitions of its layers.
///
/// A value of `stage_memory` is the largest of many moments of a step. At each moment the bytes are linear in the
/// number n of equal layers, so that the value is convex in n:
///
///     f(n) ≥ f(4) + (n − 4) · (f(4) − f(3))
///
/// Moments of a layer whose neighbors are equal layers exist from n = 3 on. Stages with up to four of the layers are
/// exact, except that buffers of Megatron-Core have no padding.
class stage_memory_bounds {
public:
    stage_memory_bounds(const model& m, workload load, training_plan plan, const training_parallelism& parallel,
                        const megatron_settings& settings);

    /// Whether the model has a run of more than six equal layers.
    [[nodiscard]] static bool has_bounds(const model& m) noexcept;

    /// Sets what differs between jobs that share a recorded pass, as in `recorded_job`.
    void set_schedule(const training_schedule& schedule, const megatron_settings& settings);

    /// A lower bound of each pipeline stage. Throws: as `record_job`.
    [[nodiscard]] std::vector<stage_memory> stages(const training_parallelism& parallel);

    /// Bytes that each layer adds to the activations that a stage saves for a microbatch; 0 outside the run.
    [[nodiscard]] std::vector<std::uint64_t> saved_bytes_of_layers(const training_parallelism& parallel);

private:
    /// The recorded pass of a model with `repetitions` of the run.
    [[nodiscard]] recorded_job& job_of(std::int64_t repetitions);
    /// The memory of a stage with `n` instead of its layers of the run.
    [[nodiscard]] stage_memory shortened(const stage_layers& layers, std::int64_t n,
                                         const training_parallelism& parallel);

    model model_;
    workload load_;
    training_plan plan_;
    training_parallelism parallel_;
    megatron_settings settings_;
    layer_run run_;
    training_schedule schedule_{};
    std::map<std::int64_t, recorded_job> jobs_{};  ///< by repetitions
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/stage_memory_bounds.ipp>  // IWYU pragma: export
#endif
