// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/convolution_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_operands.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

/// The sizes of a convolution. `pixels`: positions of one image.
struct convolution_sizes {
    std::int64_t batch = 1, channels = 1, filters = 1, groups = 1, window = 1;
    std::int64_t input_pixels = 1, output_pixels = 1;
    std::uint64_t input_bytes = 0, weight_bytes = 0, output_bytes = 0;
    std::int64_t element_bytes = 4;
    bool is_channels_last = false;
};

[[nodiscard]] LLMCOST_INLINE convolution_sizes convolution_sizes_of(const tape_operands& operands) {
    convolution_sizes s;
    const tensor &input = operands.inputs[0], &weight = operands.inputs[1], &output = operands.output;
    s.batch = input.size[0];
    s.channels = input.size[1];
    s.filters = output.size[1];
    s.groups = s.channels / std::max<std::int64_t>(weight.size[1], 1);
    for (int i = 2; i < weight.rank; ++i) s.window *= weight.size[i];
    for (int i = 2; i < input.rank; ++i) s.input_pixels *= input.size[i];
    for (int i = 2; i < output.rank; ++i) s.output_pixels *= output.size[i];
    s.groups = std::max<std::int64_t>(s.groups, 1);
    s.element_bytes = std::max<std::int64_t>(bits_of(output.type) / 8, 1);
    const auto bytes = [&](std::int64_t elements) { return static_cast<std::uint64_t>(elements * s.element_bytes); };
    s.input_bytes = bytes(s.batch * s.channels * s.input_pixels);
    s.weight_bytes = bytes(static_cast<std::int64_t>(weight.numel));
    s.output_bytes = bytes(s.batch * s.filters * s.output_pixels);
    s.is_channels_last = input.is_channels_last() && !input.is_contiguous();
    return s;
}

/// Whether each channel has its own filters.
///
/// Source: aten/src/ATen/native/Convolution.cpp, `is_depthwise`.
[[nodiscard]] LLMCOST_INLINE bool is_depthwise(const convolution_sizes& s) noexcept {
    return s.groups > 1 && s.groups == s.channels && s.filters % s.channels == 0;
}

/// Whether cuBLAS multiplies the images of a contiguous input: 1x1 with stride 1, rows of pixels aligned to 8 bytes.
[[nodiscard]] LLMCOST_INLINE bool is_product_of_images(const convolution_sizes& s, convolution_result result) noexcept {
    constexpr std::int64_t alignment = 8;
    // cuDNN's heuristics choose an implicit GEMM for weights of few channels
    constexpr std::int64_t few_channels = 32;
    if (s.window != 1 || s.groups != 1 || s.input_pixels != s.output_pixels || s.is_channels_last) return false;
    if (s.output_pixels == 1) return true;
    return s.output_pixels * s.element_bytes % alignment == 0 &&
           (result != convolution_result::weight_gradient || s.channels > few_channels);
}

/// The kernels of DepthwiseConv2d.cu: a thread per output, a thread per input, a block per element of the weight.
///
/// Those of cuDNN for channels-last (`conv2d_c1_k1_nhwc`, `dgrad2d_c1_k1_nhwc`) have the same work, and their gradient
/// of the input that of an output.
///
/// Source: aten/src/ATen/native/Convolution.cpp, `use_cudnn_depthwise`.
[[nodiscard]] LLMCOST_INLINE torch_kernel depthwise_kernel(const convolution_sizes& s, convolution_result result) {
    torch_kernel k;
    k.columns = s.window;
    if (result == convolution_result::output) {
        k.name = s.is_channels_last ? "aten::cudnn_convolution" : "aten::_conv_depthwise2d";
        k.kind = torch_kernel_kind::depthwise;
        k.rows = s.batch * s.filters * s.output_pixels;
        k.bytes_read = s.input_bytes + s.weight_bytes;
        k.bytes_written = s.output_bytes;
    } else if (result == convolution_result::input_gradient) {
        k.name = "aten::convolution_backward";
        k.kind = s.is_channels_last ? torch_kernel_kind::depthwise : torch_kernel_kind::depthwise_input;
        k.rows = s.batch * s.channels * s.input_pixels;
        k.bytes_read = s.output_bytes + s.weight_bytes;
        k.bytes_written = s.input_bytes;
    } else {
        constexpr std::int64_t warp = 32;
        k.name = "aten::convolution_backward";
        k.kind = torch_kernel_kind::depthwise_weight;
        k.rows = s.filters * s.window;
        k.columns = s.batch * ((s.output_pixels + warp - 1) / warp * warp);
        k.bytes_read = s.input_bytes + s.output_bytes;
        k.bytes_written = s.weight_bytes;
    }
    return k;
}

/// The product of an implicit GEMM, or of each image.
[[nodiscard]] LLMCOST_INLINE torch_kernel convolution_product(const convolution_sizes& s, convolution_result result) {
    const std::int64_t filters = s.filters / s.groups, channels = s.channels / s.groups;
    torch_kernel k;
    k.name = result == convolution_result::output ? "aten::cudnn_convolution" : "aten::convolution_backward";
    k.kind = result == convolution_result::weight_gradient ? torch_kernel_kind::convolution_weight
                                                           : torch_kernel_kind::convolution;
    k.window = s.window;
    k.batch = s.groups;
    if (is_product_of_images(s, result) && s.output_pixels > 1) {
        k.kind = torch_kernel_kind::convolution_images;
        k.batch = s.batch;
        k.rows = result == convolution_result::input_gradient ? channels : filters;
        k.columns = result == convolution_result::weight_gradient ? channels : s.output_pixels;
        k.inner = result == convolution_result::output           ? channels
                  : result == convolution_result::input_gradient ? filters
                                                                 : s.output_pixels;
    } else if (result == convolution_result::output) {
        k.rows = s.batch * s.output_pixels;
        k.columns = filters;
        k.inner = channels * s.window;
    } else if (result == convolution_result::input_gradient) {
        // with a stride, each input position meets only a part of the window
        k.rows = s.batch * s.input_pixels;
        k.columns = channels;
        k.inner = std::max(filters, filters * s.window * s.output_pixels / std::max<std::int64_t>(s.input_pixels, 1));
    } else {
        k.rows = filters;
        k.columns = channels * s.window;
        k.inner = s.batch * s.output_pixels;
    }
    k.flops = 2 * static_cast<std::uint64_t>(s.batch * s.output_pixels * s.filters * channels * s.window);
    const bool writes_output = result == convolution_result::output,
               writes_input = result == convolution_result::input_gradient;
    k.bytes_written = writes_output ? s.output_bytes : writes_input ? s.input_bytes : s.weight_bytes;
    k.bytes_read = s.input_bytes + s.weight_bytes + s.output_bytes - k.bytes_written;
    return k;
}

/// A conversion between contiguous and channels-last.
[[nodiscard]] LLMCOST_INLINE torch_kernel layout_kernel(literal name, std::uint64_t bytes, std::int64_t channels) {
    torch_kernel k;
    k.name = name;
    k.kind = torch_kernel_kind::layout;
    k.bytes_read = k.bytes_written = bytes;
    k.columns = channels;
    return k;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<torch_kernel> convolution_kernels(const tape_operands& operands, convolution_result result) {
    std::vector<torch_kernel> kernels;
    if (operands.inputs.size() < 2 || operands.inputs[1].rank < 3) return kernels;
    const detail::convolution_sizes s = detail::convolution_sizes_of(operands);
    if (detail::is_depthwise(s)) {
        kernels.push_back(detail::depthwise_kernel(s, result));
    } else {
        const torch_kernel product = detail::convolution_product(s, result);
        const bool is_converted = !s.is_channels_last && !detail::is_product_of_images(s, result);
        const std::int64_t channels = s.channels / s.groups, filters = s.filters / s.groups;
        const torch_kernel input = detail::layout_kernel(product.name, s.input_bytes, channels);
        const torch_kernel output = detail::layout_kernel(product.name, s.output_bytes, filters);
        const torch_kernel weight = detail::layout_kernel(product.name, s.weight_bytes, channels);
        const bool converts_weight = is_converted && s.window > 1;
        if (is_converted) kernels.push_back(result == convolution_result::input_gradient ? output : input);
        if (is_converted && result == convolution_result::weight_gradient) kernels.push_back(output);
        if (converts_weight && result != convolution_result::weight_gradient) kernels.push_back(weight);
        kernels.push_back(product);
        if (is_converted && result == convolution_result::output) kernels.push_back(output);
        if (is_converted && result == convolution_result::input_gradient) kernels.push_back(input);
        if (converts_weight && result == convolution_result::weight_gradient) kernels.push_back(weight);
    }
    for (torch_kernel& k : kernels) {
        k.is_continuation = &k != kernels.data();
        k.type = operands.output.type;
        // cuDNN's calls have no bias; `convolution_backward(gradient, input, weight)`
        if (result != convolution_result::output) detail::add_operand(k, detail::shape_of(operands.output));
        const bool has_bias = std::string_view(k.name) == "aten::_conv_depthwise2d";
        for (std::size_t i = 0; i < operands.inputs.size() && (i < 2 || has_bias); ++i)
            detail::add_operand(k, detail::shape_of(operands.inputs[i]));
    }
    return kernels;
}

}  // namespace llmcost
