// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/kernel.hpp>

namespace llmcost {

/// What a call of cuDNN or of a depthwise kernel computes.
enum class convolution_result : std::uint8_t { output, input_gradient, weight_gradient };

/// The kernels that compute the output of a convolution or one of its gradients, without phase and node.
///
/// - depthwise: one kernel per result, of PyTorch for contiguous tensors, of cuDNN for channels-last
/// - 1x1 with stride 1: a product of each image, (filters, channels) x (channels, pixels), if pixels are aligned
/// - otherwise: an implicit GEMM in channels-last, between the conversions of contiguous operands
///
/// The operands are the input (batch, channels, spatial dimensions…) and the weight (filters, channels / groups, …).
///
/// Source: aten/src/ATen/native/Convolution.cpp, `use_cudnn_depthwise`; DepthwiseConv2d.cu; the kernels of
/// cuDNN 9.19 (`nchwToNhwcKernel`, `xmma_fprop_implicit_gemm`, `xmma_dgrad…`, `xmma_wgrad…`, `nhwcToNchwKernel`).
[[nodiscard]] std::vector<torch_kernel> convolution_kernels(const tape_operands& operands, convolution_result result);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/convolution_kernels.ipp>  // IWYU pragma: export
#endif
