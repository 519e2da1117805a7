// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/training_ranks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/collective_recorder.hpp>
#include <llmcost/distributed/ddp_buckets.hpp>
#include <llmcost/distributed/device_mesh.hpp>
#include <llmcost/distributed/parameter_shards.hpp>
#include <llmcost/distributed/pipeline_ranks.hpp>
#include <llmcost/distributed/tensor_parallel_policy.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/fsdp_units.hpp>
#include <llmcost/memory/optimizer_step.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/timeline.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

/// Names of modules and parameters of a model with an adapter, as PEFT has them.
///
/// Source: peft/peft_model.py, `PeftModel` (`base_model.model`); peft/tuners/tuners_utils.py, `BaseTunerLayer`
/// (`base_layer`).
class peft_names {
public:
    peft_names(const adapter& adapter_config, const std::vector<std::string>& adapted_modules)
        : applies_(adapter_config.is_low_rank() || adapter_config.kind == adapter_kind::ia3),
          adapted_(adapted_modules) {}

    [[nodiscard]] std::string of_module(const std::string& path) const {
        return !applies_ || path.empty() ? path : "base_model.model." + path;
    }
    [[nodiscard]] std::string of_parameter(const tape_parameter& p) const {
        const std::string module = module_of_parameter(p);
        const bool is_base = applies_ && std::ranges::find(adapted_, module) != adapted_.end();
        return of_module(is_base ? module + ".base_layer" + p.name.substr(module.size()) : p.name);
    }

private:
    bool applies_;
    const std::vector<std::string>& adapted_;
};

/// Bytes of the buffers of a model. Mixed precision of FSDP does not convert them.
[[nodiscard]] LLMCOST_INLINE std::uint64_t stored_buffer_bytes(const model& m, workload load,
                                                               const recorded_training& recorded) {
    const dtype stored = recorded.plan.schedule.fsdp.stored_type;
    if (stored == dtype::unspecified || stored == load.weights) return recorded.pass.buffer_bytes;
    load.weights = load.activations = stored;
    return record_training(m, load, recorded.plan).pass.buffer_bytes;
}

/// Adds the all-reduce of `clip_grad_norm_`: the norms of all gradients, 4 bytes each.
///
/// Source: torch/nn/utils/clip_grad.py, `_get_total_norm` (a norm of DTensors is a partial sum until it is used).
LLMCOST_INLINE void add_clipping(std::vector<collective_event>& collectives, const training_schedule& plan,
                                 std::size_t num_gradients) {
    if (!plan.clips_gradients || plan.sharding != sharding_strategy::fsdp) return;
    collectives.push_back({.kind = collective_kind::all_reduce,
                           .axis = mesh_axis::data,
                           .group_size = plan.data_parallel_size,
                           .in_bytes = 4 * num_gradients,
                           .out_bytes = 4 * num_gradients,
                           .type = dtype::float32,
                           .phase = training_phase::clip});
}

/// The step of a tensor-parallel rank, from which those of its data-parallel ranks follow.
class rank_recording {
public:
    rank_recording(const model& m, const workload& load, const training_plan& plan,
                   const training_parallelism& parallel, std::int64_t tensor_coordinate);
    [[nodiscard]] training_rank rank(std::int64_t rank, const device_mesh& mesh) const;
    [[nodiscard]] const recorded_training& recorded() const noexcept { return recorded_; }
    /// Bytes of each all-reduce of a loss over divided logits.
    [[nodiscard]] std::uint64_t loss_sum_bytes() const noexcept { return loss_sum_bytes_; }

private:
    [[nodiscard]] const training_schedule& schedule() const noexcept { return recorded_.plan.schedule; }
    [[nodiscard]] bool is_sharded() const noexcept {
        return schedule().sharding == sharding_strategy::fsdp && schedule().data_parallel_size > 1;
    }
    [[nodiscard]] bool has_gradient(std::size_t parameter) const {
        return std::ranges::find(gradient_order_, static_cast<std::int32_t>(parameter)) != gradient_order_.end();
    }
    void record(const model& m, const workload& load);
    void add_optimizer_sums();

    /// FLOPs of attention to keys of other ranks, relative to those to its own keys.
    ///
    /// A rank has one piece from each end of the sequence. Of the keys of earlier ranks it reads a half with all
    /// queries, of those of later ranks all with a half of its queries. Source:
    /// torch/distributed/tensor/experimental/_context_parallel/_attention.py, `_templated_ring_attention`.
    [[nodiscard]] count remote_attention_flops() const;

    std::optional<tensor_parallel_policy> policy_;
    training_parallelism parallel_;
    training_plan plan_;
    recorded_training recorded_{};
    std::vector<std::int32_t> gradient_order_{};  ///< parameters, as their gradients are complete
    memory_timeline timeline_{};
    std::vector<collective_event> collectives_{};
    std::vector<computed_part> parts_{};
    std::uint64_t padded_bytes_ = 0, buffers_bytes_ = 0, loss_sum_bytes_ = 0;
};

LLMCOST_INLINE rank_recording::rank_recording(const model& m, const workload& load, const training_plan& plan,
                                              const training_parallelism& parallel, std::int64_t tensor_coordinate)
    : parallel_(parallel), plan_(plan) {
    workload part = load;
    part.sequence /= parallel.context;
    if (parallel.tensor > 1 || parallel.expert > 1) {
        policy_.emplace(m, parallel, tensor_coordinate);
        plan_.parallel_policy = &*policy_;
        record(policy_->shard(m), part);
    } else {
        record(m, part);
    }
}

LLMCOST_INLINE count rank_recording::remote_attention_flops() const {
    count flops;
    for (const tape_node& n : recorded_.pass.nodes)
        if (n.kind == op::attention) flops += count(n.torch_flops);
    return flops * count(parallel_.context - 1) / count(2);
}

LLMCOST_INLINE void rank_recording::record(const model& m, const workload& load) {
    recorded_ = record_training(m, load, plan_, parallel_.context > 1);
    if (policy_) policy_->mark_parameters(recorded_.pass, is_sharded());
    collective_recorder recorder(recorded_.pass, schedule(), parallel_);
    if (policy_ && policy_->has_divided_logits())
        loss_sum_bytes_ = 4 * static_cast<std::uint64_t>(load.batch) * static_cast<std::uint64_t>(load.sequence);
    recorder.set_loss_sum(loss_sum_bytes_);
    if (schedule().sharding == sharding_strategy::ddp && schedule().data_parallel_size > 1) {
        collective_recorder first_step(recorded_.pass, schedule(), parallel_);
        (void)replay_training(recorded_.pass, schedule(), &first_step);
        recorder.set_buckets(ddp_buckets_of(recorded_.pass, first_step.gradient_order(), schedule().bucket_bytes));
    }
    timeline_ = replay_training(recorded_.pass, schedule(), &recorder);
    collectives_ = recorder.collectives();
    parts_ = recorder.computed_parts();
    gradient_order_ = recorder.gradient_order();
    add_clipping(collectives_, schedule(), gradient_order_.size());
    add_optimizer_sums();
    const peft_names names(recorded_.plan.adapter_config, recorded_.run.adapted_modules);
    for (collective_event& c : collectives_) c.module = names.of_module(c.module);
    if (is_sharded() && schedule().fsdp.wrapping == fsdp_wrapping::layers)
        for (const fsdp_unit& unit : fsdp_units_of(recorded_.pass, schedule().fsdp))
            for (const std::int32_t p : unit.parameters)
                padded_bytes_ += fsdp_part(recorded_.pass.parameters[static_cast<std::size_t>(p)], schedule(), 0).bytes;
    buffers_bytes_ = stored_buffer_bytes(m, load, recorded_);
}

/// Adds the sums of gradients that AdamW reads along a divided sequence, one for each of its three reads.
///
/// Source: torch/optim/adam.py, `_single_tensor_adam` (`lerp_`, and both factors of `addcmul_`).
LLMCOST_INLINE void rank_recording::add_optimizer_sums() {
    constexpr int num_reads = 3;
    if (is_sharded()) return;
    for (std::size_t i = 0; i < recorded_.pass.parameters.size(); ++i) {
        const tape_parameter& p = recorded_.pass.parameters[i];
        if (p.gradient_sum_over_ranks != gradient_sum_kind::before_use || !has_gradient(i)) continue;
        for (int read = 0; read < num_reads; ++read)
            collectives_.push_back({.kind = collective_kind::all_reduce,
                                    .axis = mesh_axis::tensor,
                                    .group_size = schedule().tensor_parallel_size,
                                    .in_bytes = p.bytes,
                                    .out_bytes = p.bytes,
                                    .type = p.type,
                                    .phase = training_phase::optimizer});
    }
}

LLMCOST_INLINE training_rank rank_recording::rank(std::int64_t rank, const device_mesh& mesh) const {
    const count passes(schedule().gradient_accumulation_steps);
    const model_metrics& metrics = recorded_.run.pass_metrics;
    const count remote = remote_attention_flops();  // backward of fused attention has five products, forward two
    const bool has_saved_bytes = parallel_.context == 1 && buffers_bytes_ == recorded_.pass.buffer_bytes;
    training_rank r{
        .rank = rank,
        .padded_parameters_bytes = padded_bytes_,
        .buffers_bytes = buffers_bytes_,
        .saved_bytes = has_saved_bytes ? std::optional(timeline_.saved_bytes) : std::nullopt,
        .forward_flops = (metrics.torch_flops + remote) * passes,
        .backward_flops =
            (metrics.backward_torch_flops + count(timeline_.recomputed_flops) + remote * count(5) / count(2)) * passes,
        .collectives = collectives_,
        .parts = parts_};
    const peft_names names(recorded_.plan.adapter_config, recorded_.run.adapted_modules);
    std::vector<tape_parameter> updated;
    for (std::size_t i = 0; i < recorded_.pass.parameters.size(); ++i) {
        const tape_parameter& parameter = recorded_.pass.parameters[i];
        tape_parameter part = is_sharded()
                                  ? fsdp_part(parameter, schedule(), data_coordinate(parallel_, mesh, rank, parameter))
                                  : parameter;
        r.parameters.push_back({names.of_parameter(parameter), part.sizes, part.elements, part.bytes});
        r.parameters_bytes += part.bytes;
        if (!has_gradient(i)) continue;
        r.gradients_bytes += is_sharded() ? part.bytes : part.gradient_bytes();
        updated.push_back(std::move(part));
    }
    r.optimizer_bytes = compute_optimizer_memory(*schedule().optimizer, schedule().galore_rank, updated, true).state;
    return r;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<training_rank> training_ranks_of(const model& m, const workload& load, training_plan plan,
                                                            const training_parallelism& parallel,
                                                            const std::vector<std::int64_t>& ranks) {
    const device_mesh mesh = mesh_of(parallel);
    plan.schedule.tensor_parallel_size = parallel.tensor;
    plan.schedule.expert_data_parallel_size = parallel.expert_data() / parallel.data_replicate;
    std::map<std::int64_t, std::vector<std::size_t>> by_coordinate;  // indices in `ranks`
    for (std::size_t i = 0; i < ranks.size(); ++i)
        by_coordinate[mesh.coordinate(ranks[i], mesh_axis::tensor)].push_back(i);
    std::vector<training_rank> out(ranks.size());
    for (const auto& [coordinate, indices] : by_coordinate) {
        const detail::rank_recording recording(m, load, plan, parallel, coordinate);
        std::vector<std::int64_t> group;
        for (const std::size_t i : indices) group.push_back(ranks[i]);
        std::vector<training_rank> found;
        if (parallel.pipeline > 1)
            found = pipeline_ranks_of(recording.recorded(), m.config.num_hidden_layers, parallel, group,
                                      recording.loss_sum_bytes());
        else
            for (const std::int64_t rank : group) found.push_back(recording.rank(rank, mesh));
        for (std::size_t i = 0; i < indices.size(); ++i) out[indices[i]] = std::move(found[i]);
    }
    return out;
}

}  // namespace llmcost
