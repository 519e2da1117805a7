// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/trace/tensor.hpp>

// The graph that torch.compile partitions and lowers: forward and backward of a step, as ATen operators.
namespace llmcost {

/// What Inductor and the partitioner may do with an operator.
enum class fx_node_kind : std::uint8_t {
    input,      ///< a parameter, a buffer or an input of the model
    tangent,    ///< the gradient of an output
    constant,   ///< `full`, `arange`: no operand
    view,       ///< no kernel
    pointwise,  ///< fused by Inductor and cheap to recompute
    reduction,
    gather,    ///< `embedding`: fused by Inductor, but not in the partitioner's list of recomputable operators
    cat,       ///< fused by Inductor; producers may fuse into it, consumers may not (`is_fusible`)
    scatter,   ///< a pointwise kernel with atomic additions into its result
    external,  ///< a kernel of a library: products, convolutions, fused attention
    result     ///< one of several results of an operator (`getitem`)
};

/// An ATen operator of the graph.
struct fx_node {
    literal name = "";
    fx_node_kind kind = fx_node_kind::pointwise;
    std::vector<std::int32_t> inputs{};
    shape sizes{};
    std::uint64_t numel = 0;
    std::uint64_t bytes = 0;  ///< of all results
    dtype type = dtype::float32;
    std::int64_t reduced = 1;          ///< elements per result of a reduction
    bool is_column_reduction = false;  ///< sums over outer dimensions
    bool has_several_results = false;
    bool requires_grad = false;
    std::uint64_t gathered_bytes = 0;  ///< bytes that a gather reads of its first input
    std::int32_t tape_node = -1;
    std::vector<torch_kernel> kernels{};  ///< of an external operator
};

/// Forward and backward of a training step, in the order in which AOTAutograd traces them.
struct joint_graph {
    std::vector<fx_node> nodes;
    std::vector<std::int32_t> forward_outputs;   ///< loss, and outputs of the model
    std::vector<std::int32_t> backward_outputs;  ///< gradients of trained parameters
    std::vector<std::int32_t> parameters;        ///< of `backward_outputs`: indices in `tape::parameters`
    std::size_t num_forward_nodes = 0;           ///< nodes before the first tangent
};

/// The node whose memory a view shows.
[[nodiscard]] std::int32_t storage_of(const joint_graph& graph, std::int32_t node) noexcept;

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/joint_graph.ipp>  // IWYU pragma: export
#endif
