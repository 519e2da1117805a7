// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/layers/convolution.hpp>

// VQ-GAN: residual convolutions of an image tokenizer (arXiv 2012.09841).
namespace llmcost::vq_encoder {

struct group_norm {
    class_name named{"", "GroupNorm"};

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        t.read_parameter_in_next_op(t.param("weight", {x.dim(1)}));
        t.read_parameter_in_next_op(t.param("bias", {x.dim(1)}));
        return t.group_norm(x, 32);
    }
};

/// Swish: x · sigmoid(x), in place.
constexpr tensor swish(trace& t, tensor x) {
    t.mul_(x, t.sigmoid(x));
    return x;
}

/// Residual block: two convolutions, each after a norm and swish.
struct residual_block {
    const layer_context& ctx;
    std::int64_t out;
    literal named = "EncoderResnetBlock";
    bool drops = true;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of(named); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = x.dim(1);
        tensor h = t.call("conv1", convolution_2d{in, out, 3, 1, 1}, swish(t, t.call("norm1", group_norm{}, x)));
        h = swish(t, t.call("norm2", group_norm{}, h));
        if (drops) h = dropout(t, "dropout", h);
        h = t.call("conv2", convolution_2d{out, out, 3, 1, 1}, h);
        return t.add(in == out ? x : t.call("nin_shortcut", convolution_2d{in, out}, x), h);
    }
};

/// Downsamples by two with a strided convolution, padded at the right and at the bottom.
constexpr tensor halve(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info half{.name = "downsample", .class_of_module = ctx.class_of("EncoderConvDownsample")};
    t.enter(half);
    return t.leave(half, t.call("conv", convolution_2d{x.dim(1), x.dim(1), 3, 2}, t.pad(x, 2, 1, 1)));
}

}  // namespace llmcost::vq_encoder
