// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/tape_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/graph_builder.hpp>
#include <llmcost/torch/graph_rules.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/kernel_operands.hpp>
#include <llmcost/torch/kernel_table.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::int32_t tape_graph::add_operation(std::size_t i) {
    const tape_node& n = node_at(i);
    const tape_operands& operands = tape_.operands[i];
    const tensor& out = operands.output;
    if (n.kernel_id >= 0 && tape_.kernels[static_cast<std::size_t>(n.kernel_id)].kind == fused_kernel_kind::experts)
        return add_eager(i);
    switch (n.kind) {
        case op::matmul:
        case op::matmul_bias: return add_linear(i);
        case op::batched_matmul:
        case op::batched_matmul_bias:
        case op::batched_matmul_scaled:
        case op::batched_matmul_bias_scaled: return add_batched_product(i);
        case op::convolution:
        case op::convolution_bias: return add_convolution(i);
        case op::attention: return add_attention(i);
        case op::softmax: return add_softmax(i);
        case op::log_softmax: return add_log_softmax(i);
        case op::layer_norm:
        case op::layer_norm_weight:
        case op::layer_norm_affine: return add_layer_norm(i);
        case op::batch_norm:
        case op::batch_norm_affine: return add_batch_norm(i);
        case op::sum: return add_reduction(i, "sum");
        case op::mean: return add_reduction(i, "mean");
        case op::gather: return add_embedding(i);
        case op::max_pool: return add_max_pool(i);
        case op::copy: return add_copy(i);
        case op::cat: return add_cat(i);
        case op::nll_loss: return add_loss(i);
        case op::constant: return graph_.add(fx_node_kind::constant, "full", {}, shape_of(out), out.type);
        default: break;
    }
    const torch_kernel_kind kernel = kernels_of(n.kind).forward;
    if (kernel != torch_kernel_kind::elementwise && kernel != torch_kernel_kind::elementwise_strided &&
        kernel != torch_kernel_kind::gelu)
        return add_eager(i);
    std::vector<std::int32_t> inputs;
    for (std::size_t k = 0; k < operands.inputs.size(); ++k) inputs.push_back(operand(i, k));
    if (inputs.empty()) return graph_.add(fx_node_kind::constant, "full", {}, shape_of(out), out.type);
    if (const graph_rule* const rule = graph_rule_of(n.kind))
        return graph_.apply(*rule, std::move(inputs), shape_of(out), out.type);
    static constexpr graph_rule other{
        op::add, false, {{"pointwise", "xw"}}, {{"pointwise", "gxy"}}, {{"pointwise", "gwy"}}};
    return graph_.apply(other, std::move(inputs), shape_of(out), out.type);
}

LLMCOST_INLINE joint_graph tape_graph::build() {
    for (std::size_t i = 0; i < tape_.nodes.size(); ++i) {
        const tape_node& n = node_at(i);
        if (n.is_autograd_function || n.output < 0) continue;
        graph_.tape_node = static_cast<std::int32_t>(i);
        const std::int32_t out = add_operation(i);
        values_[static_cast<std::size_t>(n.output)] = out;
        layouts_[static_cast<std::size_t>(n.output)] = tape_.operands[i].output;
    }
    std::vector<std::int32_t>& outputs = graph_.graph.forward_outputs;
    for (const std::int32_t t : {tape_.loss, tape_.output})
        if (t >= 0 && values_[static_cast<std::size_t>(t)] != graph_builder::none)
            outputs.push_back(values_[static_cast<std::size_t>(t)]);
    if (outputs.empty() && !tape_.nodes.empty())
        outputs.push_back(values_[static_cast<std::size_t>(tape_.nodes.back().output)]);
    outputs.insert(outputs.end(), outputs_.begin(), outputs_.end());
    for (std::size_t t = 0; t < tape_.tensors.size(); ++t)
        if (tape_.tensors[t].is_cached && values_[t] != graph_builder::none &&
            std::find(outputs.begin(), outputs.end(), values_[t]) == outputs.end())
            outputs.push_back(values_[t]);
    graph_.backward(outputs);
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
        if (parameters_[p] == graph_builder::none || graph_.gradient_of(parameters_[p]) == graph_builder::none)
            continue;
        graph_.graph.backward_outputs.push_back(graph_.gradient_of(parameters_[p]));
        graph_.graph.parameters.push_back(static_cast<std::int32_t>(p));
    }
    return std::move(graph_.graph);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE joint_graph build_joint_graph(const tape& pass, bool has_backward) {
    return detail::tape_graph(pass, has_backward).build();
}

}  // namespace llmcost
