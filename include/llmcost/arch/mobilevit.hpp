// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mobilenet_v2.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/walks/encoder.hpp>

namespace llmcost::arch {

namespace mobilevit_detail {

enum own : std::uint8_t {
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
inline constexpr own_key keys[]{
    {"num_attention_heads", 4},          {"conv_kernel_size", 3},    {"output_stride", 32},
    {"qkv_bias", 1, own_value::boolean}, {"aspp_out_channels", 256},
};

[[nodiscard]] constexpr std::int64_t neck(const sizes& dims, std::int64_t i) { return of_stage(dims, necks, i); }

/// A convolution, and a batch norm and an activation where there are such.
struct block {
    const site& here;
    std::int64_t in, out;
    std::int64_t kernel_size = 1, stride = 1, groups = 1, dilation = 1;
    maybe<activation> act{};
    bool norms = true;
    bool biased = false;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ConvLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const convolution_2d convolution{in,     out,    kernel_size, stride, (kernel_size - 1) / 2 * dilation,
                                         groups, biased, dilation};
        value h = t.call("convolution", convolution, x);
        if (norms) h = t.call("normalization", batch_norm_2d{out}, h);
        return act ? t.call("activation", activation_module{*act}, h) : h;
    }
};

/// `make_divisible` by eight of a width times `expand_ratio`.
[[nodiscard]] constexpr std::int64_t expanded(const sizes& dims, std::int64_t of) {
    const std::int64_t value =
        mobilenet_v2_detail::rounded(static_cast<double>(of) * __builtin_bit_cast(double, dims.own[expansion]));
    const std::int64_t near = (value + 4) / 8 * 8, width = near > 8 ? near : 8;
    return static_cast<double>(width) < 0.9 * static_cast<double>(value) ? width + 8 : width;
}

/// Three convolutions: wider, over places channel by channel, narrower.
struct inverted_residual {
    const site& here;
    std::int64_t in, out, stride = 1, dilation = 1;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("InvertedResidual"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t wide = expanded(here.dims, in);
        const activation act = here.dims.hidden_act;
        value h = t.call("expand_1x1", block{.here = here, .in = in, .out = wide, .act = act}, x);
        const block over_places{.here = here,
                                .in = wide,
                                .out = wide,
                                .kernel_size = 3,
                                .stride = stride,
                                .groups = wide,
                                .dilation = dilation,
                                .act = act};
        h = t.call("conv_3x3", over_places, h);
        h = t.call("reduce_1x1", block{.here = here, .in = wide, .out = out}, h);
        return stride == 1 && in == out ? t.add(x, h) : h;
    }
};

/// Some of them, the first of which shrinks images.
constexpr value convolve(const site& here, trace& t, std::int64_t index, std::int64_t stride, std::int64_t n, value x) {
    const std::int64_t in = neck(here.dims, index), out = neck(here.dims, index + 1);
    const module_info layer{.name = "layer", .index = index, .type = here.type("MobileNetLayer")};
    t.enter(layer);
    for (std::int64_t i = 0; i < n; ++i)
        x = t.call({"layer", i}, inverted_residual{here, i == 0 ? in : out, out, i == 0 ? stride : 1}, x);
    return t.leave(layer, x);
}

struct transformer_layer {
    const site& here;
    std::int64_t width;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TransformerLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{width};
        const std::int64_t inner = times_ratio(here.dims, ratio, width);
        const module_info attention{.name = "attention", .type = here.type("Attention"), .what = role::attn};
        const module_info self{.name = "attention", .type = here.type("SelfAttention")};
        const module_info self_output{.name = "output", .type = here.type("SelfOutput")};
        const module_info intermediate{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
        const module_info output{.name = "output", .type = here.type("Output"), .what = role::mlp};
        value h = t.call("layernorm_before", layer_norm, x);
        t.enter(attention);
        t.enter(self);
        h = t.leave(self, attend(t, h));
        t.enter(self_output);
        h = dropout(t, "dropout", t.call("dense", linear{width, width, true}, h));
        const value middle = t.add(t.leave(attention, t.leave(self_output, h)), x);
        h = t.call("layernorm_after", layer_norm, middle);
        t.enter(intermediate);
        h = t.call("dense", linear{width, inner, true}, h);
        h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{here.dims.hidden_act}, h));
        t.enter(output);
        h = dropout(t, "dropout", t.call("dense", linear{inner, width, true}, h));
        return t.leave(output, t.add(h, middle));
    }

private:
    constexpr value attend(trace& t, const value& x) const {
        const std::int64_t n = here.dims.own[heads];
        const auto project = [&](literal name) {
            const value all = t.call(name, linear{width, width, here.dims.own[bias] != 0}, x);
            return all.view({x.dim(0), x.dim(1), n, width / n}).transpose(1, 2);
        };
        const value q = project("query"), k = project("key"), v = project("value");
        return look_up_dividing(t, q, k, v, all_positions(x.dim(1)));
    }
};

/// Attention between the places that stand alike in their patches: images to (B · patch², patches, width), and back.
constexpr value attend_between_patches(const site& here, trace& t, std::int64_t n, const value& image) {
    const std::int64_t side = here.dims.vision.patch_size, area = side * side, batch = image.dim(0), width = image.dim(1);
    const std::int64_t rows = (image.dim(2) + side - 1) / side, columns = (image.dim(3) + side - 1) / side;
    const bool resampled = rows * side != image.dim(2) || columns * side != image.dim(3);
    const module_info transformer{.name = "transformer", .type = here.type("Transformer")};
    value x = resampled ? t.bilinear(image, rows * side, columns * side) : image;
    x = t.reshape(x, {batch * width * rows, side, columns, side}).transpose(1, 2);
    x = t.reshape(x, {batch, width, rows * columns, area}).transpose(1, 3);
    x = t.reshape(x, {batch * area, rows * columns, width});
    t.enter(transformer);
    for (repetition each = t.repeat(n, x); each.next();)
        x = t.call({"layer", each.index()}, transformer_layer{here, width}, x);
    t.leave(transformer);
    x = t.call("layernorm", norm<norm_kind::layer>{width}, x);
    x = t.contiguous(x).view({batch, area, rows * columns, width}).transpose(1, 3);
    x = t.reshape(x, {batch * width * rows, columns, side, side}).transpose(1, 2);
    x = t.reshape(x, {batch, width, rows * side, columns * side});
    return resampled ? t.bilinear(x, image.dim(2), image.dim(3)) : x;
}

/// A stage that shrinks images and looks at them through convolutions and attention, beside what it was given.
constexpr value mix(const site& here, trace& t, std::int64_t index, std::int64_t layers, std::int64_t dilation, value x) {
    const std::int64_t in = neck(here.dims, index), out = neck(here.dims, index + 1);
    const std::int64_t width = of_stage(here.dims, widths, index - 2), side = here.dims.own[kernel];
    const activation act = here.dims.hidden_act;
    const module_info layer{.name = "layer", .index = index, .type = here.type("Layer")};
    t.enter(layer);
    const bool dilates = dilation > 1;
    x = t.call("downsampling_layer", inverted_residual{here, in, out, dilates ? 1 : 2, dilates ? dilation / 2 : 1}, x);
    value h = t.call("conv_kxk", block{.here = here, .in = out, .out = out, .kernel_size = side, .act = act}, x);
    h = t.call("conv_1x1", block{.here = here, .in = out, .out = width, .norms = false}, h);
    h = attend_between_patches(here, t, layers, h);
    h = t.call("conv_projection", block{.here = here, .in = width, .out = out, .act = act}, h);
    const block fusion{.here = here, .in = 2 * out, .out = out, .kernel_size = side, .act = act};
    return t.leave(layer, t.call("fusion", fusion, t.cat({x, h}, 1)));
}

/// What a classifier reads is widened and averaged; a segmenter reads what the last stage gives.
constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    const std::int64_t to = dims.own[reduction];
    const activation act = dims.hidden_act;
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const block stem{
        .here = here, .in = dims.vision.num_channels, .out = neck(dims, 0), .kernel_size = 3, .stride = 2, .act = act};
    value x = t.call("conv_stem", stem, images_of(here, t));
    t.enter(encoder);
    x = convolve(here, t, 0, 1, 1, x);
    x = convolve(here, t, 1, 2, 3, x);
    x = mix(here, t, 2, 2, 1, x);
    x = mix(here, t, 3, 4, to == 8 ? 2 : 1, x);
    x = mix(here, t, 4, 3, to == 8 ? 4 : to == 16 ? 2 : 1, x);
    t.leave(encoder);
    if (dims.head == head_kind::semantic_segmentation) return x;
    x = t.call("conv_1x1_exp", block{.here = here, .in = neck(dims, 5), .out = neck(dims, 6), .act = act}, x);
    const recorder::off_loss_guard unread{t, dims.head == head_kind::none};
    const value pooled = t.mean_of_images(x);
    return dims.head == head_kind::none ? x : pooled;
}

/// Labels of places, from convolutions that reach far and the mean over all.
constexpr value segment(const site& here, trace& t, std::int64_t in, const value& x) {
    const std::int64_t out = here.dims.own[aspp];
    const module_info head{.name = "segmentation_head", .type = here.type("DeepLabV3"), .what = role::head};
    const module_info pyramid{.name = "aspp", .type = here.type("ASPP")};
    const module_info pooling{.name = "convs", .index = 4, .type = here.type("ASPPPooling")};
    const block narrow{.here = here, .in = in, .out = out, .act = activation::relu};
    t.enter(head);
    t.enter(pyramid);
    const value near = t.call({"convs", 0}, narrow, x);
    const auto far = [&](std::int64_t i) {
        block each = narrow;
        each.kernel_size = 3, each.dilation = of_stage(here.dims, rates, i);
        return t.call({"convs", i + 1}, each, x);
    };
    const value first = far(0), second = far(1), third = far(2);
    t.enter(pooling);
    const value mean = t.call("conv_1x1", narrow, t.call("global_pool", global_average_pool{}, x));
    const value everywhere = t.leave(pooling, t.bilinear(mean, x.dim(2), x.dim(3)));
    const block joined{.here = here, .in = 5 * out, .out = out, .act = activation::relu};
    value h = t.call("project", joined, t.cat({near, first, second, third, everywhere}, 1));
    h = t.leave(pyramid, dropout(t, "dropout", h));
    h = t.call("dropout", identity{"Dropout2d"}, h);
    const block labels{.here = here, .in = out, .out = here.dims.num_labels, .norms = false, .biased = true};
    return t.leave(head, t.call("classifier", labels, h));
}
constexpr value score(const site& here, trace& t, const value& x) {
    if (here.dims.head == head_kind::semantic_segmentation) return segment(here, t, neck(here.dims, 5), x);
    return classify_dropped(here, t, x);
}

constexpr void read_segmenter(config_view config, sizes& s) {
    if (s.head != head_kind::semantic_segmentation) return;
    read_stages_of(config, "atrous_rates", {6, 12, 18}, s.own, rates, 3, 3);
    if (s.num_labels == 0)
        fail_value(config, config.contains("num_labels") ? "num_labels" : "id2label", "at least one label under this head");
}

}  // namespace mobilevit_detail

/// Inverted residuals, then convolutions around attention between patches.
///
/// Source: transformers/models/mobilevit/modeling_mobilevit.py.
constexpr value describe_mobilevit(const site& here, trace& t) {
    return describe_image_model(here, t, "mobilevit", mobilevit_detail::base, mobilevit_detail::score);
}

constexpr void read_mobilevit(config_view config, sizes& s) {
    using namespace mobilevit_detail;
    s.vision = read_images(config, 256);
    s.vision.patch_size = config.positive("patch_size", 2);
    read_stages_of(config, "hidden_sizes", {144, 192, 240}, s.own, widths, 3, 3);
    read_stages_of(config, "neck_hidden_sizes", {16, 32, 64, 96, 128, 160, 640}, s.own, necks, 7, 7);
    read_ratio(config, "mlp_ratio", 2.0, s.own, ratio);
    read_ratio(config, "expand_ratio", 4.0, s.own, expansion);
    if (s.own[kernel] % 2 == 0) fail_value(config, "conv_kernel_size", "an odd number");
    for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t width = of_stage(s, widths, i);
        if (width % s.own[heads] != 0) fail_value(config, "num_attention_heads", "a divisor of all hidden_sizes");
        if (times_ratio(s, ratio, width) < 1) fail_value(config, "mlp_ratio", "a ratio that leaves a feature");
    }
    read_segmenter(config, s);
}

// transformers/models/mobilevit: configuration_mobilevit.py, modeling_mobilevit.py
inline constexpr architecture mobilevit{
    .model_type = "mobilevit",
    .prefix = "MobileViT",
    .describe = describe_mobilevit,
    .read = read_mobilevit,
    .own = mobilevit_detail::keys,
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification, head_kind::semantic_segmentation},
    .keys = {{"num_attention_heads", "", key_rule::absent}},
    .defaults = image_defaults(activation::silu),
};

}  // namespace llmcost::arch
