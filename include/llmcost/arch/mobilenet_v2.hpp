// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/mobile_convolution.hpp>

namespace llmcost::arch {

namespace mobilenet_v2_detail {

using mobile_convolution::rounded;

enum family_config_index : std::uint8_t {
    tf_padding,
    min_depth,
    multiple,
    reduction,
    expands_first,
    fine,
    ratio,
    expansion
};

inline constexpr family_key family_keys[]{
    {"tf_padding", 1, family_key_type::boolean},
    {"min_depth", 8, family_key_type::non_negative},
    {"depth_divisible_by", 8},
    {"output_stride", 32},
    {"first_layer_is_expansion", 1, family_key_type::boolean},
    {"finegrained_output", 1, family_key_type::boolean},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

/// `make_divisible` of a width times a ratio.
[[nodiscard]] constexpr std::int64_t width_of(const model_config& config, std::size_t ratio_index,
                                              std::int64_t channels) {
    const std::int64_t value =
        rounded(static_cast<double>(channels) * __builtin_bit_cast(double, config.family[ratio_index]));
    const std::int64_t divisor = config.family[multiple], near = (value + divisor / 2) / divisor * divisor;
    const std::int64_t width = near > config.family[min_depth] ? near : config.family[min_depth];
    return static_cast<double>(width) < 0.9 * static_cast<double>(value) ? width + divisor : width;
}

/// Padding, convolution, batch norm and activation, the last two where there are such.
struct block {
    const layer_context& ctx;
    std::int64_t in, out;
    std::int64_t kernel_size = 1, stride = 1, groups = 1, dilation = 1;
    maybe<activation> act{};
    bool norms = true;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConvLayer"); }
    constexpr tensor forward(trace& t, tensor x) const {
        using mobile_convolution::same_padding;
        const bool pads = ctx.config.family[tf_padding] != 0;
        if (pads)
            x = t.pad_images(x, same_padding(x.dim(2), kernel_size, stride) * dilation,
                             same_padding(x.dim(3), kernel_size, stride) * dilation);
        const convolution_2d convolution{
            in, out, kernel_size, stride, pads ? 0 : (kernel_size - 1) / 2 * dilation, groups, !norms, dilation};
        tensor h = t.call("convolution", convolution, x);
        if (norms) h = t.call("normalization", batch_norm_2d{out}, h);
        return act ? t.call("activation", activation_module{*act}, h) : h;
    }
};

/// An inverted residual in a module.
constexpr tensor add_residual(const layer_context& ctx, trace& t, const module_info& m, std::int64_t in,
                              std::int64_t out, std::int64_t stride, std::int64_t dilation, const tensor& x) {
    t.enter(m);
    return t.leave(m, mobile_convolution::forward_inverted_residual<block>(
                          ctx, t, in, width_of(ctx.config, expansion, in), out, stride, dilation, x));
}

constexpr tensor stem(const layer_context& ctx, trace& t, std::int64_t out) {
    const std::int64_t expanded_width = width_of(ctx.config, ratio, 32);
    const activation act = ctx.config.hidden_act;
    const module_info m{.name = "conv_stem", .class_of_module = ctx.class_of("Stem")};
    const block first{.ctx = ctx,
                      .in = ctx.config.vision.num_channels,
                      .out = expanded_width,
                      .kernel_size = 3,
                      .stride = 2,
                      .act = act};
    t.enter(m);
    tensor h = t.call("first_conv", first, image_input(ctx, t));
    if (ctx.config.family[expands_first] == 0)
        h = t.call("expand_1x1", block{.ctx = ctx, .in = expanded_width, .out = expanded_width, .act = act}, h);
    const block over_places{.ctx = ctx,
                            .in = expanded_width,
                            .out = expanded_width,
                            .kernel_size = 3,
                            .groups = expanded_width,
                            .act = act};
    h = t.call("conv_3x3", over_places, h);
    return t.leave(m, t.call("reduce_1x1", block{.ctx = ctx, .in = expanded_width, .out = out}, h));
}

/// What a classifier reads is pooled; a segmenter reads what lies before the last convolution.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    std::int64_t i = 0, in = width_of(config, ratio, 16), shrunk = 2, dilation = 1;
    tensor x = stem(ctx, t, in);
    for (const std::int64_t channels : {24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320}) {
        const std::int64_t wanted = i == 0 || i == 2 || i == 5 || i == 12 ? 2 : 1,
                           out = width_of(config, ratio, channels);
        const bool dilates = shrunk == config.family[reduction];
        const module_info m{.name = "layer", .index = i++, .class_of_module = ctx.class_of("InvertedResidual")};
        x = add_residual(ctx, t, m, in, out, dilates ? 1 : wanted, dilates ? dilation : 1, x);
        (dilates ? dilation : shrunk) *= wanted;
        in = out;
    }
    const bool segments = config.head == head_kind::semantic_segmentation, bare = config.head == head_kind::none;
    const bool keeps = config.family[fine] != 0 && __builtin_bit_cast(double, config.family[ratio]) < 1.0;
    const block last{
        .ctx = ctx, .in = in, .out = keeps ? 1280 : width_of(config, ratio, 1280), .act = config.hidden_act};
    {
        const recorder::detach_guard unread{t, segments};
        const tensor h = t.call("conv_1x1", last, x);
        if (segments) return x;
        x = h;
    }
    const recorder::detach_guard unread{t, bare};
    const tensor pooled = t.call("pooler", global_average_pool{}, x);
    return bare ? x : t.reshape(pooled, {x.dim(0), -1});
}

/// Labels of places, from what lies there and the mean over all.
constexpr tensor segment(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info head{
        .name = "segmentation_head", .class_of_module = ctx.class_of("DeepLabV3Plus"), .module_role = role::head};
    const block pointwise{.ctx = ctx, .in = x.dim(1), .out = 256, .act = activation::relu};
    const block projection{.ctx = ctx, .in = 512, .out = 256, .act = activation::relu};
    const block labels{.ctx = ctx, .in = 256, .out = ctx.config.num_labels, .norms = false};
    t.enter(head);
    const tensor pooled = t.call("conv_pool", pointwise, t.call("avg_pool", global_average_pool{}, x));
    const tensor everywhere = t.bilinear(pooled, x.dim(2), x.dim(3));
    tensor h = t.cat({everywhere, t.call("conv_aspp", pointwise, x)}, 1);
    h = t.call("dropout", identity{"Dropout2d"}, t.call("conv_projection", projection, h));
    return t.leave(head, t.call("classifier", labels, h));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor& x) {
    return ctx.config.head == head_kind::semantic_segmentation ? segment(ctx, t, x) : classify_with_dropout(ctx, t, x);
}

}  // namespace mobilenet_v2_detail

/// Convolutions that widen, look around and narrow, in a residual each.
///
/// Source: transformers/models/mobilenet_v2/modeling_mobilenet_v2.py.
constexpr tensor forward_mobilenet_v2(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "mobilenet_v2", mobilenet_v2_detail::base, mobilenet_v2_detail::score);
}

constexpr void parse_mobilenet_v2(config_view json, model_config& config) {
    using namespace mobilenet_v2_detail;
    using namespace mobile_convolution;
    config.vision = parse_image_size(json, 224);
    parse_ratio(json, "depth_multiplier", 1.0, config.family, ratio);
    parse_ratio(json, "expand_ratio", 6.0, config.family, expansion);
    const std::int64_t first_width = width_of(config, ratio, 16);
    if (first_width < 1 || width_of(config, expansion, first_width) < 1)
        throw_invalid_value(json, "depth_multiplier", "a ratio that leaves a channel everywhere");
    if (config.head == head_kind::semantic_segmentation && config.num_labels == 0)
        throw_invalid_value(json, json.contains("num_labels") ? "num_labels" : "id2label",
                            "at least one label under this head");
}

// transformers/models/mobilenet_v2: configuration_mobilenet_v2.py, modeling_mobilenet_v2.py
inline constexpr model_spec mobilenet_v2{
    .model_type = "mobilenet_v2",
    .class_prefix = "MobileNetV2",
    .forward = forward_mobilenet_v2,
    .parse_config = parse_mobilenet_v2,
    .family_keys = mobilenet_v2_detail::family_keys,
    .rotary = rotary_style::none,
    .accepts_any_image_size = true,
    .supported_heads = {head_kind::none, head_kind::image_classification, head_kind::semantic_segmentation},
    .defaults = image_defaults(activation::relu6),
};

}  // namespace llmcost::arch
