// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>

namespace llmcost::arch {

namespace bit_detail {

enum family_config_index : std::uint8_t {
    groups,
    output_stride,
    norms_first,
    drops,
    stages,
    widths,
    depths = widths + max_stages
};
inline constexpr family_key family_keys[]{{"num_groups", 32},
                                          {"output_stride", 32},
                                          {.default_value = 1, .type = family_key_type::computed},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// A convolution that standardizes its weight in every forward pass (`WeightStandardizedConv2d`).
struct standardized : convolution_2d {
    constexpr standardized(std::int64_t in_channels, std::int64_t to, std::int64_t side, std::int64_t step = 1,
                           std::int64_t dilation_rate = 1) noexcept
        : convolution_2d{in_channels, to,    side,         step, (step - 1 + dilation_rate * (side - 1)) / 2,
                         1,           false, dilation_rate} {}
    [[nodiscard]] constexpr class_name type_name() const { return {"", "WeightStandardizedConv2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {out, in, kernel, kernel});
        const tensor normed = t.batch_norm(weight.view({1, out, in * kernel * kernel}), false);
        return t.conv(x, normed.view({out, in, kernel, kernel}), false, 1, stride, padding, dilation);
    }
};

/// Group norm with an optional activation inside the module.
struct group_norm {
    const layer_context& ctx;
    bool activated = true;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("GroupNormActivation"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        t.read_parameter_in_next_op(t.param("weight", {x.dim(1)}));
        t.read_parameter_in_next_op(t.param("bias", {x.dim(1)}));
        const tensor h = t.group_norm(x, ctx.config.family[groups]);
        if (!activated) return t.call("activation", identity{"Identity"}, h);
        return t.call("activation", activation_module{ctx.config.hidden_act}, h);
    }
};

/// Rounds a number of channels to a multiple of eight (`make_div`).
[[nodiscard]] constexpr std::int64_t rounded(double wanted) {
    const std::int64_t multiple = static_cast<std::int64_t>(wanted + 4.0) / 8 * 8,
                       minimum = multiple > 8 ? multiple : 8;
    return static_cast<double>(minimum) < 0.9 * wanted ? minimum + 8 : minimum;
}

/// Residual block: three convolutions, with norms before or after them.
struct layer {
    const layer_context& ctx;
    std::int64_t out, stride, dilation;
    bool first;  ///< first block of its stage, with a convolution on the shortcut
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(ctx.config.family[norms_first] ? "PreActivationBottleneckLayer" : "BottleneckLayer");
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = x.dim(1), inner = rounded(static_cast<double>(out) * 0.25);
        const drop_path_module path{ctx.spec.class_prefix, drops_path};
        const group_norm norm{ctx};
        if (ctx.config.family[norms_first]) {
            const tensor ready = t.call("norm1", norm, x);
            const tensor residual = first ? shortcut(t, ready) : x;
            tensor h = t.call("conv1", standardized{in, inner, 1}, ready);
            h = t.call("conv2", standardized{inner, inner, 3, stride}, t.call("norm2", norm, h));
            h = t.call("conv3", standardized{inner, out, 1}, t.call("norm3", norm, h));
            return t.add(t.call("drop_path", path, h), residual);
        }
        const tensor residual = first ? shortcut(t, x) : x;
        tensor h = t.call("norm1", norm, t.call("conv1", standardized{in, inner, 1}, x));
        h = t.call("norm2", norm, t.call("conv2", standardized{inner, inner, 3, stride, dilation}, h));
        h = t.call("norm3", group_norm{ctx, false}, t.call("conv3", standardized{inner, out, 1}, h));
        const tensor sum = t.add(t.call("drop_path", path, h), residual);
        return t.call("activation", activation_module{ctx.config.hidden_act}, sum);
    }
    constexpr tensor shortcut(trace& t, const tensor& x) const {
        const module_info downsample{.name = "downsample", .class_of_module = ctx.class_of("DownsampleConv")};
        t.enter(downsample);
        const tensor h = t.call("conv", standardized{x.dim(1), out, 1, stride}, x);
        const bool normed = ctx.config.family[norms_first] == 0;
        return t.leave(downsample,
                       normed ? t.call("norm", group_norm{ctx, false}, h) : t.call("norm", identity{"Identity"}, h));
    }
};

/// Traces all stages. Stages use strides until the output has the configured stride, then dilation.
constexpr tensor encode(const layer_context& ctx, trace& t, tensor x) {
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    std::int64_t reached = 4, dilation = 1;
    for (std::int64_t i = 0; i < ctx.config.family[stages]; ++i) {
        const std::int64_t width = stage_entry(ctx.config, widths, i), depth = stage_entry(ctx.config, depths, i);
        std::int64_t stride = i == 0 ? 1 : 2;
        if (reached >= ctx.config.family[output_stride]) {
            dilation *= stride;
            stride = 1;
        }
        reached *= stride;
        const module_info stage{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
        const module_info layers{.name = "layers", .class_of_module = {"", "Sequential"}};
        t.enter(stage);
        t.enter(layers);
        // drop path rates grow from zero in the first of all layers
        const bool drops_path = ctx.config.family[drops] != 0;
        const layer opens{ctx, width, stride, dilation <= 2 ? 1 : 2, true, drops_path && i > 0};
        x = t.call(child_name::indexed(0), opens, x);
        for (loop layer_loop = t.loop_modules(depth - 1, x, 1); layer_loop.next();)
            x = t.call(child_name::indexed(layer_loop.index()), layer{ctx, width, 1, dilation, false, drops_path}, x);
        t.leave(layers);
        t.leave(stage);
    }
    return t.leave(encoder, x);
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const module_info embedder{
        .name = "embedder", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info pad{.name = "pad", .class_of_module = {"", "ConstantPad2d"}, .is_leaf = true};
    const module_info pooler{.name = "pooler", .class_of_module = ctx.class_of("MaxPool2d")};
    t.enter(embedder);
    const standardized first{ctx.config.vision.num_channels, ctx.config.embedding_size, 7, 2};
    const tensor h = t.call("convolution", first, image_input(ctx, t));
    t.enter(pad);
    const tensor padded_images = t.leave(pad, t.pad_images(h, 2, 2));
    const bool normed = ctx.config.family[norms_first] == 0;
    const tensor ready =
        normed ? t.call("norm", group_norm{ctx}, padded_images) : t.call("norm", identity{"Identity"}, padded_images);
    t.enter(pooler);
    const tensor pooled = t.pool(op::max_pool, t.call("pad", identity{"Identity"}, ready), 3, 2);
    return t.leave(embedder, t.leave(pooler, pooled));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    tensor x = bit_detail::encode(ctx, t, embed(ctx, t));
    x = ctx.config.family[norms_first] ? t.call("norm", group_norm{ctx}, x) : t.call("norm", identity{"Identity"}, x);
    return pool_if_classified(ctx, t, x);
}

}  // namespace bit_detail

/// Traces BiT: residual blocks with standardized weights and group norms.
///
/// Source: transformers/models/bit/modeling_bit.py.
constexpr tensor forward_bit(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "bit", bit_detail::base, classify_flat);
}

constexpr void parse_bit(config_view json, model_config& config) {
    using namespace bit_detail;
    config.vision = parse_image_size(json, 224);
    config.embedding_size = json.positive("embedding_size", 64);
    config.family[stages] = parse_stages(json, "hidden_sizes", {256, 512, 1024, 2048}, config.family, widths);
    parse_stages_of(json, "depths", {3, 4, 6, 3}, config.family, depths, config.family[stages]);
    const string_ref type = json.string("layer_type", "preactivation");
    if (type != "preactivation" && type != "bottleneck")
        throw_invalid_value(json, "layer_type", "preactivation or bottleneck");
    config.family[norms_first] = type == "preactivation";
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
    if (json.optional_string("global_padding"))
        throw_unsupported(json, "global_padding", "padding that depends on the image size is not supported");
    if (json.boolean("embedding_dynamic_padding", false))
        throw_unsupported(json, "embedding_dynamic_padding", "padding that depends on the image size is not supported");
    const auto factor = static_cast<double>(json.positive("width_factor", 1));
    const std::int64_t last = stage_entry(config, widths, config.family[stages] - 1);
    for (std::int64_t i = 0; i < config.family[stages]; ++i) {
        std::int64_t& width = config.family[widths + static_cast<std::size_t>(i)];
        width = rounded(static_cast<double>(width) * factor);
        if (width % config.family[groups] != 0 ||
            rounded(static_cast<double>(width) * 0.25) % config.family[groups] != 0)
            throw_invalid_value(json, "num_groups", "a divisor of all numbers of channels");
    }
    if (config.embedding_size % config.family[groups] != 0)
        throw_invalid_value(json, "num_groups", "a divisor of embedding_size");
    if (stage_entry(config, widths, config.family[stages] - 1) != last)
        throw_invalid_value(json, "hidden_sizes",
                            "a last size that width_factor and rounding to a multiple of 8 do not change");
}

// Source: transformers/models/bit: configuration_bit.py, modeling_bit.py
inline constexpr model_spec bit = [](model_spec spec) {
    spec.model_type = "bit";
    spec.class_prefix = "Bit";
    spec.forward = forward_bit;
    spec.parse_config = parse_bit;
    spec.family_keys = bit_detail::family_keys;
    return spec;
}(image_classifier(activation::relu));

}  // namespace llmcost::arch
