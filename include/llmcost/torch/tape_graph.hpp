// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/graph_builder.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_list.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

/// Translates the nodes of a tape into ATen operators.
class tape_graph {
public:
    tape_graph(const tape& pass, bool has_backward) : tape_(pass), kernels_(pass, schedule_), graph_(has_backward) {}

    [[nodiscard]] joint_graph build();

private:
    [[nodiscard]] const tape_node& node_at(std::size_t i) const { return tape_.nodes[i]; }
    /// The operand of a tape node: its storage, or a view of it.
    std::int32_t operand(std::size_t node, std::size_t input);
    std::int32_t storage_of(const tape_edge& e, const tensor& v);
    std::int32_t view_of(std::int32_t storage, const tensor& v);
    /// The rows (tokens, features) of a tensor.
    std::int32_t rows_of(std::int32_t i);
    /// An input of 64-bit integers: tokens or labels.
    std::int32_t integers(std::int64_t elements);
    std::int32_t with_sizes(std::int32_t i, const shape& sizes);

    std::int32_t add_operation(std::size_t i);
    std::int32_t add_linear(std::size_t i);
    std::int32_t add_batched_product(std::size_t i);
    std::int32_t add_attention(std::size_t i);
    std::int32_t add_softmax(std::size_t i);
    std::int32_t add_log_softmax(std::size_t i);
    std::int32_t add_layer_norm(std::size_t i);
    std::int32_t add_batch_norm(std::size_t i);
    std::int32_t add_reduction(std::size_t i, literal name);
    std::int32_t add_embedding(std::size_t i);
    std::int32_t add_convolution(std::size_t i);
    std::int32_t add_max_pool(std::size_t i);
    std::int32_t add_copy(std::size_t i);
    std::int32_t add_cat(std::size_t i);
    std::int32_t add_loss(std::size_t i);
    /// An operation that neither fuses nor is decomposed: the kernels of eager PyTorch.
    std::int32_t add_eager(std::size_t i);

    [[nodiscard]] std::vector<torch_kernel> forward_kernels(std::size_t i);
    [[nodiscard]] std::vector<torch_kernel> gradient_kernels(std::size_t i, std::size_t input);
    [[nodiscard]] std::vector<torch_kernel> joint_gradient_kernels(std::size_t i);

    const tape& tape_;
    training_schedule schedule_{};
    kernel_listener kernels_;
    graph_builder graph_;
    std::vector<std::int32_t> values_;      ///< by tensor of the tape
    std::vector<tensor> layouts_;           ///< sizes and strides of `values_`
    std::vector<std::int32_t> parameters_;  ///< by parameter of the tape
    std::set<std::int32_t> strided_;        ///< nodes that are not contiguous where the tape has a copy
    std::vector<std::int32_t> outputs_;     ///< entries of the KV cache, which the model returns
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/tape_graph.ipp>           // IWYU pragma: export
#include <llmcost/torch/impl/tape_graph_norms.ipp>     // IWYU pragma: export
#include <llmcost/torch/impl/tape_graph_products.ipp>  // IWYU pragma: export
#endif
