// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/convolution.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace resnet_detail {

enum own : std::uint8_t {
    basic,
    early_stride,        ///< a bottleneck's first convolution strides, not its second
    first_stage_stride,  ///< of the first stage
    stages,
    widths,
    depths = widths + most_stages
};
inline constexpr own_key keys[]{{.value = own_value::computed},
                                {"downsample_in_bottleneck", 0, own_value::boolean},
                                {.otherwise = 1, .value = own_value::computed},
                                {.value = own_value::computed}};

/// Convolution, batch norm and activation, if any.
struct block {
    convolution_2d dims;
    literal prefix;
    bool activated;
    activation act;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "ConvLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("normalization", batch_norm_2d{dims.out}, t.call("convolution", dims, x));
        if (!activated) return t.call("activation", identity{"Identity"}, h);
        return t.call("activation", activation_module{act}, h);
    }
};

/// The way around a layer that changes widths or sizes.
struct shortcut {
    convolution_2d dims;
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "ShortCut"}; }
    constexpr value describe(trace& t, const value& x) const {
        return t.call("normalization", batch_norm_2d{dims.out}, t.call("convolution", dims, x));
    }
};

constexpr convolution_2d square(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    return {in, out, kernel, stride, kernel / 2, 1, false};
}

/// Two convolutions, or three around a narrower one, and a sum.
struct residual_layer {
    const site& here;
    std::int64_t in, out, stride;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return here.type(here.dims.own[basic] ? "BasicLayer" : "BottleNeckLayer");
    }
    constexpr value describe(trace& t, const value& x) const {
        const literal prefix = here.row.prefix;
        const activation act = here.dims.hidden_act;
        const module_info layer{.name = "layer", .type = {"", "Sequential"}};
        const bool early = here.dims.own[early_stride] != 0;
        value h = x;
        const auto declare_shortcut = [&] {
            const bool changes = in != out || stride != 1;
            return changes ? t.call("shortcut", shortcut{square(in, out, 1, stride), prefix}, x)
                           : t.call("shortcut", identity{"Identity"}, x);
        };
        t.enter(layer);
        if (here.dims.own[basic]) {
            h = t.call("0", block{square(in, out, 3, stride), prefix, true, act}, h);
            h = t.call("1", block{square(out, out, 3, 1), prefix, false, act}, h);
        } else {
            const std::int64_t inner = out / 4;
            h = t.call("0", block{square(in, inner, 1, early ? stride : 1), prefix, true, act}, h);
            h = t.call("1", block{square(inner, inner, 3, early ? 1 : stride), prefix, true, act}, h);
            h = t.call("2", block{square(inner, out, 1, 1), prefix, false, act}, h);
        }
        t.leave(layer);
        t.in_place(op::add, h, declare_shortcut());
        return t.call("activation", activation_module{act}, h);
    }
};

constexpr value stage(const site& here, trace& t, std::int64_t i, std::int64_t in, const value& x) {
    const std::int64_t out = of_stage(here.dims, widths, i), depth = of_stage(here.dims, depths, i);
    const std::int64_t stride = i == 0 ? here.dims.own[first_stage_stride] : 2;
    const module_info module{.name = "stages", .index = i, .type = here.type("Stage")};
    const module_info layers{.name = "layers", .type = {"", "Sequential"}};
    t.enter(module);
    t.enter(layers);
    value h = t.call(module_place::item(0), residual_layer{here, in, out, stride}, x);
    for (repetition each = t.repeat(depth - 1, h, 1); each.next();)
        h = t.call(module_place::item(each.index()), residual_layer{here, out, out, 1}, h);
    t.leave(layers);
    return t.leave(module, h);
}

constexpr value base(const site& here, trace& t) {
    const std::int64_t width = here.dims.embedding_size;
    const module_info embedder{.name = "embedder", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(embedder);
    const convolution_2d first = square(here.dims.vision.num_channels, width, 7, 2);
    value x = t.call("embedder", block{first, here.row.prefix, true, here.dims.hidden_act}, images_of(here, t));
    x = t.leave(embedder, t.call("pooler", max_pool_2d{3, 2, 1}, x));
    t.enter(encoder);
    for (std::int64_t i = 0, in = width; i < here.dims.own[stages]; in = of_stage(here.dims, widths, i++))
        x = stage(here, t, i, in, x);
    t.leave(encoder);
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    const value pooled = t.call("pooler", global_average_pool{}, x);
    return here.dims.head == head_kind::none ? x : pooled;
}

}  // namespace resnet_detail

/// Convolutions in stages with sums around them, and a classifier of the mean over all places.
///
/// Source: transformers/models/resnet/modeling_resnet.py.
constexpr value describe_resnet(const site& here, trace& t) {
    return describe_image_model(here, t, "resnet", resnet_detail::base, classify_flat);
}

constexpr void read_resnet(config_view config, sizes& s) {
    using namespace resnet_detail;
    s.vision = read_images(config, 224);
    s.embedding_size = config.positive("embedding_size", 64);
    s.own[stages] = read_stages(config, "hidden_sizes", {256, 512, 1024, 2048}, s.own, widths);
    read_stages_of(config, "depths", {3, 4, 6, 3}, s.own, depths, s.own[stages]);
    const string_ref type = config.string("layer_type", "bottleneck");
    if (type != "bottleneck" && type != "basic") fail_value(config, "layer_type", "basic or bottleneck");
    s.own[basic] = type == "basic";
    s.own[first_stage_stride] = config.boolean("downsample_in_first_stage", false) ? 2 : 1;
    for (std::int64_t i = 0; i < s.own[stages] && !s.own[basic]; ++i)
        if (of_stage(s, widths, i) < 4) fail_value(config, "hidden_sizes", "at least 4 channels in each stage");
}

// transformers/models/resnet: configuration_resnet.py, modeling_resnet.py
inline constexpr architecture resnet{
    .model_type = "resnet",
    .prefix = "ResNet",
    .describe = describe_resnet,
    .read = read_resnet,
    .own = resnet_detail::keys,
    .drops = dropout_keys::none(),
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::relu),
};

}  // namespace llmcost::arch
