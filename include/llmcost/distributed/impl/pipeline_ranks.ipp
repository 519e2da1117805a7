// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/pipeline_ranks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/collective_recorder.hpp>
#include <llmcost/distributed/ddp_buckets.hpp>
#include <llmcost/distributed/device_mesh.hpp>
#include <llmcost/distributed/parameter_shards.hpp>
#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/pipeline_stage.hpp>
#include <llmcost/distributed/schedule_communication.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/fsdp_units.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/timeline.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

/// Separates the collectives of FSDP from those of a microbatch.
///
/// Stages stay gathered during a step. Their gradients are summed over the microbatches, and reduced at the end. Norms
/// along a divided sequence are summed over tensor-parallel ranks by their unit, before it reduces.
/// Source: torch/distributed/pipelining/stage.py, `backward_maybe_with_nosync`, `start_gradient_reduction`.
LLMCOST_INLINE void separate_fsdp(pipeline_stage& stage, const training_schedule& plan) {
    const std::vector<fsdp_unit> units = fsdp_units_of(stage.pass, plan.fsdp);
    const auto belongs_to_unit = [&](const collective_event& c) {
        return is_of_data_ranks(c) || (c.kind == collective_kind::all_reduce &&
                                       std::ranges::find(units, c.module, &fsdp_unit::name) != units.end());
    };
    const auto move_from = [&](std::vector<collective_event>& from, std::vector<collective_event>& to) {
        std::ranges::copy_if(from, std::back_inserter(to), belongs_to_unit);
        std::erase_if(from, belongs_to_unit);
    };
    move_from(stage.forward, stage.gather);
    move_from(stage.backward, stage.reduction);
    for (const tape_parameter& p : stage.pass.parameters) stage.padded_bytes += fsdp_part(p, plan, 0).bytes;
}

[[nodiscard]] LLMCOST_INLINE pipeline_stage make_stage(const recorded_training& recorded,
                                                       const std::vector<std::int32_t>& regions,
                                                       const stage_layers& layers, const training_parallelism& parallel,
                                                       std::uint64_t loss_sum_bytes) {
    pipeline_stage out{.pass = stage_tape_of(recorded.pass, regions, layers)};
    training_schedule one_pass = recorded.plan.schedule;
    one_pass.gradient_accumulation_steps = 1;
    one_pass.fsdp.reshards_after_forward = false;
    one_pass.sync = gradient_sync::all;
    const bool is_ddp = one_pass.sharding == sharding_strategy::ddp && one_pass.data_parallel_size > 1;
    collective_recorder recorder(out.pass, one_pass, parallel);
    if (layers.end == static_cast<std::int64_t>(regions.size())) recorder.set_loss_sum(loss_sum_bytes);
    (void)replay_training(out.pass, one_pass, &recorder);
    out.gradient_order = recorder.gradient_order();
    const auto add_events = [](const collective_recorder& from, std::vector<collective_event>* forward,
                               std::vector<collective_event>& backward) {
        for (const collective_event& c : from.collectives())
            if (c.phase == training_phase::backward)
                backward.push_back(c);
            else if (forward != nullptr)
                forward->push_back(c);
    };
    add_events(recorder, &out.forward, out.backward);
    if (one_pass.sharding == sharding_strategy::fsdp && one_pass.data_parallel_size > 1) separate_fsdp(out, one_pass);
    if (is_ddp) {
        collective_recorder last(out.pass, one_pass, parallel);
        last.set_buckets(ddp_buckets_of(out.pass, out.gradient_order, one_pass.bucket_bytes));
        (void)replay_training(out.pass, one_pass, &last);
        add_events(last, nullptr, out.last_backward);
    }
    for (const tape_node& n : out.pass.nodes) {
        // fused attention reads the keys of other context-parallel ranks, too
        // (`rank_recording::remote_attention_flops`)
        const count ranks(n.kind == op::attention ? parallel.context + 1 : 2);
        const count flops = count(n.torch_flops) * ranks / count(2);
        out.forward_flops += flops;
        // fused attention has two products in forward and five in backward (torch/utils/flop_counter.py,
        // `sdpa_backward_flop_count`)
        if (n.kind == op::attention) {
            if (n.has_backward) out.backward_flops += flops * count(5) / count(2);
            continue;
        }
        for (const tape_edge& e : n.inputs)
            if (e.requires_grad) out.backward_flops += flops;
    }
    out.sent_bytes = tensor_bytes(out.pass, out.pass.sent);
    out.received_bytes = tensor_bytes(out.pass, out.pass.received);
    for (const tape_parameter& p : out.pass.parameters) out.type = p.type;
    return out;
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

LLMCOST_INLINE bool has_separate_weight_gradients(const distributed::pipeline_schedule& schedule) noexcept {
    return std::ranges::any_of(schedule.order, [](const distributed::rank_actions& actions) {
        return std::ranges::find(actions, distributed::action_kind::backward_weight,
                                 &distributed::pipeline_action::kind) != actions.end();
    });
}

LLMCOST_INLINE std::vector<training_rank> pipeline_ranks_of(const recorded_training& recorded, std::int64_t num_layers,
                                                            const training_parallelism& parallel,
                                                            const std::vector<std::int64_t>& ranks,
                                                            std::uint64_t loss_sum_bytes) {
    const distributed::pipeline_schedule schedule = schedule_of(parallel);
    const distributed::ranked_actions actions = distributed::add_communication(schedule);
    const std::vector<std::int32_t> regions = layer_regions_of(recorded.pass, num_layers);
    std::vector<detail::pipeline_stage> stages;
    for (const stage_layers& layers : divide_layers(static_cast<std::int64_t>(regions.size()), schedule.num_stages(),
                                                    parallel.first_stage_layers, parallel.last_stage_layers))
        stages.push_back(detail::make_stage(recorded, regions, layers, parallel, loss_sum_bytes));
    const device_mesh mesh = mesh_of(parallel);
    const training_schedule& plan = recorded.plan.schedule;
    const bool is_sharded = plan.sharding == sharding_strategy::fsdp && plan.data_parallel_size > 1;
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
            r.padded_parameters_bytes += stage.padded_bytes;
            for (const tape_parameter& p : stage.pass.parameters) {
                const tape_parameter part =
                    is_sharded ? detail::fsdp_part(p, plan, detail::data_coordinate(parallel, mesh, rank, p)) : p;
                r.parameters.push_back({prefix + p.name, part.sizes, part.elements, part.bytes});
                r.parameters_bytes += part.bytes;
                if (!p.is_trainable) continue;
                r.gradients_bytes += part.bytes;
                updated.push_back(part);
            }
        }
        r.optimizer_bytes = detail::compute_optimizer_memory(*plan.optimizer, plan.galore_rank, updated, true).state;
        std::vector<detail::stage_progress> progress(stages.size());
        for (const distributed::pipeline_action& action : actions[static_cast<std::size_t>(place)])
            distributed::for_each_part(action, [&](const distributed::pipeline_action& part) {
                const auto stage = static_cast<std::size_t>(part.stage);
                detail::add_action(r, part, stages[stage], progress[stage], schedule, mesh);
            });
        out.push_back(std::move(r));
    }
    return out;
}

}  // namespace llmcost
