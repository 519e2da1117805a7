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

LLMCOST_INLINE std::int32_t tape_graph::storage_of(const tape_edge& e, const tensor& v) {
    if (e.tensor >= 0 && values_[static_cast<std::size_t>(e.tensor)] != graph_builder::none)
        return values_[static_cast<std::size_t>(e.tensor)];
    if (e.parameter >= 0 && parameters_[static_cast<std::size_t>(e.parameter)] != graph_builder::none)
        return parameters_[static_cast<std::size_t>(e.parameter)];
    const std::int32_t i =
        graph_.add(fx_node_kind::input, e.parameter >= 0 ? "parameter" : "input", {}, shape_of(v), v.type);
    graph_.node(i).requires_grad = e.requires_grad;
    if (e.parameter >= 0) {
        parameters_[static_cast<std::size_t>(e.parameter)] = i;
    } else if (e.tensor >= 0) {
        values_[static_cast<std::size_t>(e.tensor)] = i;
        layouts_[static_cast<std::size_t>(e.tensor)] = v;
    }
    return i;
}

LLMCOST_INLINE std::int32_t tape_graph::integers(std::int64_t elements) {
    constexpr std::uint64_t integer_bytes = 8;
    const std::int32_t i = graph_.add(fx_node_kind::input, "input", {}, shape(elements), dtype::unspecified);
    graph_.node(i).bytes = static_cast<std::uint64_t>(elements) * integer_bytes;
    return i;
}

LLMCOST_INLINE std::int32_t tape_graph::with_sizes(std::int32_t i, const shape& sizes) {
    return has_equal_sizes(graph_.node(i).sizes, sizes) ? i : graph_.view("view", i, sizes);
}

LLMCOST_INLINE std::int32_t tape_graph::rows_of(std::int32_t i) {
    const shape s = graph_.node(i).sizes;
    if (s.rank <= 2) return i;
    const std::int64_t columns = std::max<std::int64_t>(s.size[s.rank - 1], 1);
    return graph_.view("view", i, shape(static_cast<std::int64_t>(graph_.node(i).numel) / columns, columns));
}

LLMCOST_INLINE std::int32_t tape_graph::view_of(std::int32_t storage, const tensor& v) {
    // views: sizes first, then the order of the dimensions, a slice, and broadcast dimensions
    shape distinct = shape_of(v);
    bool is_expanded = false;
    for (int d = 0; d < v.rank; ++d)
        if (v.stride[d] == 0 && v.size[d] > 1) {
            distinct.size[d] = 1;
            is_expanded = true;
        }
    const std::uint64_t elements = graph_.node(storage).numel;
    bool is_permuted = false;
    for (int d = 0; d + 1 < v.rank; ++d)
        for (int e = d + 1; e < v.rank; ++e)
            is_permuted = is_permuted || (distinct.size[d] > 1 && distinct.size[e] > 1 && v.stride[d] < v.stride[e]);
    std::int32_t i = storage;
    if (strided_.contains(i) && !has_equal_dimensions(graph_.node(i).sizes, distinct)) i = graph_.clone(i);
    const std::uint64_t distinct_elements = num_elements(distinct.size, distinct.rank);
    if (distinct_elements < elements) {
        // a slice of a view: its sizes are those of the operand but for the sliced dimension
        i = graph_.slice(i, distinct);
        if (is_expanded) i = graph_.expand(i, shape_of(v));
        return i;
    }
    if (is_permuted) {
        shape ordered = distinct;
        std::int64_t strides[max_rank];
        for (int d = 0; d < v.rank; ++d) strides[d] = v.stride[d];
        for (int d = 0; d + 1 < v.rank; ++d)
            for (int e = d + 1; e < v.rank; ++e)
                if (strides[d] < strides[e]) {
                    std::swap(strides[d], strides[e]);
                    std::swap(ordered.size[d], ordered.size[e]);
                }
        i = with_sizes(i, ordered);
        i = graph_.view("permute", i, distinct);
    } else {
        i = with_sizes(i, distinct);
    }
    return is_expanded ? graph_.expand(i, shape_of(v)) : i;
}

LLMCOST_INLINE std::int32_t tape_graph::operand(std::size_t node, std::size_t input) {
    const tape_edge& e = node_at(node).inputs[input];
    const tensor& v = tape_.operands[node].inputs[input];
    const std::int32_t storage = storage_of(e, v);
    const shape& sizes = graph_.node(storage).sizes;
    bool is_equal = has_equal_sizes(sizes, shape_of(v));
    if (is_equal && e.tensor >= 0) {
        const tensor& layout = layouts_[static_cast<std::size_t>(e.tensor)];
        for (int d = 0; d < v.rank; ++d) is_equal = is_equal && (v.size[d] == 1 || v.stride[d] == layout.stride[d]);
    }
    return is_equal ? storage : view_of(storage, v);
}

LLMCOST_INLINE std::vector<torch_kernel> tape_graph::forward_kernels(std::size_t i) {
    kernels_.kernels.clear();
    kernels_.on_forward(static_cast<std::int32_t>(i), false);
    return kernels_.kernels;
}

LLMCOST_INLINE std::vector<torch_kernel> tape_graph::gradient_kernels(std::size_t i, std::size_t input) {
    kernels_.kernels.clear();
    const tape_node& n = node_at(i);
    kernels_.on_gradient(static_cast<std::int32_t>(i), input, n.inputs[input].bytes, n.inputs[input].bytes);
    return kernels_.kernels;
}

LLMCOST_INLINE std::vector<torch_kernel> tape_graph::joint_gradient_kernels(std::size_t i) {
    kernels_.kernels.clear();
    kernels_.on_backward(static_cast<std::int32_t>(i));
    return kernels_.kernels;
}

LLMCOST_INLINE std::int32_t tape_graph::add_eager(std::size_t i) {
    const tape_node& n = node_at(i);
    const tensor& v = tape_.operands[i].output;
    std::vector<std::int32_t> inputs;
    for (std::size_t k = 0; k < tape_.operands[i].inputs.size(); ++k) inputs.push_back(operand(i, k));
    const std::int32_t out = graph_.external(kernels_of(n.kind).name, inputs, shape_of(v), v.type, forward_kernels(i));
    graph_.on_backward(out, [this, i, inputs, out](std::int32_t g) {
        const saved_tensors saved = op_cost_of(node_at(i).kind).saved;
        (void)joint_gradient_kernels(i);
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            if (!graph_.requires_grad(inputs[k])) continue;
            std::vector<std::int32_t> read{g};
            if (saved == saved_tensors::output || saved == saved_tensors::input_and_output) read.push_back(out);
            if (saved != saved_tensors::output && saved != saved_tensors::none)
                read.insert(read.end(), inputs.begin(), inputs.end());
            const fx_node in = graph_.node(inputs[k]);
            graph_.add_gradient(inputs[k], graph_.external(kernels_of(node_at(i).kind).name, read, in.sizes, in.type,
                                                           gradient_kernels(i, k)));
        }
    });
    return out;
}

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
    values_.assign(tape_.tensors.size(), graph_builder::none);
    layouts_.resize(tape_.tensors.size());
    parameters_.assign(tape_.parameters.size(), graph_builder::none);
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
