// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/model/model_spec.hpp>

// MobileNet: padding and channel counts of its convolutions (arXiv 1704.04861, 1801.04381).
namespace llmcost::mobile_convolution {

/// Rows or columns of zeros that TensorFlow's "SAME" adds (`apply_tf_padding`).
[[nodiscard]] constexpr std::int64_t same_padding(std::int64_t size, std::int64_t kernel,
                                                  std::int64_t stride) noexcept {
    const std::int64_t rest = size % stride, padding = kernel - (rest == 0 ? stride : rest);
    return padding > 0 ? padding : 0;
}

/// Python's `round`: halves go to the even neighbour.
[[nodiscard]] constexpr std::int64_t rounded(double x) {
    const auto below = static_cast<std::int64_t>(x);
    const double rest = x - static_cast<double>(below);
    return below + (rest > 0.5 || (rest == 0.5 && below % 2 != 0) ? 1 : 0);
}

/// Inverted residual: a convolution to `expanded` channels, a depthwise one, and a projection to `out` channels.
template <class Block>
constexpr tensor forward_inverted_residual(const layer_context& ctx, trace& t, std::int64_t in, std::int64_t expanded,
                                           std::int64_t out, std::int64_t stride, std::int64_t dilation,
                                           const tensor& x) {
    const activation act = ctx.config.hidden_act;
    tensor h = t.call("expand_1x1", Block{.ctx = ctx, .in = in, .out = expanded, .act = act}, x);
    const Block depthwise{.ctx = ctx,
                          .in = expanded,
                          .out = expanded,
                          .kernel_size = 3,
                          .stride = stride,
                          .groups = expanded,
                          .dilation = dilation,
                          .act = act};
    h = t.call("conv_3x3", depthwise, h);
    h = t.call("reduce_1x1", Block{.ctx = ctx, .in = expanded, .out = out}, h);
    return stride == 1 && in == out ? t.add(x, h) : h;
}

}  // namespace llmcost::mobile_convolution
