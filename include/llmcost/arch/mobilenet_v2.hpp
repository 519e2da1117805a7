// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mobilenet_v1.hpp>

namespace llmcost::arch {

namespace mobilenet_v2_detail {

enum own : std::uint8_t { tf_padding, least, multiple, reduction, expands_first, fine, ratio, expansion };
inline constexpr own_key keys[]{
    {"tf_padding", 1, own_value::boolean},
    {"min_depth", 8, own_value::non_negative},
    {"depth_divisible_by", 8},
    {"output_stride", 32},
    {"first_layer_is_expansion", 1, own_value::boolean},
    {"finegrained_output", 1, own_value::boolean},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

/// Python's `round`: halves go to the even neighbour.
[[nodiscard]] constexpr std::int64_t rounded(double x) {
    const auto below = static_cast<std::int64_t>(x);
    const double rest = x - static_cast<double>(below);
    return below + (rest > 0.5 || (rest == 0.5 && below % 2 != 0) ? 1 : 0);
}
/// `make_divisible` of a width times a ratio.
[[nodiscard]] constexpr std::int64_t width_of(const sizes& dims, std::size_t by, std::int64_t of) {
    const std::int64_t value = rounded(static_cast<double>(of) * __builtin_bit_cast(double, dims.own[by]));
    const std::int64_t divisor = dims.own[multiple], near = (value + divisor / 2) / divisor * divisor;
    const std::int64_t width = near > dims.own[least] ? near : dims.own[least];
    return static_cast<double>(width) < 0.9 * static_cast<double>(value) ? width + divisor : width;
}

/// Padding, convolution, batch norm and activation, the last two where there are such.
struct block {
    const site& here;
    std::int64_t in, out;
    std::int64_t kernel = 1, stride = 1, groups = 1, dilation = 1;
    maybe<activation> act{};
    bool norms = true;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConvLayer"); }
    constexpr value describe(trace& t, value x) const {
        using mobilenet_v1_detail::same_padding;
        const bool pads = here.dims.own[tf_padding] != 0;
        if (pads)
            x = t.pad_images(x, same_padding(x.dim(2), kernel, stride) * dilation,
                             same_padding(x.dim(3), kernel, stride) * dilation);
        const convolution_2d convolution{in,     out,    kernel,  stride, pads ? 0 : (kernel - 1) / 2 * dilation,
                                         groups, !norms, dilation};
        value h = t.call("convolution", convolution, x);
        if (norms) h = t.call("normalization", batch_norm_2d{out}, h);
        return act ? t.call("activation", activation_module{*act}, h) : h;
    }
};

/// Three convolutions: wider, over places channel by channel, narrower.
constexpr value residual(const site& here, trace& t, const module_info& m, std::int64_t in, std::int64_t out,
                         std::int64_t stride, std::int64_t dilation, const value& x) {
    const std::int64_t wide = width_of(here.dims, expansion, in);
    const activation act = here.dims.hidden_act;
    t.enter(m);
    value h = t.call("expand_1x1", block{.here = here, .in = in, .out = wide, .act = act}, x);
    const block over_places{.here = here,
                            .in = wide,
                            .out = wide,
                            .kernel = 3,
                            .stride = stride,
                            .groups = wide,
                            .dilation = dilation,
                            .act = act};
    h = t.call("conv_3x3", over_places, h);
    h = t.call("reduce_1x1", block{.here = here, .in = wide, .out = out}, h);
    return t.leave(m, stride == 1 && in == out ? t.add(x, h) : h);
}

constexpr value stem(const site& here, trace& t, std::int64_t out) {
    const std::int64_t wide = width_of(here.dims, ratio, 32);
    const activation act = here.dims.hidden_act;
    const module_info m{.name = "conv_stem", .type = here.type("Stem")};
    const block first{.here = here, .in = here.dims.vision.num_channels, .out = wide, .kernel = 3, .stride = 2, .act = act};
    t.enter(m);
    value h = t.call("first_conv", first, images_of(here, t));
    if (here.dims.own[expands_first] == 0)
        h = t.call("expand_1x1", block{.here = here, .in = wide, .out = wide, .act = act}, h);
    const block over_places{.here = here, .in = wide, .out = wide, .kernel = 3, .groups = wide, .act = act};
    h = t.call("conv_3x3", over_places, h);
    return t.leave(m, t.call("reduce_1x1", block{.here = here, .in = wide, .out = out}, h));
}

/// What a classifier reads is pooled; a segmenter reads what lies in front of the last convolution.
constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    std::int64_t i = 0, in = width_of(dims, ratio, 16), shrunk = 2, dilation = 1;
    value x = stem(here, t, in);
    for (const std::int64_t channels : {24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320}) {
        const std::int64_t wanted = i == 0 || i == 2 || i == 5 || i == 12 ? 2 : 1, out = width_of(dims, ratio, channels);
        const bool dilates = shrunk == dims.own[reduction];
        const module_info m{.name = "layer", .index = i++, .type = here.type("InvertedResidual")};
        x = residual(here, t, m, in, out, dilates ? 1 : wanted, dilates ? dilation : 1, x);
        (dilates ? dilation : shrunk) *= wanted;
        in = out;
    }
    const bool segments = dims.head == head_kind::semantic_segmentation, bare = dims.head == head_kind::none;
    const bool keeps = dims.own[fine] != 0 && __builtin_bit_cast(double, dims.own[ratio]) < 1.0;
    const block last{.here = here, .in = in, .out = keeps ? 1280 : width_of(dims, ratio, 1280), .act = dims.hidden_act};
    {
        const recorder::off_loss_guard unread{t, segments};
        const value h = t.call("conv_1x1", last, x);
        if (segments) return x;
        x = h;
    }
    const recorder::off_loss_guard unread{t, bare};
    const value pooled = t.call("pooler", global_average_pool{}, x);
    return bare ? x : t.reshape(pooled, {x.dim(0), -1});
}

/// Labels of places, from what lies there and the mean over all.
constexpr value segment(const site& here, trace& t, const value& x) {
    const module_info head{.name = "segmentation_head", .type = here.type("DeepLabV3Plus"), .what = role::head};
    const block narrow{.here = here, .in = x.dim(1), .out = 256, .act = activation::relu};
    const block joined{.here = here, .in = 512, .out = 256, .act = activation::relu};
    const block labels{.here = here, .in = 256, .out = here.dims.num_labels, .norms = false};
    t.enter(head);
    const value pooled = t.call("conv_pool", narrow, t.call("avg_pool", global_average_pool{}, x));
    const value everywhere = t.bilinear(pooled, x.dim(2), x.dim(3));
    value h = t.cat({everywhere, t.call("conv_aspp", narrow, x)}, 1);
    h = t.call("dropout", identity{"Dropout2d"}, t.call("conv_projection", joined, h));
    return t.leave(head, t.call("classifier", labels, h));
}
constexpr value score(const site& here, trace& t, const value& x) {
    return here.dims.head == head_kind::semantic_segmentation ? segment(here, t, x) : classify_dropped(here, t, x);
}

}  // namespace mobilenet_v2_detail

/// Convolutions that widen, look around and narrow, in a residual each.
///
/// Source: transformers/models/mobilenet_v2/modeling_mobilenet_v2.py.
constexpr value describe_mobilenet_v2(const site& here, trace& t) {
    return describe_image_model(here, t, "mobilenet_v2", mobilenet_v2_detail::base, mobilenet_v2_detail::score);
}

constexpr void read_mobilenet_v2(config_view config, sizes& s) {
    using namespace mobilenet_v2_detail;
    s.vision = read_images(config, 224);
    read_ratio(config, "depth_multiplier", 1.0, s.own, ratio);
    read_ratio(config, "expand_ratio", 6.0, s.own, expansion);
    const std::int64_t narrow = width_of(s, ratio, 16);
    if (narrow < 1 || width_of(s, expansion, narrow) < 1)
        fail_value(config, "depth_multiplier", "a ratio that leaves a channel everywhere");
    if (s.head == head_kind::semantic_segmentation && s.num_labels == 0)
        fail_value(config, config.contains("num_labels") ? "num_labels" : "id2label", "at least one label under this head");
}

// transformers/models/mobilenet_v2: configuration_mobilenet_v2.py, modeling_mobilenet_v2.py
inline constexpr architecture mobilenet_v2{
    .model_type = "mobilenet_v2",
    .prefix = "MobileNetV2",
    .describe = describe_mobilenet_v2,
    .read = read_mobilenet_v2,
    .own = mobilenet_v2_detail::keys,
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification, head_kind::semantic_segmentation},
    .defaults = image_defaults(activation::relu6),
};

}  // namespace llmcost::arch
