// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/pipeline_ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/device_mesh.hpp>
#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_communication.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/timeline.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

/// Collects the collectives of a pass in forward and in backward.
class stage_collectives final : public replay_observer {
public:
    void on_collective(const collective_event& event) override {
        (event.phase == training_phase::forward ? forward : backward).push_back(event);
    }
    std::vector<collective_event> forward, backward;
};

/// A stage of a pipeline: what it holds, computes and communicates in one microbatch.
struct pipeline_stage {
    tape pass{};
    stage_collectives collectives{};
    count forward_flops{}, backward_flops{};
    std::uint64_t sent_bytes = 0;      ///< to the next stage, and received as a gradient
    std::uint64_t received_bytes = 0;  ///< from the previous stage
    dtype type = dtype::float32;       ///< of messages
};

[[nodiscard]] LLMCOST_INLINE pipeline_stage make_stage(const recorded_training& recorded,
                                                       const std::vector<std::int32_t>& regions,
                                                       const stage_layers& layers) {
    pipeline_stage out{.pass = stage_tape_of(recorded.pass, regions, layers)};
    training_schedule one_pass = recorded.plan.schedule;
    one_pass.gradient_accumulation_steps = 1;
    (void)replay_training(out.pass, one_pass, &out.collectives);
    for (const tape_node& n : out.pass.nodes) {
        out.forward_flops += count(n.torch_flops);
        // fused attention has two products in forward and five in backward (torch/utils/flop_counter.py,
        // `sdpa_backward_flop_count`)
        if (n.kind == op::attention) {
            if (n.has_backward) out.backward_flops += count(n.torch_flops) * count(5) / count(2);
            continue;
        }
        for (const tape_edge& e : n.inputs)
            if (e.requires_grad) out.backward_flops += count(n.torch_flops);
    }
    out.sent_bytes = tensor_bytes(out.pass, out.pass.sent);
    out.received_bytes = tensor_bytes(out.pass, out.pass.received);
    for (const tape_parameter& p : out.pass.parameters) out.type = p.type;
    return out;
}

/// Appends what an action of a rank computes and communicates.
LLMCOST_INLINE void add_action(training_rank& rank, const distributed::pipeline_action& action,
                               const pipeline_stage& stage, const distributed::pipeline_schedule& schedule,
                               const device_mesh& mesh) {
    using distributed::action_kind;
    const bool is_forward = action.kind == action_kind::send_forward || action.kind == action_kind::recv_forward;
    const bool is_send = action.kind == action_kind::send_forward || action.kind == action_kind::send_backward;
    const auto compute = [&](training_phase phase, count flops, const std::vector<collective_event>& collectives) {
        rank.parts.push_back({.next_collective = rank.collectives.size(), .phase = phase, .flops = flops.to_64()});
        rank.collectives.insert(rank.collectives.end(), collectives.begin(), collectives.end());
    };
    switch (action.kind) {
        case action_kind::forward:
            return compute(training_phase::forward, stage.forward_flops, stage.collectives.forward);
        case action_kind::backward:
            return compute(training_phase::backward, stage.backward_flops, stage.collectives.backward);
        case action_kind::backward_input:  // gradients of inputs and of weights are equally many products
            return compute(training_phase::backward, stage.backward_flops / count(2), stage.collectives.backward);
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

namespace llmcost {

LLMCOST_INLINE distributed::pipeline_schedule schedule_of(const training_parallelism& parallel) {
    using distributed::schedule_kind;
    schedule_kind kind = distributed::parse_schedule_name(parallel.schedule);
    if (kind == schedule_kind::one_forward_one_backward && parallel.stages_per_rank > 1)
        kind = schedule_kind::interleaved;
    return distributed::make_pipeline_schedule(kind, static_cast<int>(parallel.pipeline),
                                               static_cast<int>(parallel.stages_per_rank),
                                               static_cast<int>(parallel.microbatches));
}

LLMCOST_INLINE std::vector<training_rank> pipeline_ranks_of(const recorded_training& recorded, std::int64_t num_layers,
                                                            const training_parallelism& parallel,
                                                            const std::vector<std::int64_t>& ranks) {
    const distributed::pipeline_schedule schedule = schedule_of(parallel);
    const distributed::ranked_actions actions = distributed::add_communication(schedule);
    const std::vector<std::int32_t> regions = layer_regions_of(recorded.pass, num_layers);
    std::vector<detail::pipeline_stage> stages;
    for (const stage_layers& layers : divide_layers(static_cast<std::int64_t>(regions.size()), schedule.num_stages(),
                                                    parallel.first_stage_layers, parallel.last_stage_layers))
        stages.push_back(detail::make_stage(recorded, regions, layers));
    const device_mesh mesh = mesh_of(parallel);
    std::vector<training_rank> out;
    for (const std::int64_t rank : ranks) {
        const auto place = static_cast<int>(mesh.coordinate(rank, mesh_axis::pipeline));
        training_rank r{.rank = rank, .buffers_bytes = recorded.pass.buffer_bytes};
        std::vector<tape_parameter> updated;
        for (const int index : schedule.stages_of_rank(place)) {
            const detail::pipeline_stage& stage = stages[static_cast<std::size_t>(index)];
            const std::string prefix = "stage " + std::to_string(index) + '.';
            r.stages.push_back(index);
            r.forward_flops += stage.forward_flops * count(parallel.microbatches);
            r.backward_flops += stage.backward_flops * count(parallel.microbatches);
            for (const tape_parameter& p : stage.pass.parameters) {
                r.parameters.push_back({prefix + p.name, p.sizes, p.elements, p.bytes});
                r.parameters_bytes += p.bytes;
                if (!p.is_trainable) continue;
                r.gradients_bytes += p.bytes;
                updated.push_back(p);
            }
        }
        const training_schedule& plan = recorded.plan.schedule;
        r.optimizer_bytes = detail::compute_optimizer_memory(*plan.optimizer, plan.galore_rank, updated, true).state;
        for (const distributed::pipeline_action& action : actions[static_cast<std::size_t>(place)])
            distributed::for_each_part(action, [&](const distributed::pipeline_action& part) {
                detail::add_action(r, part, stages[static_cast<std::size_t>(part.stage)], schedule, mesh);
            });
        out.push_back(std::move(r));
    }
    return out;
}

}  // namespace llmcost
