// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/graph_rules.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

/// Whether two tensors have the same sizes.
[[nodiscard]] bool has_equal_sizes(const shape& a, const shape& b) noexcept;

/// Whether two tensors have the same sizes, without dimensions of one element.
[[nodiscard]] bool has_equal_dimensions(const shape& a, const shape& b) noexcept;

/// Traces ATen operators and their gradients into a joint graph. Nodes are indices in `joint_graph::nodes`.
class graph_builder {
public:
    /// Adds the gradients of the inputs of an operator, from the gradient of its result.
    using backward_function = std::function<void(std::int32_t gradient)>;
    static constexpr std::int32_t none = -1;

    explicit graph_builder(bool has_backward) : has_backward_(has_backward) {}

    /// An operator with a result of these sizes.
    std::int32_t add(fx_node_kind kind, literal name, std::vector<std::int32_t> inputs, const shape& sizes, dtype type);
    std::int32_t pointwise(literal name, std::vector<std::int32_t> inputs, const shape& sizes, dtype type) {
        return add(fx_node_kind::pointwise, name, std::move(inputs), sizes, type);
    }
    /// A reduction to `sizes`, which divides the elements of its input.
    std::int32_t reduce(literal name, std::int32_t input, const shape& sizes, dtype type);
    /// A reduction over the last dimension; its size becomes 1.
    std::int32_t reduce_rows(literal name, std::int32_t input);
    /// An operator of a library, with its kernels.
    std::int32_t external(literal name, std::vector<std::int32_t> inputs, const shape& sizes, dtype type,
                          std::vector<torch_kernel> kernels);
    /// One of several results of an operator.
    std::int32_t result(std::int32_t source, const shape& sizes, dtype type);
    /// A view with its gradient. Equal views of a node are one node.
    std::int32_t view(literal name, std::int32_t input, const shape& sizes);
    /// A slice; its gradient is written into zeros.
    std::int32_t slice(std::int32_t input, const shape& sizes);
    /// A broadcast; its gradient is summed.
    std::int32_t expand(std::int32_t input, const shape& sizes);
    /// A contiguous copy.
    std::int32_t clone(std::int32_t input);
    /// A conversion to another element type, with its gradient; the input if it has this type.
    std::int32_t convert(std::int32_t input, dtype type);
    /// A pointwise operation with its decomposition and gradients.
    std::int32_t apply(const graph_rule& rule, std::vector<std::int32_t> inputs, const shape& sizes, dtype type);

    /// Sets the gradient of an operator that none of the other functions adds.
    void on_backward(std::int32_t output, backward_function f);
    /// Adds a gradient of a node, summed to its sizes.
    void add_gradient(std::int32_t node, std::int32_t gradient);
    /// Traces the backward pass from the gradient of each output.
    void backward(const std::vector<std::int32_t>& outputs);
    [[nodiscard]] std::int32_t gradient_of(std::int32_t node) const {
        return gradients_[static_cast<std::size_t>(node)];
    }
    [[nodiscard]] fx_node& node(std::int32_t i) { return graph.nodes[static_cast<std::size_t>(i)]; }
    [[nodiscard]] bool requires_grad(std::int32_t i) { return has_backward_ && node(i).requires_grad; }

    joint_graph graph{};
    std::int32_t tape_node = -1;  ///< of the operators that are added next

private:
    struct traced_operator {
        std::int32_t output;
        backward_function function;
    };
    /// Adds the steps of a decomposition; returns their nodes.
    std::vector<std::int32_t> add_steps(const graph_step* steps, const std::vector<std::int32_t>& inputs,
                                        const std::vector<std::int32_t>& forward, std::int32_t output,
                                        std::int32_t gradient, const shape& sizes, dtype type);

    bool has_backward_;
    bool is_backward_ = false;  ///< the backward pass is traced
    std::vector<std::int32_t> gradients_;
    std::vector<traced_operator> operators_;
    std::map<std::pair<std::int32_t, std::string>, std::int32_t> views_;
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/graph_builder.ipp>  // IWYU pragma: export
#endif
