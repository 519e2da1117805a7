// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace efficientnet_detail {

inline constexpr std::int64_t most = 9;  // stages: two words for each

enum own : std::uint8_t { top, pools_maximum, squeeze_ratio, stem, stages, words };
inline constexpr own_key keys[]{{"hidden_dim", 2560},
                                {.value = own_value::computed},
                                {.value = own_value::computed},
                                {.value = own_value::computed},
                                {.value = own_value::computed}};

/// A stage: blocks of which the first may widen and stride.
struct stage_sizes {
    std::int64_t in, out, kernel, stride, repeats, expand;
    bool wide_padding;  ///< around the first block's image, where it strides

    /// Two words of a family's sizes.
    constexpr void write(own_sizes& to, std::int64_t stage) const {
        const auto at = words + 2 * static_cast<std::size_t>(stage);
        to[at] = in << 31 | out;
        to[at + 1] = ((kernel << 16 | repeats) << 16 | expand) << 2 | (stride == 2 ? 2 : 0) | (wide_padding ? 1 : 0);
    }
    [[nodiscard]] static constexpr stage_sizes read(const sizes& dims, std::int64_t stage) {
        const auto at = words + 2 * static_cast<std::size_t>(stage);
        const std::int64_t widths = dims.own[at], rest = dims.own[at + 1], low = 0xffff;
        return {widths >> 31,     widths & 0x7fffffff, rest >> 34,     rest & 2 ? 2 : 1,
                rest >> 18 & low, rest >> 2 & low,     (rest & 1) != 0};
    }
};

/// `nn.Conv2d` of a class of its own, one kernel for each channel.
struct depthwise : convolution_2d {
    literal prefix;

    constexpr depthwise(convolution_2d dims, literal of) noexcept : convolution_2d{dims}, prefix(of) {}
    [[nodiscard]] constexpr class_name type() const { return {prefix, "DepthwiseConv2d"}; }
};

/// `nn.ZeroPad2d`.
struct zero_padding {
    std::int64_t more;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "ZeroPad2d"}; }
    constexpr value describe(trace& t, const value& x) const { return t.pad_images(x, more, more); }
};

constexpr value activated(const site& here, trace& t, literal norm, literal act, const value& x) {
    return t.call(act, activation_module{here.dims.hidden_act}, t.call(norm, batch_norm_2d{x.dim(1)}, x));
}

/// One of a stage's blocks: expansion, a convolution per channel, weights of channels, projection.
struct block {
    const site& here;
    stage_sizes dims;
    bool first;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Block"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = x.dim(1), inner = in * dims.expand, stride = first ? dims.stride : 1;
        const module_info expansion{.name = "expansion", .type = here.type("ExpansionLayer")};
        const module_info spatial{.name = "depthwise_conv", .type = here.type("DepthwiseLayer")};
        const module_info projection{.name = "projection", .type = here.type("FinalBlockLayer")};
        value h = x;
        if (dims.expand != 1) {
            t.enter(expansion);
            h = t.call("expand_conv", convolution_2d{in, inner, 1, 1, 0, 1, false}, h);
            h = t.leave(expansion, activated(here, t, "expand_bn", "expand_act", h));
        }
        t.enter(spatial);
        const std::int64_t around = stride == 2 ? 0 : dims.kernel / 2;
        const zero_padding padding{dims.kernel / 2 * 2 - (dims.wide_padding ? 0 : 1)};
        if (stride == 2) {
            h = t.call("depthwise_conv_pad", padding, h);
        } else {
            const recorder::idle_guard unused{t};
            (void)t.call("depthwise_conv_pad", padding, h);
        }
        const depthwise each{{inner, inner, dims.kernel, stride, around, inner, false}, here.row.prefix};
        h = t.leave(spatial, activated(here, t, "depthwise_norm", "depthwise_act", t.call("depthwise_conv", each, h)));
        h = squeezed(t, h, in);
        t.enter(projection);
        h = t.call("project_conv", convolution_2d{inner, dims.out, 1, 1, 0, 1, false}, h);
        h = t.call("project_bn", batch_norm_2d{dims.out}, h);
        if (first) {
            const recorder::idle_guard unused{t};
            (void)dropout(t, "dropout", h);
        } else {
            h = t.add(dropout(t, "dropout", h), x);
        }
        return t.leave(projection, h);
    }
    constexpr value squeezed(trace& t, const value& x, std::int64_t in) const {
        const std::int64_t width = x.dim(1), share = times_ratio(here.dims, squeeze_ratio, in),
                           inner = share > 1 ? share : 1;
        const module_info excite{.name = "squeeze_excite", .type = here.type("SqueezeExciteLayer")};
        t.enter(excite);
        value h = t.call("reduce", convolution_2d{width, inner}, t.call("squeeze", global_average_pool{}, x));
        h = t.call("act_reduce", activation_module{here.dims.hidden_act}, h);
        h = t.call("act_expand", activation_module{activation::sigmoid}, t.call("expand", convolution_2d{inner, width}, h));
        return t.leave(excite, t.mul_function(x, h));
    }
};

constexpr value call_blocks(const site& here, trace& t, value x) {
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < here.dims.own[stages]; ++i) {
        const stage_sizes dims = stage_sizes::read(here.dims, i);
        x = t.call({"blocks", number++}, block{here, dims, true}, x);
        for (repetition each = t.repeat(dims.repeats - 1, x, number); each.next();)
            x = t.call({"blocks", each.index()}, block{here, dims, false}, x);
        number += dims.repeats - 1;
    }
    return x;
}
constexpr value encode_blocks(const site& here, trace& t, const value& embedded) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    value x = call_blocks(here, t, embedded);
    x = t.call("top_conv", convolution_2d{x.dim(1), here.dims.own[top], 1, 1, 0, 1, false}, x);
    return t.leave(encoder, activated(here, t, "top_bn", "top_activation", x));
}

/// A window as wide as there are features: whatever the image, it covers all of it.
struct pool_of_everything {
    std::int64_t window;
    bool maximum;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", maximum ? "MaxPool2d" : "AvgPool2d"}; }
    constexpr value describe(trace& t, const value& x) const {
        return t.pool(maximum ? op::max_pool : op::average_pool, x, window, window, 0, true);
    }
};

constexpr value embed(const site& here, trace& t) {
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    t.enter(embeddings);
    value x = t.call("padding", zero_padding{1}, images_of(here, t));
    x = t.call("convolution", convolution_2d{x.dim(1), here.dims.own[stem], 3, 2, 0, 1, false}, x);
    return t.leave(embeddings, activated(here, t, "batchnorm", "activation", x));
}
constexpr value base(const site& here, trace& t) {
    const value x = encode_blocks(here, t, embed(here, t));
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    const pool_of_everything pooler{here.dims.own[top], here.dims.own[pools_maximum] != 0};
    const value pooled = t.call("pooler", pooler, x);
    return here.dims.head == head_kind::none ? x : t.reshape(pooled, {x.dim(0), x.dim(1)});
}

constexpr value classify(const site& here, trace& t, const value& x) {
    return classify_linear(here, t, dropout(t, "dropout", x, dropout_of::classifier));
}

/// Rates of blocks grow from zero in the first of all, which drops nothing.
inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "drop_connect_rate", 0.2},
                                             {dropout_of::classifier, "dropout_rate", 0.5}};

/// Channels times a coefficient, rounded to a divisor (`round_filters`).
[[nodiscard]] constexpr std::int64_t rounded(std::int64_t channels, double coefficient, std::int64_t divisor) {
    const double wanted = static_cast<double>(channels) * coefficient;
    const std::int64_t whole = static_cast<std::int64_t>(wanted + static_cast<double>(divisor) / 2) / divisor * divisor;
    const std::int64_t least = whole > divisor ? whole : divisor;
    return static_cast<double>(least) < 0.9 * wanted ? least + divisor : least;
}

/// A list's number for a stage, or what it is without the list.
constexpr std::int64_t listed(config_view config, literal key, const std::int64_t (&otherwise)[7], std::int64_t stage) {
    const auto found = config.find(key);
    if (!found || found->is_null()) {
        if (stage >= 7) fail_value(config, key, "a number for each stage");
        return otherwise[stage];
    }
    if (!found->is_array() || static_cast<std::int64_t>(found->size()) <= stage)
        fail_value(config, key, "a list with a number for each stage");
    const std::int64_t n = (*found)[static_cast<std::size_t>(stage)].as_positive();
    if (n > 0xffff) fail_unsupported(config, key, "no row describes numbers beyond 65535 here");
    return n;
}

constexpr bool lists(config_view config, literal key, std::int64_t number) {
    if (const auto found = config.optional_array(key))
        for (const config_view each : *found)
            if (each.as_non_negative() == number) return true;
    return false;
}

/// `ceil(coefficient * n)`.
[[nodiscard]] constexpr std::int64_t ceiling(double coefficient, std::int64_t n) {
    const double exact = coefficient * static_cast<double>(n);
    const auto whole = static_cast<std::int64_t>(exact);
    return whole + (static_cast<double>(whole) < exact ? 1 : 0);
}

constexpr double coefficient(config_view config, literal key, double otherwise) {
    const double c = config.real(key, otherwise);
    if (!(c > 0.0 && c < 1e3)) fail_value(config, key, "a positive factor below 1000");
    return c;
}

constexpr stage_sizes read_stage(config_view config, std::int64_t stage, std::int64_t number) {
    constexpr std::int64_t kernels[]{3, 3, 5, 3, 5, 5, 3}, ins[]{32, 16, 24, 40, 80, 112, 192};
    constexpr std::int64_t outs[]{16, 24, 40, 80, 112, 192, 320}, strides[]{1, 2, 2, 2, 1, 2, 1};
    constexpr std::int64_t repeats[]{1, 2, 2, 3, 3, 4, 1}, expands[]{1, 6, 6, 6, 6, 6, 6};
    const double wide = coefficient(config, "width_coefficient", 2.0), deep = coefficient(config, "depth_coefficient", 3.1);
    const std::int64_t divisor = config.positive("depth_divisor", 8);
    stage_sizes s{};
    s.in = rounded(listed(config, "in_channels", ins, stage), wide, divisor);
    s.out = rounded(listed(config, "out_channels", outs, stage), wide, divisor);
    s.kernel = listed(config, "kernel_sizes", kernels, stage);
    s.stride = listed(config, "strides", strides, stage);
    s.repeats = ceiling(deep, listed(config, "num_block_repeats", repeats, stage));
    s.expand = listed(config, "expand_ratios", expands, stage);
    s.wide_padding = lists(config, "depthwise_padding", number);
    if (s.kernel % 2 == 0) fail_unsupported(config, "kernel_sizes", "no row describes even kernels");
    if (s.stride > 2) fail_value(config, "strides", "1 or 2");
    if (s.repeats > 0xffff) fail_unsupported(config, "num_block_repeats", "no row describes so many blocks in a stage");
    return s;
}

}  // namespace efficientnet_detail

/// Blocks that widen, convolve each channel, weigh channels and narrow again.
///
/// Source: transformers/models/efficientnet/modeling_efficientnet.py.
constexpr value describe_efficientnet(const site& here, trace& t) {
    return describe_image_model(here, t, "efficientnet", efficientnet_detail::base, efficientnet_detail::classify);
}

/// What surrounds the layer behind all blocks.
constexpr void read_efficientnet_blocks(config_view config, sizes& s) {
    using namespace efficientnet_detail;
    s.vision = read_images(config, 600);
    const double wide = coefficient(config, "width_coefficient", 2.0);
    const std::int64_t divisor = config.positive("depth_divisor", 8);
    s.own[stem] = rounded(32, wide, divisor);
    const auto found = config.optional_array("in_channels");
    s.own[stages] = found ? static_cast<std::int64_t>(found->size()) : 7;
    if (s.own[stages] < 1 || s.own[stages] > most)
        fail_unsupported(config, "in_channels", "no row describes so many stages");
    std::int64_t number = 0, width = s.own[stem];
    for (std::int64_t i = 0; i < s.own[stages]; ++i) {
        const stage_sizes stage = read_stage(config, i, number);
        if (stage.in != width) fail_value(config, "in_channels", "what the stage before hands out");
        stage.write(s.own, i);
        number += stage.repeats, width = stage.out;
    }
    read_ratio(config, "squeeze_expansion_ratio", 0.25, s.own, squeeze_ratio);
    const string_ref pooling = config.string("pooling_type", "mean");
    if (pooling != "mean" && pooling != "max") fail_value(config, "pooling_type", "mean or max");
    s.own[pools_maximum] = pooling == "max";
    for (const std::int64_t side : {s.vision.image_height, s.vision.image_width})
        if (side > s.own[top]) fail_unsupported(config, "image_size", "no row describes images wider than hidden_dim");
}
constexpr void read_efficientnet(config_view config, sizes& s) {
    using namespace efficientnet_detail;
    read_efficientnet_blocks(config, s);
    const double wide = coefficient(config, "width_coefficient", 2.0);
    if (s.own[top] != rounded(1280, wide, config.positive("depth_divisor", 8)))
        fail_value(config, "hidden_dim", "1280 times width_coefficient, rounded");
}

// transformers/models/efficientnet: configuration_efficientnet.py, modeling_efficientnet.py
inline constexpr architecture efficientnet{
    .model_type = "efficientnet",
    .prefix = "EfficientNet",
    .describe = describe_efficientnet,
    .read = read_efficientnet,
    .own = efficientnet_detail::keys,
    .drops = efficientnet_detail::dropout_rates,
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::swish),
};

}  // namespace llmcost::arch
