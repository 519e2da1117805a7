// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/product_operators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/graph_builder.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_operands.hpp>
#include <llmcost/torch/kernel_table.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>

// Products, convolutions and fused attention: kernels of libraries.
namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE shape transposed(shape s) noexcept {
    if (s.rank > 1) std::swap(s.size[s.rank - 1], s.size[s.rank - 2]);
    return s;
}

// `F.linear`: a view of the rows, a transposed weight, `mm` or `addmm`, and a view of the result
LLMCOST_INLINE std::int32_t product_operators::add_linear(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    const bool has_bias = node_at(i).kind == op::matmul_bias && tape_.operands[i].inputs.size() > 2;
    const std::int32_t x = rows_of(operand(i, 0)), weight = operand(i, 1);
    const std::int32_t w = graph_.view("permute", weight, transposed(graph_.node(weight).sizes));
    const std::int64_t columns = result.dim(-1),
                       rows = static_cast<std::int64_t>(result.numel) / std::max<std::int64_t>(columns, 1);
    std::vector<std::int32_t> inputs{x, w};
    const std::int32_t bias = has_bias ? operand(i, 2) : graph_builder::none;
    if (has_bias) inputs.insert(inputs.begin(), bias);
    const std::int32_t product =
        graph_.external(has_bias ? "addmm" : "mm", inputs, shape(rows, columns), result.type, forward_kernels(i));
    graph_.on_backward(product, [this, i, x, weight, w, bias](std::int32_t g) {
        const fx_node in = graph_.node(x), transposed_weight = graph_.node(w);
        const auto input_gradient = [&] {
            if (!graph_.requires_grad(x)) return;
            const std::int32_t stored = graph_.view("permute", w, transposed(transposed_weight.sizes));
            graph_.add_gradient(x, graph_.external("mm", {g, stored}, in.sizes, in.type, gradient_kernels(i, 0)));
        };
        // `MmBackward` of a product without bias returns the gradient of the weight first
        if (bias != graph_builder::none) input_gradient();
        if (graph_.requires_grad(weight)) {
            const std::int32_t rows = graph_.view("permute", g, transposed(graph_.node(g).sizes));
            const fx_node stored = graph_.node(weight);
            graph_.add_gradient(weight,
                                graph_.external("mm", {rows, x}, stored.sizes, stored.type, gradient_kernels(i, 1)));
        }
        if (bias == graph_builder::none)
            input_gradient();
        else if (graph_.requires_grad(bias))
            graph_.add_gradient(bias, g);
    });
    return with_sizes(product, shape_of(result));
}

LLMCOST_INLINE std::int32_t product_operators::add_batched_product(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    const bool has_bias = tape_.operands[i].inputs.size() > 2;
    const std::int32_t a = operand(i, 0), b = operand(i, 1);
    std::vector<std::int32_t> inputs{a, b};
    if (has_bias) inputs.push_back(operand(i, 2));
    const std::int32_t out = graph_.external("bmm", inputs, shape_of(result), result.type, forward_kernels(i));
    graph_.on_backward(out, [this, i, a, b, inputs](std::int32_t g) {
        const fx_node first = graph_.node(a), second = graph_.node(b);
        if (graph_.requires_grad(b)) {
            const std::int32_t left = graph_.view("permute", a, transposed(first.sizes));
            graph_.add_gradient(b,
                                graph_.external("bmm", {left, g}, second.sizes, second.type, gradient_kernels(i, 1)));
        }
        if (graph_.requires_grad(a)) {
            const std::int32_t right = graph_.view("permute", b, transposed(second.sizes));
            graph_.add_gradient(a, graph_.external("bmm", {g, right}, first.sizes, first.type, gradient_kernels(i, 0)));
        }
        if (inputs.size() > 2) graph_.add_gradient(inputs[2], g);
    });
    return out;
}

/// The kernels of a convolution in a graph whose images are channels-last: only weights and inputs of the model change
/// their layout.
///
/// Source: torch/_inductor/graph.py, `decide_layout_opt`; torch/_inductor/kernel/conv.py, `conv_layout`.
[[nodiscard]] LLMCOST_INLINE std::vector<torch_kernel> channels_last_kernels(std::vector<torch_kernel> kernels,
                                                                             const fx_node& images,
                                                                             const fx_node& weight) {
    std::erase_if(kernels, [&](const torch_kernel& k) {
        const bool is_input = images.kind == fx_node_kind::input && k.bytes_written == images.bytes;
        return k.kind == torch_kernel_kind::layout && k.bytes_written != weight.bytes && !is_input;
    });
    return kernels;
}

LLMCOST_INLINE std::int32_t product_operators::add_convolution(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    std::vector<std::int32_t> inputs;
    for (std::size_t k = 0; k < tape_.operands[i].inputs.size(); ++k) inputs.push_back(operand(i, k));
    if (inputs.size() < 2) return add_eager(i);
    const std::int32_t out =
        graph_.external("convolution", inputs, shape_of(result), result.type,
                        channels_last_kernels(forward_kernels(i), graph_.node(inputs[0]), graph_.node(inputs[1])));
    graph_.on_backward(out, [this, i, inputs](std::int32_t g) {
        std::vector<torch_kernel> kernels;
        for (std::size_t k = 0; k < inputs.size() && k < 2; ++k) {
            if (!graph_.requires_grad(inputs[k])) continue;
            const std::vector<torch_kernel> list =
                channels_last_kernels(gradient_kernels(i, k), graph_.node(inputs[0]), graph_.node(inputs[1]));
            kernels.insert(kernels.end(), list.begin(), list.end());
        }
        const std::int32_t all =
            graph_.external("convolution_backward", {g, inputs[0], inputs[1]}, shape{}, graph_.node(g).type, kernels);
        for (std::size_t k = 0; k < inputs.size() && k < 2; ++k) {
            const fx_node in = graph_.node(inputs[k]);
            if (graph_.requires_grad(inputs[k])) graph_.add_gradient(inputs[k], graph_.result(all, in.sizes, in.type));
        }
        if (inputs.size() < 3 || !graph_.requires_grad(inputs[2])) return;
        const fx_node bias = graph_.node(inputs[2]);
        const std::int32_t sum = graph_.reduce("sum", g, bias.sizes, bias.type);
        graph_.node(sum).is_column_reduction = true;
        graph_.add_gradient(inputs[2], sum);
    });
    return out;
}

// the result and the log-sum-exp of the rows are saved, with queries, keys and values
LLMCOST_INLINE std::int32_t product_operators::add_attention(std::size_t i) {
    const tensor& result = tape_.operands[i].output;
    std::vector<std::int32_t> inputs;
    for (std::size_t k = 0; k < tape_.operands[i].inputs.size(); ++k) inputs.push_back(operand(i, k));
    const std::int32_t all =
        graph_.external("scaled_dot_product_attention", inputs, shape{}, result.type, forward_kernels(i));
    const std::int32_t out = graph_.result(all, shape_of(result), result.type);
    shape rows = shape_of(result);
    if (rows.rank > 0) --rows.rank;
    const std::int32_t log_sum_exp = graph_.result(all, rows, dtype::float32);
    graph_.on_backward(out, [this, i, inputs, out, log_sum_exp](std::int32_t g) {
        std::vector<std::int32_t> read{g};
        read.insert(read.end(), inputs.begin(), inputs.end());
        read.push_back(out);
        read.push_back(log_sum_exp);
        const std::int32_t gradients = graph_.external("scaled_dot_product_attention_backward", read, shape{},
                                                       graph_.node(g).type, joint_gradient_kernels(i));
        for (const std::int32_t input : inputs) {
            const fx_node in = graph_.node(input);
            graph_.add_gradient(input, graph_.result(gradients, in.sizes, in.type));
        }
    });
    return out;
}

LLMCOST_INLINE std::int32_t product_operators::add_eager(std::size_t i) {
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

}  // namespace llmcost::detail
