// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/graph_builder.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_list.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

/// The nodes of a joint graph that hold the tensors of a tape.
class tape_values {
public:
    tape_values(const tape_values&) = delete;
    tape_values& operator=(const tape_values&) = delete;

protected:
    tape_values(const tape& pass, bool has_backward);
    ~tape_values() = default;

    [[nodiscard]] const tape_node& node_at(std::size_t i) const { return tape_.nodes[i]; }
    /// The operand of a tape node: its storage, or a view of it.
    std::int32_t operand(std::size_t node, std::size_t input);
    std::vector<std::int32_t> operands(std::size_t node);
    /// An input of 64-bit integers: tokens or labels.
    std::int32_t integers(std::int64_t elements);
    /// The rows (tokens, features) of a tensor.
    std::int32_t rows_of(std::int32_t i);
    std::int32_t with_sizes(std::int32_t i, const shape& sizes);

    // kernels of eager PyTorch
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

private:
    std::int32_t storage_of(const tape_edge& e, const tensor& v);
    std::int32_t view_of(std::int32_t storage, const tensor& v);
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/tape_values.ipp>  // IWYU pragma: export
#endif
