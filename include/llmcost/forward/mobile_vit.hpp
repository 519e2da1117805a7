// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/mobile_convolution.hpp>

// MobileViT: inverted residuals and blocks of attention over patches (arXiv 2110.02178).
namespace llmcost::mobile_vit {

enum family_config_index : std::uint8_t {
    heads,
    kernel,
    reduction,
    bias,
    aspp,
    ratio,
    expansion,
    widths,
    necks = widths + 3,
    rates = necks + 7
};

[[nodiscard]] constexpr std::int64_t neck(const model_config& config, std::int64_t i) {
    return stage_entry(config, necks, i);
}

/// A convolution, and a batch norm and an activation where there are such.
struct block {
    const layer_context& ctx;
    std::int64_t in, out;
    std::int64_t kernel_size = 1, stride = 1, groups = 1, dilation = 1;
    maybe<activation> act{};
    bool norms = true;
    bool biased = false;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConvLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const convolution_2d convolution{in,     out,    kernel_size, stride, (kernel_size - 1) / 2 * dilation,
                                         groups, biased, dilation};
        tensor h = t.call("convolution", convolution, x);
        if (norms) h = t.call("normalization", batch_norm_2d{out}, h);
        return act ? t.call("activation", activation_module{*act}, h) : h;
    }
};

/// `make_divisible` by eight of a width times `expand_ratio`.
[[nodiscard]] constexpr std::int64_t expanded(const model_config& config, std::int64_t channels) {
    const std::int64_t value = mobile_convolution::rounded(static_cast<double>(channels) *
                                                           __builtin_bit_cast(double, config.family[expansion]));
    const std::int64_t near = (value + 4) / 8 * 8, width = near > 8 ? near : 8;
    return static_cast<double>(width) < 0.9 * static_cast<double>(value) ? width + 8 : width;
}

struct inverted_residual {
    const layer_context& ctx;
    std::int64_t in, out, stride = 1, dilation = 1;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("InvertedResidual"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return mobile_convolution::forward_inverted_residual<block>(ctx, t, in, expanded(ctx.config, in), out, stride,
                                                                    dilation, x);
    }
};

/// Some of them, the first of which shrinks images.
constexpr tensor convolve(const layer_context& ctx, trace& t, std::int64_t index, std::int64_t stride, std::int64_t n,
                          tensor x) {
    const std::int64_t in = neck(ctx.config, index), out = neck(ctx.config, index + 1);
    const module_info layer{.name = "layer", .index = index, .class_of_module = ctx.class_of("MobileNetLayer")};
    t.enter(layer);
    for (std::int64_t i = 0; i < n; ++i)
        x = t.call({"layer", i}, inverted_residual{ctx, i == 0 ? in : out, out, i == 0 ? stride : 1}, x);
    return t.leave(layer, x);
}

/// Labels of places, from convolutions that reach far and the mean over all.
constexpr tensor segment(const layer_context& ctx, trace& t, std::int64_t in, const tensor& x) {
    const std::int64_t out = ctx.config.family[aspp];
    const module_info head{
        .name = "segmentation_head", .class_of_module = ctx.class_of("DeepLabV3"), .module_role = role::head};
    const module_info pyramid{.name = "aspp", .class_of_module = ctx.class_of("ASPP")};
    const module_info pooling{.name = "convs", .index = 4, .class_of_module = ctx.class_of("ASPPPooling")};
    const block pointwise{.ctx = ctx, .in = in, .out = out, .act = activation::relu};
    t.enter(head);
    t.enter(pyramid);
    const tensor near = t.call({"convs", 0}, pointwise, x);
    const auto dilated_conv = [&](std::int64_t i) {
        block dilated_block = pointwise;
        dilated_block.kernel_size = 3;
        dilated_block.dilation = stage_entry(ctx.config, rates, i);
        return t.call({"convs", i + 1}, dilated_block, x);
    };
    const tensor first = dilated_conv(0), second = dilated_conv(1), third = dilated_conv(2);
    t.enter(pooling);
    const tensor mean = t.call("conv_1x1", pointwise, t.call("global_pool", global_average_pool{}, x));
    const tensor everywhere = t.leave(pooling, t.bilinear(mean, x.dim(2), x.dim(3)));
    const block projection{.ctx = ctx, .in = 5 * out, .out = out, .act = activation::relu};
    tensor h = t.call("project", projection, t.cat({near, first, second, third, everywhere}, 1));
    h = t.leave(pyramid, dropout(t, "dropout", h));
    h = t.call("dropout", identity{"Dropout2d"}, h);
    const block labels{.ctx = ctx, .in = out, .out = ctx.config.num_labels, .norms = false, .biased = true};
    return t.leave(head, t.call("classifier", labels, h));
}

constexpr void parse_segmenter(config_view json, model_config& config) {
    if (config.head != head_kind::semantic_segmentation) return;
    parse_stages_of(json, "atrous_rates", {6, 12, 18}, config.family, rates, 3, 3);
    if (config.num_labels == 0)
        throw_invalid_value(json, json.contains("num_labels") ? "num_labels" : "id2label",
                            "at least one label under this head");
}

}  // namespace llmcost::mobile_vit
