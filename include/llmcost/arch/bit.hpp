// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace bit_detail {

enum own : std::uint8_t { groups, output_stride, norms_first, drops, stages, widths, depths = widths + most_stages };
inline constexpr own_key keys[]{{"num_groups", 32},
                                {"output_stride", 32},
                                {.otherwise = 1, .value = own_value::computed},
                                {.value = own_value::computed},
                                {.value = own_value::computed}};

/// A convolution whose weight is standardized in every pass (`WeightStandardizedConv2d`).
struct standardized : convolution_2d {
    constexpr standardized(std::int64_t from, std::int64_t to, std::int64_t side, std::int64_t step = 1,
                           std::int64_t apart = 1) noexcept
        : convolution_2d{from, to, side, step, (step - 1 + apart * (side - 1)) / 2, 1, false, apart} {}
    [[nodiscard]] constexpr class_name type() const { return {"", "WeightStandardizedConv2d"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {out, in, kernel, kernel});
        const value normed = t.batch_norm(weight.view({1, out, in * kernel * kernel}), false);
        return t.convolution(x, normed.view({out, in, kernel, kernel}), false, 1, stride, padding, dilation);
    }
};

/// A norm of groups with an activation inside of its module, or none.
struct group_norm {
    const site& here;
    bool activated = true;

    static constexpr role what = role::norm;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("GroupNormActivation"); }
    constexpr value describe(trace& t, const value& x) const {
        t.beside(t.param("weight", {x.dim(1)}));
        t.beside(t.param("bias", {x.dim(1)}));
        const value h = t.group_norm(x, here.dims.own[groups]);
        if (!activated) return t.call("activation", identity{"Identity"}, h);
        return t.call("activation", activation_module{here.dims.hidden_act}, h);
    }
};

/// A number of channels near to a multiple of eight (`make_div`).
[[nodiscard]] constexpr std::int64_t rounded(double wanted) {
    const std::int64_t whole = static_cast<std::int64_t>(wanted + 4.0) / 8 * 8, least = whole > 8 ? whole : 8;
    return static_cast<double>(least) < 0.9 * wanted ? least + 8 : least;
}

/// Three convolutions around which a sum goes, norms in front of them or behind.
struct layer {
    const site& here;
    std::int64_t out, stride, dilation;
    bool first;  ///< of its stage, whose sum goes through a convolution
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return here.type(here.dims.own[norms_first] ? "PreActivationBottleneckLayer" : "BottleneckLayer");
    }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = x.dim(1), inner = rounded(static_cast<double>(out) * 0.25);
        const drop_path_module path{here.row.prefix, drops_path};
        const group_norm norm{here};
        if (here.dims.own[norms_first]) {
            const value ready = t.call("norm1", norm, x);
            const value around = first ? shortcut(t, ready) : x;
            value h = t.call("conv1", standardized{in, inner, 1}, ready);
            h = t.call("conv2", standardized{inner, inner, 3, stride}, t.call("norm2", norm, h));
            h = t.call("conv3", standardized{inner, out, 1}, t.call("norm3", norm, h));
            return t.add(t.call("drop_path", path, h), around);
        }
        const value around = first ? shortcut(t, x) : x;
        value h = t.call("norm1", norm, t.call("conv1", standardized{in, inner, 1}, x));
        h = t.call("norm2", norm, t.call("conv2", standardized{inner, inner, 3, stride, dilation}, h));
        h = t.call("norm3", group_norm{here, false}, t.call("conv3", standardized{inner, out, 1}, h));
        const value sum = t.add(t.call("drop_path", path, h), around);
        return t.call("activation", activation_module{here.dims.hidden_act}, sum);
    }
    constexpr value shortcut(trace& t, const value& x) const {
        const module_info downsample{.name = "downsample", .type = here.type("DownsampleConv")};
        t.enter(downsample);
        const value h = t.call("conv", standardized{x.dim(1), out, 1, stride}, x);
        const bool normed = here.dims.own[norms_first] == 0;
        return t.leave(downsample,
                       normed ? t.call("norm", group_norm{here, false}, h) : t.call("norm", identity{"Identity"}, h));
    }
};

/// Stages stride until the output is as small as asked for, and dilate from then on.
constexpr value encode(const site& here, trace& t, value x) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    std::int64_t reached = 4, dilation = 1;
    for (std::int64_t i = 0; i < here.dims.own[stages]; ++i) {
        const std::int64_t width = of_stage(here.dims, widths, i), depth = of_stage(here.dims, depths, i);
        std::int64_t stride = i == 0 ? 1 : 2;
        if (reached >= here.dims.own[output_stride]) dilation *= stride, stride = 1;
        reached *= stride;
        const module_info stage{.name = "stages", .index = i, .type = here.type("Stage")};
        const module_info layers{.name = "layers", .type = {"", "Sequential"}};
        t.enter(stage);
        t.enter(layers);
        // rates of dropping grow from zero in the first layer of all
        const bool drops_path = here.dims.own[drops] != 0;
        const layer opens{here, width, stride, dilation <= 2 ? 1 : 2, true, drops_path && i > 0};
        x = t.call(module_place::item(0), opens, x);
        for (repetition each = t.repeat(depth - 1, x, 1); each.next();)
            x = t.call(module_place::item(each.index()), layer{here, width, 1, dilation, false, drops_path}, x);
        t.leave(layers);
        t.leave(stage);
    }
    return t.leave(encoder, x);
}

constexpr value embed(const site& here, trace& t) {
    const module_info embedder{.name = "embedder", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info pad{.name = "pad", .type = {"", "ConstantPad2d"}, .leaf = true};
    const module_info pooler{.name = "pooler", .type = here.type("MaxPool2d")};
    t.enter(embedder);
    const standardized first{here.dims.vision.num_channels, here.dims.embedding_size, 7, 2};
    const value h = t.call("convolution", first, images_of(here, t));
    t.enter(pad);
    const value wide = t.leave(pad, t.pad_images(h, 2, 2));
    const bool normed = here.dims.own[norms_first] == 0;
    const value ready = normed ? t.call("norm", group_norm{here}, wide) : t.call("norm", identity{"Identity"}, wide);
    t.enter(pooler);
    const value pooled = t.pool(op::max_pool, t.call("pad", identity{"Identity"}, ready), 3, 2);
    return t.leave(embedder, t.leave(pooler, pooled));
}

constexpr value base(const site& here, trace& t) {
    value x = bit_detail::encode(here, t, embed(here, t));
    x = here.dims.own[norms_first] ? t.call("norm", group_norm{here}, x) : t.call("norm", identity{"Identity"}, x);
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    const value pooled = t.call("pooler", global_average_pool{}, x);
    return here.dims.head == head_kind::none ? x : pooled;
}

}  // namespace bit_detail

/// Residual convolutions with standardized weights and norms of groups.
///
/// Source: transformers/models/bit/modeling_bit.py.
constexpr value describe_bit(const site& here, trace& t) {
    return describe_image_model(here, t, "bit", bit_detail::base, classify_flat);
}

constexpr void read_bit(config_view config, sizes& s) {
    using namespace bit_detail;
    s.vision = read_images(config, 224);
    s.embedding_size = config.positive("embedding_size", 64);
    s.own[stages] = read_stages(config, "hidden_sizes", {256, 512, 1024, 2048}, s.own, widths);
    read_stages_of(config, "depths", {3, 4, 6, 3}, s.own, depths, s.own[stages]);
    const string_ref type = config.string("layer_type", "preactivation");
    if (type != "preactivation" && type != "bottleneck") fail_value(config, "layer_type", "preactivation or bottleneck");
    s.own[norms_first] = type == "preactivation";
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
    if (config.optional_string("global_padding"))
        fail_unsupported(config, "global_padding", "no row describes padding that depends on the image");
    if (config.boolean("embedding_dynamic_padding", false))
        fail_unsupported(config, "embedding_dynamic_padding", "no row describes padding that depends on the image");
    const auto factor = static_cast<double>(config.positive("width_factor", 1));
    const std::int64_t last = of_stage(s, widths, s.own[stages] - 1);
    for (std::int64_t i = 0; i < s.own[stages]; ++i) {
        std::int64_t& width = s.own[widths + static_cast<std::size_t>(i)];
        width = rounded(static_cast<double>(width) * factor);
        if (width % s.own[groups] != 0 || rounded(static_cast<double>(width) * 0.25) % s.own[groups] != 0)
            fail_value(config, "num_groups", "a divisor of all numbers of channels");
    }
    if (s.embedding_size % s.own[groups] != 0) fail_value(config, "num_groups", "a divisor of embedding_size");
    if (of_stage(s, widths, s.own[stages] - 1) != last)
        fail_value(config, "hidden_sizes", "a last width that width_factor and rounding to eights leave as it is");
}

// transformers/models/bit: configuration_bit.py, modeling_bit.py
inline constexpr architecture bit{
    .model_type = "bit",
    .prefix = "Bit",
    .describe = describe_bit,
    .read = read_bit,
    .own = bit_detail::keys,
    .drops = dropout_keys::none(),
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::relu),
};

}  // namespace llmcost::arch
