// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/tensor.hpp>

// The CUDA kernels that PyTorch launches for the operations of a training step or of a forward pass.
namespace llmcost {

/// Classes of PyTorch's CUDA kernels that share their limits.
enum class torch_kernel_kind : std::uint8_t {
    product,              ///< a matrix product of cuBLAS
    batched_product,      ///< a product of each matrix of a batch
    convolution,          ///< an implicit GEMM of cuDNN: the output or the gradient of the input
    convolution_weight,   ///< an implicit GEMM of cuDNN: the gradient of the weight
    convolution_images,   ///< a product of each image, for windows of one pixel
    depthwise,            ///< a depthwise convolution; rows: outputs, columns: window
    depthwise_input,      ///< the gradient of its input; rows: inputs
    depthwise_weight,     ///< the gradient of its weight; rows: elements of the weight, columns: summed products
    layout,               ///< a conversion between contiguous and channels-last; columns: channels
    attention,            ///< fused `scaled_dot_product_attention`
    attention_backward,   ///< its gradients
    elementwise,          ///< TensorIterator, vectorized: all operands are contiguous and have one type
    elementwise_strided,  ///< TensorIterator with an offset per operand: broadcast, transposed
    elementwise_cast,     ///< TensorIterator, unrolled: operands of several types
    gelu,                 ///< elementwise, with as many instructions as loads
    gelu_backward,
    copy,             ///< a copy into another memory layout
    copy_contiguous,  ///< a copy in the same layout and type (memcpy)
    fill,
    cat,
    row_reduction,      ///< a reduction over the last dimension
    channel_reduction,  ///< a reduction over the batch and the pixels of contiguous images
    column_reduction,   ///< a reduction over the other dimensions
    softmax,
    softmax_backward,
    layer_norm,
    layer_norm_backward,
    group_norm,
    group_norm_backward,
    batch_norm,  ///< cuDNN, a block per channel; rows: channels, columns: elements of a channel
    batch_norm_statistics,
    batch_norm_transform,
    batch_norm_update,
    batch_norm_backward,
    gather,
    scatter,
    embedding_backward,  ///< the gradient of an embedding's weight
    sort,
    scan,
    pooling,
    pooling_backward,
    multi_tensor,  ///< a foreach function over lists of tensors
    fused_optimizer
};

/// Whether operands in float32 are multiplied in TF32.
///
/// `standard`: convolutions only, as `torch.backends.cudnn.allow_tf32` and `torch.backends.cuda.matmul.allow_tf32` are
/// initially (torch/backends/cudnn/__init__.py, aten/src/ATen/Context.h).
enum class tf32_mode : std::uint8_t { standard, on, off };

/// The parts of a training step.
enum class step_phase : std::uint8_t { forward, recompute, backward, optimizer };

/// The part of the time of a kernel that an operation takes.
struct operation_share {
    std::int32_t operation = -1;
    double share = 0;
};

/// One launch of a kernel.
struct torch_kernel {
    literal name = "";  ///< the ATen operator, as PyTorch's profiler lists it
    torch_kernel_kind kind = torch_kernel_kind::elementwise;
    step_phase phase = step_phase::forward;
    dtype type = dtype::float32;  ///< of the result; of products the type of the operands
    std::int32_t node = -1;       ///< index in `tape::nodes`; -1: the optimizer
    std::int32_t operation = -1;  ///< index in the operations of `graph_of`, then those of the loss; -1: the optimizer
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t flops = 0;  ///< of products, convolutions and attention
    /// products: (batch, rows, inner) x (batch, inner, columns); reductions, norms: rows and columns of the input
    std::int64_t batch = 1, rows = 0, columns = 0, inner = 0;
    bool is_transposed_a = false, is_transposed_b = false;  ///< operands of products, stored by columns
    bool is_causal = false;                                 ///< of attention
    tf32_mode tf32 = tf32_mode::standard;                   ///< of products and convolutions in float32
    bool is_accumulation = false;                           ///< adds a gradient to that of an earlier pass
    bool is_continuation = false;                           ///< a further kernel of the operator's previous call
    std::int64_t num_repetitions = 1;                       ///< launches: time steps of a loop
    std::int64_t num_tensors = 1;                           ///< of a multi-tensor kernel
    std::int64_t window = 1;                                ///< positions of the window of a convolution
    static constexpr int max_operands = 8;
    shape operands[max_operands]{};  ///< sizes that the profiler lists, without scalars and lists of tensors
    int num_operands = 0;
    std::string operators{};                ///< of a kernel of torch.compile: the names of the fused operators
    std::vector<operation_share> shares{};  ///< of a kernel of several operations; empty: all of it is `operation`

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_read + bytes_written; }
};

}  // namespace llmcost
