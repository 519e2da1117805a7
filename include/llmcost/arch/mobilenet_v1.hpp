// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/mobile_convolution.hpp>

namespace llmcost::arch {

namespace mobilenet_v1_detail {

using mobile_convolution::same_padding;

enum family_config_index : std::uint8_t { tf_padding, min_depth, ratio };

inline constexpr family_key family_keys[]{
    {"tf_padding", 1, family_key_type::boolean}, {"min_depth", 8}, {.type = family_key_type::computed}};

/// Padding, convolution, batch norm and activation.
struct block {
    const layer_context& ctx;
    std::int64_t in, out, kernel, stride, groups;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ConvLayer"); }
    constexpr tensor forward(trace& t, tensor x) const {
        const bool pads = ctx.config.family[tf_padding] != 0;
        if (pads) x = t.pad_images(x, same_padding(x.dim(2), kernel, stride), same_padding(x.dim(3), kernel, stride));
        const convolution_2d convolution{in, out, kernel, stride, pads ? 0 : (kernel - 1) / 2, groups, false};
        const tensor h = t.call("normalization", batch_norm_2d{out}, t.call("convolution", convolution, x));
        return t.call("activation", activation_module{ctx.config.hidden_act}, h);
    }
};

/// `depth * depth_multiplier`, at least `min_depth`.
[[nodiscard]] constexpr std::int64_t width_of(const model_config& config, std::int64_t depth) {
    const std::int64_t width = times_ratio(config, ratio, depth);
    return width > config.family[min_depth] ? width : config.family[min_depth];
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    std::int64_t depth = 32, in = 0, out = width_of(ctx.config, depth);
    tensor x = t.call("conv_stem", block{ctx, ctx.config.vision.num_channels, out, 3, 2, 1}, image_input(ctx, t));
    std::int64_t i = 0;
    for (const std::int64_t stride : {1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1}) {
        in = out;
        if (stride == 2 || i == 0) out = width_of(ctx.config, depth *= 2);
        x = t.call({"layer", i++}, block{ctx, in, in, 3, stride, in}, x);
        x = t.call({"layer", i++}, block{ctx, in, out, 1, 1, 1}, x);
    }
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    const tensor pooled = t.call("pooler", global_average_pool{}, x);
    return ctx.config.head == head_kind::none ? x : t.reshape(pooled, {x.dim(0), -1});
}

}  // namespace mobilenet_v1_detail

/// Convolutions per channel and over channels in turns.
///
/// Source: transformers/models/mobilenet_v1/modeling_mobilenet_v1.py.
constexpr tensor forward_mobilenet_v1(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "mobilenet_v1", mobilenet_v1_detail::base, classify_with_dropout);
}

constexpr void parse_mobilenet_v1(config_view json, model_config& config) {
    config.vision = parse_image_size(json, 224);
    parse_ratio(json, "depth_multiplier", 1.0, config.family, mobilenet_v1_detail::ratio);
}

// transformers/models/mobilenet_v1: configuration_mobilenet_v1.py, modeling_mobilenet_v1.py
inline constexpr model_spec mobilenet_v1{
    .model_type = "mobilenet_v1",
    .class_prefix = "MobileNetV1",
    .forward = forward_mobilenet_v1,
    .parse_config = parse_mobilenet_v1,
    .family_keys = mobilenet_v1_detail::family_keys,
    .rotary = rotary_style::none,
    .accepts_any_image_size = true,
    .supported_heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::relu6),
};

}  // namespace llmcost::arch
