// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/megatron_ranks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/device_mesh.hpp>
#include <llmcost/distributed/megatron_tape.hpp>
#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/pipeline_ranks.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/pipeline_stage.hpp>
#include <llmcost/distributed/schedule_communication.hpp>
#include <llmcost/distributed/sequence_parallel.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

/// The ranks of a job of Megatron-Core.
class megatron_job {
public:
    megatron_job(const model& m, workload load, training_plan plan, const training_parallelism& parallel,
                 const megatron_settings& settings)
        : parallel_(parallel), settings_(settings), mesh_(mesh_of(parallel)) {
        const model padded = megatron_model_of(m, load, plan, parallel, settings);
        recorded_ = record_rank(padded, load, plan, parallel.tensor);
        undivided_ = parallel.tensor > 1 ? record_rank(padded, load, plan, 1).pass : recorded_.pass;
        is_equal_ = sequence_divided_tensors(recorded_.pass, undivided_);
        loss_bytes_ = 4 * static_cast<std::uint64_t>(load.batch) * static_cast<std::uint64_t>(load.sequence);
        divides_sequence_ = parallel.has_sequence_parallel && parallel.tensor > 1;
        const std::vector<std::int32_t> regions = layer_regions_of(recorded_.pass, m.config.num_hidden_layers);
        const auto num_layers = static_cast<std::int64_t>(regions.size());
        for (const stage_layers& layers : divide_layers(num_layers, parallel.pipeline * parallel.stages_per_rank,
                                                        parallel.first_stage_layers, parallel.last_stage_layers))
            add_stage(regions, layers, num_layers);
    }

    [[nodiscard]] training_rank rank(std::int64_t index) const {
        training_rank out{.rank = index, .buffers_bytes = recorded_.pass.buffer_bytes};
        const std::vector<int> places = stages_of(index);
        for (const int s : places) add_state(out, s);
        if (parallel_.pipeline == 1) {
            add_microbatches(out);
        } else {
            for (const int s : places) out.stages.push_back(s);
            add_schedule(out);
        }
        for (const int s : places) reduce_gradients(out, stages_[static_cast<std::size_t>(s)]);
        sum_replicated_gradients(out, places);
        sum_tied_gradients(out, places);
        if (settings_.has_distributed_optimizer)
            for (const int s : places) gather_parameters(out, stages_[static_cast<std::size_t>(s)]);
        return out;
    }

private:
    struct stage {
        pipeline_stage shared{};
        stage_memory state{};
        std::uint64_t replicated_gradient_bytes = 0;  ///< summed over tensor-parallel ranks
        bool is_first = false, is_last = false;
    };

    [[nodiscard]] bool is_equal(std::int32_t t) const { return t >= 0 && is_equal_[static_cast<std::size_t>(t)]; }
    [[nodiscard]] const std::string& module_of(std::size_t node) const {
        return recorded_.pass.modules[static_cast<std::size_t>(recorded_.pass.operands[node].module)];
    }
    [[nodiscard]] std::int64_t num_data_ranks() const { return parallel_.num_replicas() * parallel_.context; }

    /// A collective of tensor-parallel ranks over hidden states of `bytes` on all of them.
    [[nodiscard]] collective_event tensor_event(collective_kind kind, std::uint64_t bytes, std::size_t node,
                                                training_phase phase) const {
        const auto ranks = static_cast<std::uint64_t>(parallel_.tensor);
        return {.kind = kind,
                .axis = mesh_axis::tensor,
                .group_size = parallel_.tensor,
                .in_bytes = kind == collective_kind::all_gather ? bytes / ranks : bytes,
                .out_bytes = kind == collective_kind::reduce_scatter ? bytes / ranks : bytes,
                .type = recorded_.pass.operands[node].output.type,
                .phase = phase,
                .module = module_of(node)};
    }

    /// Adds the collectives of a layer of weights, as the table of `megatron_ranks_of` has them.
    void add_layer(std::vector<collective_event>& forward, std::vector<collective_event>& backward, std::size_t node,
                   bool is_column, std::uint64_t bytes) const {
        using enum collective_kind;
        if (is_column) {
            if (divides_sequence_) forward.push_back(tensor_event(all_gather, bytes, node, training_phase::forward));
            // backward is collected from its end
            if (!divides_sequence_)
                backward.push_back(tensor_event(all_reduce, bytes, node, training_phase::backward));
            else
                for (const collective_kind kind : {reduce_scatter, all_gather})
                    backward.push_back(tensor_event(kind, bytes, node, training_phase::backward));
        } else {
            forward.push_back(
                tensor_event(divides_sequence_ ? reduce_scatter : all_reduce, bytes, node, training_phase::forward));
            if (divides_sequence_) backward.push_back(tensor_event(all_gather, bytes, node, training_phase::backward));
        }
    }

    /// The collectives of the nodes `first` to `end` − 1 in forward and in backward.
    void add_collectives(pipeline_stage& out, std::size_t first, std::size_t end) const {
        if (parallel_.tensor == 1) return;
        std::vector<collective_event> forward, backward;
        std::int32_t column_input = -1;
        bool has_loss = false;
        for (std::size_t i = first; i < end; ++i) {
            const tape_node& n = recorded_.pass.nodes[i];
            if (!std::exchange(has_loss, has_loss || module_of(i) == "loss") && has_loss) add_loss(forward, i);
            const bool has_weight = std::ranges::any_of(n.inputs, [&](const tape_edge& e) {
                return e.parameter >= 0 &&
                       recorded_.pass.parameters[static_cast<std::size_t>(e.parameter)].sizes.size() > 1;
            });
            if (!has_weight) continue;
            const std::int32_t input = n.inputs.front().tensor;
            if (is_product(n.kind) && is_equal(input) && !is_equal(n.output)) {
                if (std::exchange(column_input, input) != input)
                    add_layer(forward, backward, i, true, n.inputs.front().bytes);
            } else if (is_equal(n.output) && (is_product(n.kind) ? !is_equal(input) : is_divided_weight(n))) {
                add_layer(forward, backward, i, false, n.output_bytes);
            }
        }
        std::ranges::reverse(backward);
        out.forward = std::move(forward);
        out.backward = std::move(backward);
    }
    /// Whether tensor parallelism divides the weight that a node reads: that of an embedding.
    [[nodiscard]] bool is_divided_weight(const tape_node& n) const {
        return std::ranges::any_of(n.inputs, [&](const tape_edge& e) {
            return e.parameter >= 0 && !is_replicated(static_cast<std::size_t>(e.parameter));
        });
    }
    [[nodiscard]] bool is_replicated(std::size_t parameter) const {
        return recorded_.pass.parameters[parameter].elements == undivided_.parameters[parameter].elements;
    }
    void add_loss(std::vector<collective_event>& forward, std::size_t node) const {
        const bool is_gathered = settings_.loss == vocabulary_loss::transformer_engine;
        const auto ranks = static_cast<std::uint64_t>(parallel_.tensor);
        for (int i = 0; i < (is_gathered ? 1 : 3); ++i)  // maximum, logit of the label, sum of exponentials
            forward.push_back({.kind = is_gathered ? collective_kind::all_gather : collective_kind::all_reduce,
                               .axis = mesh_axis::tensor,
                               .group_size = parallel_.tensor,
                               .in_bytes = is_gathered ? 3 * loss_bytes_ : loss_bytes_,
                               .out_bytes = is_gathered ? 3 * loss_bytes_ * ranks : loss_bytes_,
                               .type = dtype::float32,
                               .phase = training_phase::forward,
                               .module = module_of(node)});
    }

    void add_stage(const std::vector<std::int32_t>& regions, const stage_layers& layers, std::int64_t num_layers) {
        stage out;
        out.is_first = layers.first == 0;
        out.is_last = layers.end == num_layers;
        pipeline_stage& s = out.shared;
        s.pass = stage_tape_of(recorded_.pass, regions, layers);
        const auto begin_of = [&](std::int64_t layer) {
            if (layer == num_layers) return recorded_.pass.nodes.size();
            return static_cast<std::size_t>(
                std::ranges::find(recorded_.pass.nodes, regions[static_cast<std::size_t>(layer)], &tape_node::region) -
                recorded_.pass.nodes.begin());
        };
        add_collectives(s, out.is_first ? 0 : begin_of(layers.first), begin_of(layers.end));
        set_flops(s);
        const auto ranks = divides_sequence_ ? static_cast<std::uint64_t>(parallel_.tensor) : 1;
        s.sent_bytes = tensor_bytes(s.pass, s.pass.sent) / ranks;
        s.received_bytes = tensor_bytes(s.pass, s.pass.received) / ranks;
        for (const tape_parameter& p : s.pass.parameters) s.type = p.type;
        set_megatron_state(out.state, s.pass, parallel_, settings_.has_distributed_optimizer);
        if (parallel_.tensor > 1)
            for (const tape_parameter& p : s.pass.parameters)
                if (p.is_trainable && is_summed(p)) out.replicated_gradient_bytes += 4 * p.elements;
        stages_.push_back(std::move(out));
    }
    /// Whether tensor-parallel ranks sum the gradient of a parameter: that of a part of the sequence, or of norms of
    /// queries and keys, which have the heads of a rank.
    ///
    /// Source: megatron/core/distributed/finalize_model_grads.py, `_allreduce_non_tensor_model_parallel_grads`.
    [[nodiscard]] bool is_summed(const tape_parameter& p) const {
        const auto index =
            static_cast<std::size_t>(std::ranges::find(recorded_.pass.parameters, p.name, &tape_parameter::name) -
                                     recorded_.pass.parameters.begin());
        if (!is_replicated(index)) return false;
        if (divides_sequence_) return true;
        return std::ranges::any_of(recorded_.pass.nodes, [&](const tape_node& n) {
            return !is_equal(n.output) && std::ranges::any_of(n.inputs, [&](const tape_edge& e) {
                return e.parameter == static_cast<std::int32_t>(index);
            });
        });
    }
    static void set_flops(pipeline_stage& s) {
        for (const tape_node& n : s.pass.nodes) {
            const count flops(n.torch_flops);
            s.forward_flops += flops;
            // fused attention has two products in forward and five in backward (torch/utils/flop_counter.py)
            if (n.kind == op::attention) {
                if (n.has_backward) s.backward_flops += flops * count(5) / count(2);
                continue;
            }
            for (const tape_edge& e : n.inputs)
                if (e.requires_grad) s.backward_flops += flops;
        }
    }

    /// The stages of a rank, in the order of its model chunks.
    [[nodiscard]] std::vector<int> stages_of(std::int64_t rank) const {
        if (parallel_.pipeline == 1) return {0};
        return schedule_of(parallel_).stages_of_rank(static_cast<int>(mesh_.coordinate(rank, mesh_axis::pipeline)));
    }
    void add_state(training_rank& out, int index) const {
        const stage& s = stages_[static_cast<std::size_t>(index)];
        const std::string prefix = parallel_.pipeline == 1 ? "" : "stage " + std::to_string(index) + '.';
        for (const tape_parameter& p : s.shared.pass.parameters) {
            out.parameters.push_back({prefix + p.name, p.sizes, p.elements, p.bytes});
            out.parameters_bytes += p.bytes;
        }
        if (settings_.has_distributed_optimizer) out.padded_parameters_bytes += s.state.parameter_bytes;
        out.gradients_bytes += s.state.gradient_bytes;
        out.optimizer_bytes += s.state.optimizer_bytes;
        out.forward_flops += s.shared.forward_flops * count(parallel_.microbatches);
        out.backward_flops += s.shared.backward_flops * count(parallel_.microbatches);
    }
    void add_microbatches(training_rank& out) const {
        distributed::pipeline_schedule schedule;
        schedule.microbatches = static_cast<int>(parallel_.microbatches);
        stage_progress progress;
        for (int i = 0; i < schedule.microbatches; ++i)
            for (const distributed::action_kind kind :
                 {distributed::action_kind::forward, distributed::action_kind::backward})
                add_action(out, {.stage = 0, .kind = kind, .microbatch = i}, stages_.front().shared, progress, schedule,
                           mesh_);
    }
    void add_schedule(training_rank& out) const {
        const distributed::pipeline_schedule schedule = schedule_of(parallel_);
        const distributed::ranked_actions actions = distributed::add_communication(schedule);
        const auto place = static_cast<std::size_t>(mesh_.coordinate(out.rank, mesh_axis::pipeline));
        std::vector<stage_progress> progress(stages_.size());
        for (const distributed::pipeline_action& action : actions[place])
            distributed::for_each_part(action, [&](const distributed::pipeline_action& part) {
                const auto s = static_cast<std::size_t>(part.stage);
                add_action(out, part, stages_[s].shared, progress[s], schedule, mesh_);
            });
    }

    void add_data_event(training_rank& out, collective_kind kind, std::uint64_t in_bytes, std::uint64_t out_bytes,
                        dtype type, training_phase phase) const {
        out.collectives.push_back({.kind = kind,
                                   .axis = mesh_axis::data,
                                   .group_size = num_data_ranks(),
                                   .in_bytes = in_bytes,
                                   .out_bytes = out_bytes,
                                   .type = type,
                                   .phase = phase});
    }
    void reduce_gradients(training_rank& out, const stage& s) const {
        if (num_data_ranks() == 1) return;
        const std::uint64_t bytes = s.state.gradient_bytes;
        if (settings_.has_distributed_optimizer)
            add_data_event(out, collective_kind::reduce_scatter, bytes,
                           bytes / static_cast<std::uint64_t>(num_data_ranks()), dtype::float32,
                           training_phase::backward);
        else
            add_data_event(out, collective_kind::all_reduce, bytes, bytes, dtype::float32, training_phase::backward);
    }
    void gather_parameters(training_rank& out, const stage& s) const {
        if (num_data_ranks() == 1) return;
        const std::uint64_t bytes = s.state.parameter_bytes;
        add_data_event(out, collective_kind::all_gather, bytes / static_cast<std::uint64_t>(num_data_ranks()), bytes,
                       s.shared.type, training_phase::optimizer);
    }
    void sum_replicated_gradients(training_rank& out, const std::vector<int>& places) const {
        std::uint64_t bytes = 0;
        for (const int s : places) bytes += stages_[static_cast<std::size_t>(s)].replicated_gradient_bytes;
        if (bytes == 0) return;
        out.collectives.push_back({.kind = collective_kind::all_reduce,
                                   .axis = mesh_axis::tensor,
                                   .group_size = parallel_.tensor,
                                   .in_bytes = bytes,
                                   .out_bytes = bytes,
                                   .type = dtype::float32,
                                   .phase = training_phase::backward});
    }
    /// Sums the gradient of an embedding that the last stage has as its head, too.
    void sum_tied_gradients(training_rank& out, const std::vector<int>& places) const {
        if (parallel_.pipeline == 1) return;
        const auto has = [&](bool stage::*member) {
            return std::ranges::any_of(places, [&](int s) { return stages_[static_cast<std::size_t>(s)].*member; });
        };
        if (!has(&stage::is_first) && !has(&stage::is_last)) return;
        for (const tape_parameter& p : stages_.front().shared.pass.parameters)
            for (const tape_parameter& tied : stages_.back().shared.pass.parameters)
                if (p.name == tied.name)
                    out.collectives.push_back({.kind = collective_kind::all_reduce,
                                               .axis = mesh_axis::pipeline,
                                               .group_size = 2,
                                               .in_bytes = 4 * p.elements,
                                               .out_bytes = 4 * p.elements,
                                               .type = dtype::float32,
                                               .phase = training_phase::backward,
                                               .module = p.name.substr(0, p.name.rfind('.'))});
    }

    training_parallelism parallel_;
    megatron_settings settings_;
    device_mesh mesh_;
    recorded_training recorded_{};
    tape undivided_{};
    std::vector<bool> is_equal_{};  ///< by tensor: equal on all tensor-parallel ranks
    std::uint64_t loss_bytes_ = 0;  ///< 4 bytes per token of a microbatch
    bool divides_sequence_ = false;
    std::vector<stage> stages_{};
};

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::string megatron_ranks_error(const model& m, const training_parallelism& parallel,
                                                const megatron_settings& settings) {
    if (parallel.context > 1) return "not supported for --split megatron with --cp";
    if (m.config.moe.num_experts > 1) return "not supported for --split megatron with routed experts";
    if (settings.recomputes_mlps) return "not supported for --split megatron with --recompute-modules mlp";
    return {};
}

LLMCOST_INLINE std::vector<training_rank> megatron_ranks_of(const model& m, workload load, training_plan plan,
                                                            const training_parallelism& parallel,
                                                            const megatron_settings& settings,
                                                            const std::vector<std::int64_t>& ranks) {
    const detail::megatron_job job(m, std::move(load), std::move(plan), parallel, settings);
    std::vector<training_rank> out;
    out.reserve(ranks.size());
    for (const std::int64_t rank : ranks) out.push_back(job.rank(rank));
    return out;
}

}  // namespace llmcost
