// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>

namespace llmcost::arch {

namespace efficientnet_detail {

inline constexpr std::int64_t maximum = 9;  // maximum number of stages; each takes two integers

enum family_config_index : std::uint8_t { top, pools_maximum, squeeze_ratio, stem, stages, packed_stages };
inline constexpr family_key family_keys[]{{"hidden_dim", 2560},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// Sizes of one stage. Its first block can change the number of channels and use a stride.
struct stage_sizes {
    std::int64_t in, out, kernel, stride, repeats, expand;
    bool uses_symmetric_padding;  ///< padding of the first block if it uses a stride

    /// Packs the sizes into two integers of `family_config`.
    constexpr void write(family_config& to, std::int64_t stage) const {
        const auto at = packed_stages + 2 * static_cast<std::size_t>(stage);
        to[at] = in << 31 | out;
        to[at + 1] =
            ((kernel << 16 | repeats) << 16 | expand) << 2 | (stride == 2 ? 2 : 0) | (uses_symmetric_padding ? 1 : 0);
    }
    [[nodiscard]] static constexpr stage_sizes parse_config(const model_config& config, std::int64_t stage) {
        const auto at = packed_stages + 2 * static_cast<std::size_t>(stage);
        const std::int64_t widths = config.family[at], rest = config.family[at + 1], low = 0xffff;
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
constexpr tensor encode_blocks(const layer_context& ctx, trace& t, const tensor& embedded) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    tensor x = call_blocks(ctx, t, embedded);
    x = t.call("top_conv", convolution_2d{x.dim(1), ctx.config.family[top], 1, 1, 0, 1, false}, x);
    return t.leave(encoder, activated(ctx, t, "top_bn", "top_activation", x));
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
constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = encode_blocks(ctx, t, embed(ctx, t));
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    const global_pool pooler{ctx.config.family[top], ctx.config.family[pools_maximum] != 0};
    const tensor pooled = t.call("pooler", pooler, x);
    return ctx.config.head == head_kind::none ? x : t.reshape(pooled, {x.dim(0), x.dim(1)});
}

constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, dropout(t, "dropout", x, dropout_position::classifier));
}

/// Drop path rates grow from zero; the first block drops nothing.
inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "drop_connect_rate", 0.2},
                                             {dropout_position::classifier, "dropout_rate", 0.5}};

/// Rounds channels · coefficient to a multiple of a divisor (`round_filters`).
[[nodiscard]] constexpr std::int64_t rounded(std::int64_t channels, double coefficient, std::int64_t divisor) {
    const double wanted = static_cast<double>(channels) * coefficient;
    const std::int64_t multiple =
        static_cast<std::int64_t>(wanted + static_cast<double>(divisor) / 2) / divisor * divisor;
    const std::int64_t minimum = multiple > divisor ? multiple : divisor;
    return static_cast<double>(minimum) < 0.9 * wanted ? minimum + divisor : minimum;
}

/// The entry of a list for a stage, or the default of the class.
constexpr std::int64_t listed(config_view json, literal key, const std::int64_t (&otherwise)[7], std::int64_t stage) {
    const auto found = json.find(key);
    if (!found || found->is_null()) {
        if (stage >= 7) throw_invalid_value(json, key, "a number for each stage");
        return otherwise[stage];
    }
    if (!found->is_array() || static_cast<std::int64_t>(found->size()) <= stage)
        throw_invalid_value(json, key, "a list with a number for each stage");
    const std::int64_t n = (*found)[static_cast<std::size_t>(stage)].as_positive();
    if (n > 0xffff) throw_unsupported(json, key, "numbers above 65535 are not supported");
    return n;
}

constexpr bool lists(config_view json, literal key, std::int64_t number) {
    if (const auto found = json.optional_array(key))
        for (const config_view entry : *found)
            if (entry.as_non_negative() == number) return true;
    return false;
}

/// Returns ceil(coefficient · n).
[[nodiscard]] constexpr std::int64_t ceiling(double coefficient, std::int64_t n) {
    const double exact = coefficient * static_cast<double>(n);
    const auto multiple = static_cast<std::int64_t>(exact);
    return multiple + (static_cast<double>(multiple) < exact ? 1 : 0);
}

constexpr double coefficient(config_view json, literal key, double otherwise) {
    const double c = json.real(key, otherwise);
    if (!(c > 0.0 && c < 1e3)) throw_invalid_value(json, key, "a positive factor below 1000");
    return c;
}

constexpr stage_sizes parse_stage(config_view json, std::int64_t stage, std::int64_t number) {
    constexpr std::int64_t kernels[]{3, 3, 5, 3, 5, 5, 3}, ins[]{32, 16, 24, 40, 80, 112, 192};
    constexpr std::int64_t outs[]{16, 24, 40, 80, 112, 192, 320}, strides[]{1, 2, 2, 2, 1, 2, 1};
    constexpr std::int64_t repeats[]{1, 2, 2, 3, 3, 4, 1}, expands[]{1, 6, 6, 6, 6, 6, 6};
    const double width_coefficient = coefficient(json, "width_coefficient", 2.0),
                 deep = coefficient(json, "depth_coefficient", 3.1);
    const std::int64_t divisor = json.positive("depth_divisor", 8);
    stage_sizes s{};
    s.in = rounded(listed(json, "in_channels", ins, stage), width_coefficient, divisor);
    s.out = rounded(listed(json, "out_channels", outs, stage), width_coefficient, divisor);
    s.kernel = listed(json, "kernel_sizes", kernels, stage);
    s.stride = listed(json, "strides", strides, stage);
    s.repeats = ceiling(deep, listed(json, "num_block_repeats", repeats, stage));
    s.expand = listed(json, "expand_ratios", expands, stage);
    s.uses_symmetric_padding = lists(json, "depthwise_padding", number);
    if (s.kernel % 2 == 0) throw_unsupported(json, "kernel_sizes", "even kernel sizes are not supported");
    if (s.stride > 2) throw_invalid_value(json, "strides", "1 or 2");
    if (s.repeats > 0xffff) throw_unsupported(json, "num_block_repeats", "unsupported number of blocks in a stage");
    return s;
}

}  // namespace efficientnet_detail

/// Traces EfficientNet: MBConv blocks with squeeze-and-excitation.
///
/// Source: transformers/models/efficientnet/modeling_efficientnet.py.
constexpr tensor forward_efficientnet(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "efficientnet", efficientnet_detail::base, efficientnet_detail::classify);
}

/// Parses the stages, the stem before them and the top convolution after them.
constexpr void parse_efficientnet_blocks(config_view json, model_config& config) {
    using namespace efficientnet_detail;
    config.vision = parse_image_size(json, 600);
    const double width_coefficient = coefficient(json, "width_coefficient", 2.0);
    const std::int64_t divisor = json.positive("depth_divisor", 8);
    config.family[stem] = rounded(32, width_coefficient, divisor);
    const auto found = json.optional_array("in_channels");
    config.family[stages] = found ? static_cast<std::int64_t>(found->size()) : 7;
    if (config.family[stages] < 1 || config.family[stages] > maximum)
        throw_unsupported(json, "in_channels", "unsupported number of stages");
    std::int64_t number = 0, width = config.family[stem];
    for (std::int64_t i = 0; i < config.family[stages]; ++i) {
        const stage_sizes stage = parse_stage(json, i, number);
        if (stage.in != width) throw_invalid_value(json, "in_channels", "the output channels of the previous stage");
        stage.write(config.family, i);
        number += stage.repeats;
        width = stage.out;
    }
    parse_ratio(json, "squeeze_expansion_ratio", 0.25, config.family, squeeze_ratio);
    const string_ref pooling = json.string("pooling_type", "mean");
    if (pooling != "mean" && pooling != "max") throw_invalid_value(json, "pooling_type", "mean or max");
    config.family[pools_maximum] = pooling == "max";
    for (const std::int64_t side : {config.vision.image_height, config.vision.image_width})
        if (side > config.family[top])
            throw_unsupported(json, "image_size", "an image_size above hidden_dim is not supported");
}
constexpr void parse_efficientnet(config_view json, model_config& config) {
    using namespace efficientnet_detail;
    parse_efficientnet_blocks(json, config);
    const double width_coefficient = coefficient(json, "width_coefficient", 2.0);
    if (config.family[top] != rounded(1280, width_coefficient, json.positive("depth_divisor", 8)))
        throw_invalid_value(json, "hidden_dim", "1280 times width_coefficient, rounded");
}

// Source: transformers/models/efficientnet: configuration_efficientnet.py, modeling_efficientnet.py
inline constexpr model_spec efficientnet{
    .model_type = "efficientnet",
    .class_prefix = "EfficientNet",
    .forward = forward_efficientnet,
    .parse_config = parse_efficientnet,
    .family_keys = efficientnet_detail::family_keys,
    .dropout_keys = efficientnet_detail::dropout_rates,
    .rotary = rotary_style::none,
    .accepts_any_image_size = true,
    .supported_heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::swish),
};

}  // namespace llmcost::arch
