// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

// The memory of a pipeline rank over the actions of a step.
namespace llmcost {

/// The memory of a pipeline stage on one rank, in bytes.
struct stage_memory {
    std::uint64_t num_parameters = 0;
    // from the first step on
    std::uint64_t parameter_bytes = 0;
    std::uint64_t gathered_bytes = 0;  ///< of FSDP: parameters that stay gathered from forward to backward
    std::uint64_t gradient_bytes = 0;  ///< between the microbatches of a step
    std::uint64_t optimizer_bytes = 0;
    std::uint64_t buffer_bytes = 0;
    std::uint64_t input_bytes = 0;      ///< token ids, labels and other inputs of the model
    std::uint64_t workspace_bytes = 0;  ///< of libraries, and placeholders of gradients
    bool has_gradient_buffers = false;  ///< gradients exist before the first backward of a step
    // of a microbatch
    std::uint64_t received_bytes = 0;  ///< activations that it receives, part of `saved_bytes`
    std::uint64_t sent_bytes = 0;
    std::uint64_t saved_bytes = 0;          ///< from the end of forward to the end of backward
    std::uint64_t forward_peak_bytes = 0;   ///< while forward runs
    std::uint64_t backward_peak_bytes = 0;  ///< while backward runs, with `saved_bytes`
    /// while the first backward of a step runs, with the gradients of parameters that it creates
    std::uint64_t first_backward_peak_bytes = 0;
    std::uint64_t step_peak_bytes = 0;  ///< temporaries of the optimizer step

    friend bool operator==(const stage_memory&, const stage_memory&) = default;
};

/// The memory of a stage that PyTorch trains. `has_accumulation`: a step has several microbatches.
[[nodiscard]] stage_memory stage_memory_of(const tape& stage, training_schedule plan, bool has_accumulation);

/// The memory of a rank of a training job.
struct rank_training_memory {
    std::int64_t pipeline_rank = 0;
    std::int64_t num_ranks = 1;  ///< ranks with equal memory
    std::vector<int> stages{};   ///< pipeline stages of the rank
    std::uint64_t num_parameters = 0;
    std::uint64_t parameter_bytes = 0, gradient_bytes = 0, optimizer_bytes = 0, buffer_bytes = 0;
    std::uint64_t gathered_bytes = 0;  ///< of FSDP: parameters of all its stages that stay gathered during a step
    std::uint64_t input_bytes = 0;
    std::uint64_t workspace_bytes = 0;  ///< largest of its stages
    std::uint64_t saved_bytes = 0;      ///< largest sum of the activations of all microbatches
    memory_bytes peak{};
    std::string_view phase{};  ///< of the peak: forward, backward or step
    std::int32_t stage = -1, microbatch = -1;
};

/// The peak of a rank over the actions of a step. `stages`: by stage of the pipeline.
///
///     forward: static + Σ saved of the microbatches in flight + forward_peak
///     backward: static + Σ saved of the other microbatches in flight + backward_peak
///
/// A microbatch is in flight from its forward to the gradient of its weights.
[[nodiscard]] rank_training_memory rank_memory_of(const std::vector<stage_memory>& stages,
                                                  const distributed::rank_actions& actions);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/pipeline_memory.ipp>  // IWYU pragma: export
#endif
