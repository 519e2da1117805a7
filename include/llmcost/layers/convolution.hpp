// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/activation.hpp>

namespace llmcost {

/// `nn.Conv2d` with a square kernel: (B, in, height, width) -> (B, out, output height, output width).
struct convolution_2d {
    std::int64_t in;
    std::int64_t out;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t padding = 0;
    std::int64_t groups = 1;
    bool bias = true;
    std::int64_t dilation = 1;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {out, in / groups, kernel, kernel});
        if (bias) t.read_parameter_in_next_op(t.param("bias", {out}));
        return t.conv(x, weight, bias, groups, stride, padding, dilation);
    }
};

/// `nn.Conv1d`: (B, in, length) -> (B, out, length).
struct convolution_1d {
    std::int64_t in;
    std::int64_t out;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t padding = 0;
    std::int64_t groups = 1;
    bool bias = true;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv1d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {out, in / groups, kernel});
        if (bias) t.read_parameter_in_next_op(t.param("bias", {out}));
        return t.conv(x, weight, bias, groups, stride, padding);
    }
};

/// `nn.Conv3d`: (B, in, frames, height, width) -> (B, out, output frames, output height, output width).
struct convolution_3d {
    std::int64_t in;
    std::int64_t out;
    shape kernel;
    shape stride;
    bool bias = true;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv3d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {out, in, kernel.size[0], kernel.size[1], kernel.size[2]});
        if (bias) t.read_parameter_in_next_op(t.param("bias", {out}));
        return t.conv(x, weight, bias, {1, stride, 1, 0});
    }
};

/// Registers the buffers of `nn.BatchNorm2d`: `running_mean`, `running_var` and `num_batches_tracked`.
constexpr void register_batch_statistics(const trace& t, std::int64_t channels) {
    t.register_buffer({2, channels}, t.activation_type());
    t.register_integer_buffer(1);
}

/// `nn.BatchNorm2d` in evaluation mode, where the statistics are buffers: (B, channels, height, width).
struct batch_norm_2d {
    std::int64_t channels;
    literal named = "BatchNorm2d";

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", named}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        t.read_parameter_in_next_op(t.param("weight", {channels}));
        t.read_parameter_in_next_op(t.param("bias", {channels}));
        register_batch_statistics(t, channels);
        return t.batch_norm(x);
    }
};

/// `nn.MaxPool2d` with a square kernel.
struct max_pool_2d {
    std::int64_t kernel;
    std::int64_t stride;
    std::int64_t padding = 0;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "MaxPool2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.pool(op::max_pool, x, kernel, stride, padding);
    }
};

/// `nn.AvgPool2d` with a square kernel.
struct average_pool_2d {
    std::int64_t kernel;
    std::int64_t stride;
    std::int64_t padding = 0;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "AvgPool2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.pool(op::average_pool, x, kernel, stride, padding);
    }
};

/// `nn.AdaptiveAvgPool2d((1, 1))`: (B, channels, height, width) -> (B, channels, 1, 1).
struct global_average_pool {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "AdaptiveAvgPool2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.mean_of_images(x).unsqueeze(2).unsqueeze(3); }
};

/// `nn.Flatten`: (B, …) -> (B, features).
struct flatten {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Flatten"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.reshape(x, {x.dim(0), -1}); }
};

/// Flattens the pixels of x: (B, channels, height, width) -> (B, height · width, channels). A view, no copy.
constexpr tensor as_tokens(const tensor& x) {
    return x.view({x.dim(0), x.dim(1), x.dim(2) * x.dim(3)}).transpose(1, 2);
}

}  // namespace llmcost
