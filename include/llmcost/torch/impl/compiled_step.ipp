// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/compiled_step.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/torch/fusion.hpp>
#include <llmcost/torch/fusion_group.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_list.hpp>
#include <llmcost/torch/kernel_operands.hpp>
#include <llmcost/torch/partition.hpp>
#include <llmcost/torch/step.hpp>
#include <llmcost/torch/tape_graph.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

/// A Triton kernel of fused operators.
///
/// Names: torch/_inductor/codegen/triton.py, `TritonScheduling.define_kernel`: `poi` is pointwise, `per` a reduction
/// whose elements a block holds at once (up to 1,024), `red` one in a loop.
[[nodiscard]] LLMCOST_INLINE torch_kernel triton_kernel(const joint_graph& graph, const fusion_group& group) {
    constexpr std::uint64_t max_persistent = 1024;
    torch_kernel k;
    const fx_node& last = graph.nodes[static_cast<std::size_t>(group.nodes.back())];
    k.name = !group.has_reduction                                            ? "triton_poi_fused"
             : group.reduced <= max_persistent && !group.is_column_reduction ? "triton_per_fused"
                                                                             : "triton_red_fused";
    k.kind = !group.has_reduction        ? torch_kernel_kind::elementwise
             : group.is_column_reduction ? torch_kernel_kind::column_reduction
                                         : torch_kernel_kind::row_reduction;
    k.type = last.type;
    k.node = last.tape_node;
    k.bytes_read = group.bytes_read;
    k.bytes_written = group.bytes_written;
    const auto results = static_cast<std::int64_t>(group.elements), reduced = static_cast<std::int64_t>(group.reduced);
    k.rows = group.is_column_reduction ? reduced : results;
    k.columns = group.is_column_reduction ? results : reduced;
    add_operand(k, group.has_reduction ? shape(k.rows, k.columns) : shape(results));
    k.operators = group.operators;
    return k;
}

/// The operations of a kernel. The time of a fused kernel is divided in proportion to the elements of its operators.
LLMCOST_INLINE void set_operations(const fusion_group& group, const std::vector<std::int32_t>& operations,
                                   torch_kernel& k) {
    if (k.node >= 0) k.operation = operations[static_cast<std::size_t>(k.node)];
    std::map<std::int32_t, double> elements;
    double sum = 0;
    for (const fused_operator& o : group.fused_operators) {
        if (o.tape_node < 0) continue;
        const auto n = static_cast<double>(std::max<std::uint64_t>(o.elements, 1));
        elements[operations[static_cast<std::size_t>(o.tape_node)]] += n;
        sum += n;
    }
    if (elements.size() > 1)
        for (const auto& [operation, n] : elements) k.shares.push_back({operation, n / sum});
    else if (elements.size() == 1)
        k.operation = elements.begin()->first;
}

/// The kernels of a graph. `operations`: those of the nodes of the tape.
LLMCOST_INLINE void add_kernels(const joint_graph& graph, const std::vector<fusion_group>& groups, const tape& pass,
                                const std::vector<std::int32_t>& operations, step_phase phase,
                                std::vector<torch_kernel>& out) {
    for (const fusion_group& group : groups) {
        std::vector<torch_kernel> kernels = group.kernels;
        if (!group.is_external) kernels.push_back(triton_kernel(graph, group));
        for (torch_kernel& k : kernels) {
            k.phase = phase;
            if (group.is_external && !group.fused_operators.empty()) k.node = group.fused_operators.front().tape_node;
            const std::int32_t output = k.node >= 0 ? pass.nodes[static_cast<std::size_t>(k.node)].output : -1;
            if (output >= 0)
                k.num_repetitions = static_cast<std::int64_t>(
                    std::max<std::uint64_t>(pass.tensors[static_cast<std::size_t>(output)].num_time_steps, 1));
            set_operations(group, operations, k);
            out.push_back(std::move(k));
        }
    }
}

/// The zeros that autograd passes as gradients of outputs without one, and the one of the loss.
///
/// Source: torch/csrc/autograd/python_function.cpp, `PyNode::apply` (`materialize_grads`).
LLMCOST_INLINE void add_tangents(const compiled_model& compiled, const std::vector<std::int32_t>& operations,
                                 std::vector<torch_kernel>& out) {
    for (const std::int32_t i : compiled.partition.backward) {
        const fx_node& n = compiled.graph.nodes[static_cast<std::size_t>(i)];
        if (n.kind != fx_node_kind::tangent) continue;
        torch_kernel k;
        k.name = "aten::fill_";
        k.kind = torch_kernel_kind::fill;
        k.phase = step_phase::backward;
        k.type = n.type;
        k.bytes_written = n.bytes;
        k.node = n.tape_node;
        k.operation = operations[static_cast<std::size_t>(n.tape_node)];
        add_operand(k, n.sizes);
        out.push_back(k);
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE inductor_device inductor_device_of(const device& d) noexcept {
    inductor_device out;
    if (d.num_compute_units > 0) out.num_multiprocessors = static_cast<std::uint64_t>(d.num_compute_units);
    return out;
}

LLMCOST_INLINE literal compile_conflict(const training_plan& plan) noexcept {
    const training_schedule& s = plan.schedule;
    if (s.recompute != recompute_mode::none) return "activation checkpointing";
    if (plan.loss == training_loss::fused) return "a fused loss";
    if (!plan.base_quantization.none()) return "quantized weights";
    if (s.data_parallel_size > 1 && s.sharding != sharding_strategy::ddp) return "sharding";
    if (s.offloads_activations || s.offloads_optimizer) return "offloading";
    return s.updates_in_backward() ? "an optimizer that runs in backward" : "";
}

LLMCOST_INLINE compiled_model compile_training(const tape& pass, const inductor_device& device) {
    compiled_model out;
    out.graph = build_joint_graph(pass, true);
    out.partition = partition_graph(out.graph);
    std::vector<std::int32_t> stored(out.graph.forward_outputs);
    stored.insert(stored.end(), out.partition.saved.begin(), out.partition.saved.end());
    out.forward = fuse_graph(out.graph, out.partition.forward, stored, device);
    out.backward = fuse_graph(out.graph, out.partition.backward, out.graph.backward_outputs, device);
    return out;
}

LLMCOST_INLINE std::vector<torch_kernel> compiled_training_kernels(const model& m, const workload& load,
                                                                   training_plan plan, const inductor_device& device) {
    if (!is_empty(compile_conflict(plan)))
        throw_description_error("torch.compile: not supported with the options of the training plan");
    const recorded_training recorded = record_training(m, load, std::move(plan), true);
    const compiled_model compiled = compile_training(recorded.pass, device);
    const std::vector<std::int32_t> operations = detail::operations_of_nodes(recorded.pass);
    std::vector<torch_kernel> out;
    detail::add_kernels(compiled.graph, compiled.forward, recorded.pass, operations, step_phase::forward, out);
    detail::add_tangents(compiled, operations, out);
    detail::add_kernels(compiled.graph, compiled.backward, recorded.pass, operations, step_phase::backward, out);
    // sums of gradients over passes, and the optimizer, are not compiled
    kernel_listener eager(recorded.pass, recorded.plan.schedule);
    (void)replay_training(recorded.pass, recorded.plan.schedule, &eager);
    detail::set_operations(recorded.pass, eager.kernels);
    for (torch_kernel& k : eager.kernels)
        if (k.is_accumulation || k.phase == step_phase::optimizer) out.push_back(std::move(k));
    return out;
}

LLMCOST_INLINE std::vector<torch_kernel> compiled_forward_kernels(const model& m, const workload& load,
                                                                  const inductor_device& device) {
    tape pass;
    detail::tape_listener recorded{pass, {.records_operands = true}};
    workload typed = with_storage_types(load, storage_types_of(m, load));
    typed.uses_workload_dtypes = true;
    trace t{typed, &recorded};
    pass.output = recorded.tensor_id(m.forward(t));
    compiled_model compiled;
    compiled.graph = build_joint_graph(pass, false);
    compiled.partition.forward.resize(compiled.graph.nodes.size());
    for (std::size_t i = 0; i < compiled.graph.nodes.size(); ++i)
        compiled.partition.forward[i] = static_cast<std::int32_t>(i);
    compiled.forward = fuse_graph(compiled.graph, compiled.partition.forward, compiled.graph.forward_outputs, device);
    std::vector<torch_kernel> out;
    detail::add_kernels(compiled.graph, compiled.forward, pass, detail::operations_of_nodes(pass), step_phase::forward,
                        out);
    return out;
}

LLMCOST_INLINE torch_step time_compiled_training_step(const model& m, const workload& load, const training_plan& plan,
                                                      const device& device, double host_microseconds, tf32_mode tf32) {
    torch_step step = time_kernels(compiled_training_kernels(m, load, plan, inductor_device_of(device)),
                                   static_cast<double>(plan.schedule.gradient_accumulation_steps), device,
                                   host_microseconds, tf32, true);
    step.is_compiled = true;
    return step;
}

LLMCOST_INLINE torch_step time_compiled_forward_pass(const model& m, const workload& load, const device& device,
                                                     double host_microseconds, tf32_mode tf32) {
    torch_step step = time_kernels(compiled_forward_kernels(m, load, inductor_device_of(device)), 1, device,
                                   host_microseconds, tf32, false);
    step.is_compiled = true;
    return step;
}

}  // namespace llmcost
