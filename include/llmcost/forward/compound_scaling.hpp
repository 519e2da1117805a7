// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>

// EfficientNet: sizes of its stages by compound scaling (arXiv 1905.11946).
namespace llmcost::compound_scaling {

enum family_config_index : std::uint8_t { top, pools_maximum, squeeze_ratio, stem, stages, packed_stages };

/// Sizes of one stage. Its first block can change the number of channels and use a stride.
struct stage_sizes {
    std::int64_t in, out, kernel, stride, repeats, expand;
    bool uses_symmetric_padding;  ///< padding of the first block if it uses a stride

    /// Packs the sizes into two integers of `family_config`.
    constexpr void write(family_config& to, std::int64_t stage) const {
        const auto offset = packed_stages + 2 * static_cast<std::size_t>(stage);
        to[offset] = in << 31 | out;
        to[offset + 1] =
            ((kernel << 16 | repeats) << 16 | expand) << 2 | (stride == 2 ? 2 : 0) | (uses_symmetric_padding ? 1 : 0);
    }
    [[nodiscard]] static constexpr stage_sizes parse_config(const model_config& config, std::int64_t stage) {
        const auto offset = packed_stages + 2 * static_cast<std::size_t>(stage);
        const std::int64_t widths = config.family[offset], rest = config.family[offset + 1], low = 0xffff;
        return {widths >> 31,     widths & 0x7fffffff, rest >> 34,     rest & 2 ? 2 : 1,
                rest >> 18 & low, rest >> 2 & low,     (rest & 1) != 0};
    }
};

/// Depthwise `nn.Conv2d` with its own class name.
struct depthwise : convolution_2d {
    literal prefix;

    constexpr depthwise(convolution_2d conv, literal class_prefix) noexcept
        : convolution_2d{conv}, prefix(class_prefix) {}
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "DepthwiseConv2d"}; }
};

/// `nn.ZeroPad2d`.
struct zero_padding {
    std::int64_t padding;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "ZeroPad2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.pad_images(x, padding, padding); }
};

constexpr tensor activated(const layer_context& ctx, trace& t, literal norm, literal act, const tensor& x) {
    return t.call(act, activation_module{ctx.config.hidden_act}, t.call(norm, batch_norm_2d{x.dim(1)}, x));
}

/// MBConv block: expansion, depthwise convolution, squeeze-and-excitation, projection.
struct block {
    const layer_context& ctx;
    stage_sizes stage;
    bool first;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Block"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = x.dim(1), inner = in * stage.expand, stride = first ? stage.stride : 1;
        const module_info expansion{.name = "expansion", .class_of_module = ctx.class_of("ExpansionLayer")};
        const module_info spatial{.name = "depthwise_conv", .class_of_module = ctx.class_of("DepthwiseLayer")};
        const module_info projection{.name = "projection", .class_of_module = ctx.class_of("FinalBlockLayer")};
        tensor h = x;
        if (stage.expand != 1) {
            t.enter(expansion);
            h = t.call("expand_conv", convolution_2d{in, inner, 1, 1, 0, 1, false}, h);
            h = t.leave(expansion, activated(ctx, t, "expand_bn", "expand_act", h));
        }
        t.enter(spatial);
        const std::int64_t conv_padding = stride == 2 ? 0 : stage.kernel / 2;
        const zero_padding padding{stage.kernel / 2 * 2 - (stage.uses_symmetric_padding ? 0 : 1)};
        if (stride == 2) {
            h = t.call("depthwise_conv_pad", padding, h);
        } else {
            const recorder::not_executed_guard unused{t};
            (void)t.call("depthwise_conv_pad", padding, h);
        }
        const depthwise depthwise_conv{{inner, inner, stage.kernel, stride, conv_padding, inner, false},
                                       ctx.spec.class_prefix};
        h = t.leave(spatial,
                    activated(ctx, t, "depthwise_norm", "depthwise_act", t.call("depthwise_conv", depthwise_conv, h)));
        h = squeezed(t, h, in);
        t.enter(projection);
        h = t.call("project_conv", convolution_2d{inner, stage.out, 1, 1, 0, 1, false}, h);
        h = t.call("project_bn", batch_norm_2d{stage.out}, h);
        if (first) {
            const recorder::not_executed_guard unused{t};
            (void)dropout(t, "dropout", h);
        } else {
            h = t.add(dropout(t, "dropout", h), x);
        }
        return t.leave(projection, h);
    }
    constexpr tensor squeezed(trace& t, const tensor& x, std::int64_t in) const {
        const std::int64_t width = x.dim(1), share = times_ratio(ctx.config, squeeze_ratio, in),
                           inner = share > 1 ? share : 1;
        const module_info excite{.name = "squeeze_excite", .class_of_module = ctx.class_of("SqueezeExciteLayer")};
        t.enter(excite);
        tensor h = t.call("reduce", convolution_2d{width, inner}, t.call("squeeze", global_average_pool{}, x));
        h = t.call("act_reduce", activation_module{ctx.config.hidden_act}, h);
        h = t.call("act_expand", activation_module{activation::sigmoid},
                   t.call("expand", convolution_2d{inner, width}, h));
        return t.leave(excite, t.mul_function(x, h));
    }
};

constexpr tensor call_blocks(const layer_context& ctx, trace& t, tensor x) {
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < ctx.config.family[stages]; ++i) {
        const stage_sizes stage = stage_sizes::parse_config(ctx.config, i);
        x = t.call({"blocks", number++}, block{ctx, stage, true}, x);
        for (loop layer_loop = t.loop_modules(stage.repeats - 1, x, number); layer_loop.next();)
            x = t.call({"blocks", layer_loop.index()}, block{ctx, stage, false}, x);
        number += stage.repeats - 1;
    }
    return x;
}

/// Global pooling: the window has the size of the features and covers every image.
struct global_pool {
    std::int64_t window;
    bool maximum;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", maximum ? "MaxPool2d" : "AvgPool2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.pool(maximum ? op::max_pool : op::average_pool, x, window, window, 0, true);
    }
};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    tensor x = t.call("padding", zero_padding{1}, image_input(ctx, t));
    x = t.call("convolution", convolution_2d{x.dim(1), ctx.config.family[stem], 3, 2, 0, 1, false}, x);
    return t.leave(embeddings, activated(ctx, t, "batchnorm", "activation", x));
}

}  // namespace llmcost::compound_scaling
