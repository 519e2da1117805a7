// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace mobilenet_v1_detail {

enum own : std::uint8_t { tf_padding, least, ratio };
inline constexpr own_key keys[]{{"tf_padding", 1, own_value::boolean}, {"min_depth", 8}, {.value = own_value::computed}};

/// Rows or columns of zeros that TensorFlow's "SAME" adds (`apply_tf_padding`).
[[nodiscard]] constexpr std::int64_t same_padding(std::int64_t size, std::int64_t kernel, std::int64_t stride) noexcept {
    const std::int64_t rest = size % stride, more = kernel - (rest == 0 ? stride : rest);
    return more > 0 ? more : 0;
}

/// Padding, convolution, batch norm and activation.
struct block {
    const site& here;
    std::int64_t in, out, kernel, stride, groups;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConvLayer"); }
    constexpr value describe(trace& t, value x) const {
        const bool pads = here.dims.own[tf_padding] != 0;
        if (pads) x = t.pad_images(x, same_padding(x.dim(2), kernel, stride), same_padding(x.dim(3), kernel, stride));
        const convolution_2d convolution{in, out, kernel, stride, pads ? 0 : (kernel - 1) / 2, groups, false};
        const value h = t.call("normalization", batch_norm_2d{out}, t.call("convolution", convolution, x));
        return t.call("activation", activation_module{here.dims.hidden_act}, h);
    }
};

/// `depth * depth_multiplier`, at least `min_depth`.
[[nodiscard]] constexpr std::int64_t width_of(const sizes& dims, std::int64_t depth) {
    const std::int64_t width = times_ratio(dims, ratio, depth);
    return width > dims.own[least] ? width : dims.own[least];
}

constexpr value base(const site& here, trace& t) {
    std::int64_t depth = 32, in = 0, out = width_of(here.dims, depth);
    value x = t.call("conv_stem", block{here, here.dims.vision.num_channels, out, 3, 2, 1}, images_of(here, t));
    std::int64_t i = 0;
    for (const std::int64_t stride : {1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1}) {
        in = out;
        if (stride == 2 || i == 0) out = width_of(here.dims, depth *= 2);
        x = t.call({"layer", i++}, block{here, in, in, 3, stride, in}, x);
        x = t.call({"layer", i++}, block{here, in, out, 1, 1, 1}, x);
    }
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    const value pooled = t.call("pooler", global_average_pool{}, x);
    return here.dims.head == head_kind::none ? x : t.reshape(pooled, {x.dim(0), -1});
}

}  // namespace mobilenet_v1_detail

/// Convolutions per channel and over channels in turns.
///
/// Source: transformers/models/mobilenet_v1/modeling_mobilenet_v1.py.
constexpr value describe_mobilenet_v1(const site& here, trace& t) {
    return describe_image_model(here, t, "mobilenet_v1", mobilenet_v1_detail::base, classify_dropped);
}

constexpr void read_mobilenet_v1(config_view config, sizes& s) {
    s.vision = read_images(config, 224);
    read_ratio(config, "depth_multiplier", 1.0, s.own, mobilenet_v1_detail::ratio);
}

// transformers/models/mobilenet_v1: configuration_mobilenet_v1.py, modeling_mobilenet_v1.py
inline constexpr architecture mobilenet_v1{
    .model_type = "mobilenet_v1",
    .prefix = "MobileNetV1",
    .describe = describe_mobilenet_v1,
    .read = read_mobilenet_v1,
    .own = mobilenet_v1_detail::keys,
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::relu6),
};

}  // namespace llmcost::arch
