// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/pipeline_stage.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/device_mesh.hpp>
#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::detail {

LLMCOST_INLINE bool is_of_data_ranks(const collective_event& c) {
    return c.axis == mesh_axis::data || c.axis == mesh_axis::data_replicate || c.axis == mesh_axis::fully_sharded ||
           c.axis == mesh_axis::expert_data;
}

LLMCOST_INLINE void add_action(training_rank& rank, const distributed::pipeline_action& action,
                               const pipeline_stage& stage, stage_progress& progress,
                               const distributed::pipeline_schedule& schedule, const device_mesh& mesh) {
    using distributed::action_kind;
    const bool is_forward = action.kind == action_kind::send_forward || action.kind == action_kind::recv_forward;
    const bool is_send = action.kind == action_kind::send_forward || action.kind == action_kind::send_backward;
    const auto compute = [&](training_phase phase, count flops, const std::vector<collective_event>& collectives) {
        rank.parts.push_back({.next_collective = rank.collectives.size(), .phase = phase, .flops = flops.to_64()});
        rank.collectives.insert(rank.collectives.end(), collectives.begin(), collectives.end());
    };
    const auto communicate = [&](const std::vector<collective_event>& collectives) {
        rank.collectives.insert(rank.collectives.end(), collectives.begin(), collectives.end());
    };
    if (has_weight_gradient(action.kind)) ++progress.num_complete_gradients;
    // DistributedDataParallel reduces in the backward of the last microbatch
    const bool is_last = progress.num_complete_gradients == schedule.microbatches && !stage.last_backward.empty();
    switch (action.kind) {
        case action_kind::unshard: progress.is_gathered = true; return communicate(stage.gather);
        case action_kind::reduce_gradient: return communicate(stage.reduction);
        case action_kind::forward:
            // without `UNSHARD`, the hooks of FSDP gather in the first forward
            if (!std::exchange(progress.is_gathered, true)) communicate(stage.gather);
            return compute(training_phase::forward, stage.forward_flops, stage.forward);
        case action_kind::backward:
            return compute(training_phase::backward, stage.backward_flops,
                           is_last ? stage.last_backward : stage.backward);
        case action_kind::backward_input:  // gradients of inputs and of weights are equally many products
            return compute(training_phase::backward, stage.backward_flops / count(2), stage.backward);
        case action_kind::backward_weight:
            return compute(training_phase::backward, stage.backward_flops / count(2), {});
        case action_kind::send_forward:
        case action_kind::recv_forward:
        case action_kind::send_backward:
        case action_kind::recv_backward: break;
        default: return;
    }
    const bool is_to_next = action.kind == action_kind::send_forward || action.kind == action_kind::recv_backward;
    const int other = schedule.rank_of_stage(action.stage + (is_to_next ? 1 : -1));
    const std::uint64_t bytes = is_to_next ? stage.sent_bytes : stage.received_bytes;
    const int receiving_stage = is_send ? action.stage + (is_to_next ? 1 : -1) : action.stage;
    rank.collectives.push_back(
        {.kind = is_send ? collective_kind::send : collective_kind::recv,
         .axis = mesh_axis::pipeline,
         .group_size = schedule.ranks,
         .in_bytes = is_send ? bytes : 0,
         .out_bytes = is_send ? 0 : bytes,
         .type = stage.type,
         .phase = is_forward ? training_phase::forward : training_phase::backward,
         .module = "stage " + std::to_string(action.stage) + " microbatch " + std::to_string(action.microbatch),
         .tag = 2 * (receiving_stage * schedule.microbatches + action.microbatch) + (is_forward ? 0 : 1),
         .peer = mesh.peer(rank.rank, mesh_axis::pipeline, other)});
}

}  // namespace llmcost::detail
