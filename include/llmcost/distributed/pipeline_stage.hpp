// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/distributed/device_mesh.hpp>
#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/tape.hpp>

// A stage of a pipeline, and what its actions add to a rank.
namespace llmcost::detail {

/// A stage of a pipeline: what it holds, computes and communicates.
struct pipeline_stage {
    tape pass{};
    std::vector<collective_event> forward{}, backward{};  ///< of a microbatch
    std::vector<collective_event> last_backward{};        ///< of DistributedDataParallel: with its buckets
    std::vector<collective_event> gather{};               ///< of FSDP: all parameters, once in a step
    std::vector<collective_event> reduction{};            ///< of FSDP: all gradients, once in a step
    std::vector<std::int32_t> gradient_order{};           ///< parameters, as their gradients are complete
    std::uint64_t padded_bytes = 0;                       ///< of the parameters of a rank of FSDP
    count forward_flops{}, backward_flops{};
    std::uint64_t sent_bytes = 0;      ///< to the next stage, and received as a gradient
    std::uint64_t received_bytes = 0;  ///< from the previous stage
    dtype type = dtype::float32;       ///< of messages
};

/// What a rank has done with a stage in a step.
struct stage_progress {
    bool is_gathered = false;        ///< FSDP: since the first forward or `UNSHARD`
    int num_complete_gradients = 0;  ///< microbatches whose weight gradients are complete
};

/// Whether data-parallel ranks issue a collective.
[[nodiscard]] bool is_of_data_ranks(const collective_event& c);

/// Appends what an action of a rank computes and communicates.
void add_action(training_rank& rank, const distributed::pipeline_action& action, const pipeline_stage& stage,
                stage_progress& progress, const distributed::pipeline_schedule& schedule, const device_mesh& mesh);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/pipeline_stage.ipp>  // IWYU pragma: export
#endif
