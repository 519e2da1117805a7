// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/devices/device.hpp>
#include <llmcost/torch/kernel.hpp>

// Times of the kernels of convolutional networks.
namespace llmcost::detail {

/// Cycles per second of all multiprocessors, from the peak of the vector units: 128 lanes, two FLOPs each.
[[nodiscard]] double multiprocessor_cycles(const device& d) noexcept;

/// Seconds of a product of float32 operands in TF32 (`torch.backends.cuda.matmul.allow_tf32`).
[[nodiscard]] double tf32_product_seconds(const device& d, const torch_kernel& k);

/// Seconds of cuDNN's products of a convolution.
///
/// Products run in tiles, in TF32 for float32 operands unless `torch.backends.cudnn.allow_tf32` is off. Two cases are
/// slower:
/// - channels that fill less than 16 bytes: narrow loads limit the kernel, not the tensor cores
/// - gradients of a 1x1 weight of up to 32 channels: cuDNN chooses a kernel without shared memory
[[nodiscard]] double convolution_seconds(const device& d, const torch_kernel& k);

/// Seconds of the depthwise kernels of DepthwiseConv2d.cu, which compute offsets of elements more than products.
///
///     output:          outputs · (cycles_per_output + window · cycles_per_tap)
///     input gradient:  inputs · cycles_per_input
///     weight gradient: elements of the weight · (cycles_per_block + products · cycles_per_product)
[[nodiscard]] double depthwise_seconds(const device& d, const torch_kernel& k);

/// Seconds of a batch norm in training: a block of threads per channel.
///
///     t = latency + max(waves · (cycles_per_block + elements of a channel · cycles_per_element), bytes / bandwidth)
[[nodiscard]] double batch_norm_seconds(const device& d, const torch_kernel& k);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/image_kernel_time.ipp>  // IWYU pragma: export
#endif
