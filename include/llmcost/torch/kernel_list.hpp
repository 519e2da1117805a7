// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

/// Lists the kernels that PyTorch launches for a replayed tape, in their order.
///
/// Requires the operands of the tape. Each rule names PyTorch's function that launches the kernels.
class kernel_listener final : public replay_observer {
public:
    /// `is_evaluation`: modules are in evaluation mode, and batch norms use their running statistics.
    kernel_listener(const tape& pass, const training_schedule& plan, bool is_evaluation = false)
        : tape_(pass), plan_(plan), is_evaluation_(is_evaluation) {}

    void on_forward(std::int32_t node, bool is_recomputed) override;
    void on_backward(std::int32_t node) override;
    void on_gradient(std::int32_t node, std::size_t input, std::uint64_t computed_bytes,
                     std::uint64_t gradient_bytes) override;
    void on_gradient_sum(const gradient_sum& sum) override;
    void on_view_gradients(const std::vector<std::uint64_t>& view_bytes, std::uint64_t tensor_bytes,
                           std::uint64_t element_bits, bool is_sliced) override;
    void on_parameter_gradient(std::int32_t parameter, bool is_accumulated) override;
    void on_optimizer_step(const std::vector<tape_parameter>& parameters) override;

    std::vector<torch_kernel> kernels;  ///< in the order of their launches

private:
    [[nodiscard]] const tape_node& node_at(std::int32_t i) const { return tape_.nodes[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const tape_operands& operands_at(std::int32_t i) const {
        return tape_.operands[static_cast<std::size_t>(i)];
    }
    torch_kernel& add(literal name, torch_kernel_kind kind, std::uint64_t bytes_read, std::uint64_t bytes_written);
    void add_kernels(const std::vector<torch_kernel>& list);
    void add_convolution(std::int32_t node);
    void add_convolution_gradient(std::int32_t node, std::size_t input);
    void add_batch_norm(std::int32_t node);
    void add_product_gradient(std::int32_t node, std::size_t input);
    /// The experts that a node belongs to; null: it belongs to none.
    [[nodiscard]] const fused_kernel* experts_of(std::int32_t node) const;
    /// The gradient in the type of the result, and its cast to the type of the input.
    void add_gradient_cast(std::int32_t node, std::size_t input, std::uint64_t bytes_read, std::uint64_t bytes_written);
    void add_attention_backward(std::int32_t node);
    void add_forward(std::int32_t node);
    /// A kernel of the gradient of an elementwise operation: its operands, and the bytes that it reads.
    void set_gradient_operands(torch_kernel& k, std::int32_t node, std::size_t input, int reads);
    /// The launches of each kernel of a node: the time steps of its loop.
    [[nodiscard]] std::int64_t num_time_steps_of(std::int32_t node) const;

    const tape& tape_;
    const training_schedule& plan_;
    bool is_evaluation_;
    step_phase phase_ = step_phase::forward;
    std::int32_t node_ = -1;
    bool has_joint_backward_ = false;  ///< the kernel of this node's backward computes all gradients
};

namespace detail {

/// The operation of each node, as `torch_kernel::operation`. Nodes of a `torch.autograd.Function` belong to the
/// operation before them.
[[nodiscard]] std::vector<std::int32_t> operations_of_nodes(const tape& pass);

/// Sets the operation of each kernel.
void set_operations(const tape& pass, std::vector<torch_kernel>& kernels);

/// Names the kernels of fused attention by the backend that PyTorch 2.11 with cuDNN 9.19 selects.
///
/// - cuDNN: 16 bits, on compute capability 9.0, 10.0 and 10.3
/// - otherwise FlashAttention: 16 bits without a mask
/// - otherwise memory-efficient attention
///
/// Source: aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, `priority_order`, `check_prefer_cudnn_attention`,
/// `check_cudnn_tensor_shapes`, `can_use_flash_attention`.
void set_attention_backends(std::int32_t cuda_capability, std::vector<torch_kernel>& kernels);

}  // namespace detail

/// The kernels of one training step of PyTorch on a CUDA device, in the order of their launches.
///
/// With gradient accumulation, those of the last pass.
[[nodiscard]] std::vector<torch_kernel> training_kernels(const model& m, const workload& load, training_plan plan);

/// The kernels of a forward pass of PyTorch without gradients, in the order of their launches.
[[nodiscard]] std::vector<torch_kernel> forward_kernels(const model& m, const workload& load);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/kernel_list.ipp>  // IWYU pragma: export
#endif
