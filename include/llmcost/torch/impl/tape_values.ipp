// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/tape_values.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/graph_builder.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/kernel_operands.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

LLMCOST_INLINE tape_values::tape_values(const tape& pass, bool has_backward)
    : tape_(pass),
      kernels_(pass, schedule_),
      graph_(has_backward),
      values_(pass.tensors.size(), graph_builder::none),
      layouts_(pass.tensors.size()),
      parameters_(pass.parameters.size(), graph_builder::none) {}

LLMCOST_INLINE std::vector<std::int32_t> tape_values::operands(std::size_t node) {
    std::vector<std::int32_t> out;
    for (std::size_t k = 0; k < tape_.operands[node].inputs.size(); ++k) out.push_back(operand(node, k));
    return out;
}

LLMCOST_INLINE std::int32_t tape_values::storage_of(const tape_edge& e, const tensor& v) {
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

LLMCOST_INLINE std::int32_t tape_values::integers(std::int64_t elements) {
    constexpr std::uint64_t integer_bytes = 8;
    const std::int32_t i = graph_.add(fx_node_kind::input, "input", {}, shape(elements), dtype::unspecified);
    graph_.node(i).bytes = static_cast<std::uint64_t>(elements) * integer_bytes;
    return i;
}

LLMCOST_INLINE std::int32_t tape_values::with_sizes(std::int32_t i, const shape& sizes) {
    return has_equal_sizes(graph_.node(i).sizes, sizes) ? i : graph_.view("view", i, sizes);
}

LLMCOST_INLINE std::int32_t tape_values::rows_of(std::int32_t i) {
    const shape s = graph_.node(i).sizes;
    if (s.rank <= 2) return i;
    const std::int64_t columns = std::max<std::int64_t>(s.size[s.rank - 1], 1);
    return graph_.view("view", i, shape(static_cast<std::int64_t>(graph_.node(i).numel) / columns, columns));
}

LLMCOST_INLINE std::int32_t tape_values::view_of(std::int32_t storage, const tensor& v) {
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
        // a slice of a view: its sizes are those of the operand except the sliced dimension
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

LLMCOST_INLINE std::int32_t tape_values::operand(std::size_t node, std::size_t input) {
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

LLMCOST_INLINE std::vector<torch_kernel> tape_values::forward_kernels(std::size_t i) {
    kernels_.kernels.clear();
    kernels_.on_forward(static_cast<std::int32_t>(i), false);
    return kernels_.kernels;
}

LLMCOST_INLINE std::vector<torch_kernel> tape_values::gradient_kernels(std::size_t i, std::size_t input) {
    kernels_.kernels.clear();
    const tape_node& n = node_at(i);
    kernels_.on_gradient(static_cast<std::int32_t>(i), input, n.inputs[input].bytes, n.inputs[input].bytes);
    return kernels_.kernels;
}

LLMCOST_INLINE std::vector<torch_kernel> tape_values::joint_gradient_kernels(std::size_t i) {
    kernels_.kernels.clear();
    kernels_.on_backward(static_cast<std::int32_t>(i));
    return kernels_.kernels;
}

}  // namespace llmcost::detail
