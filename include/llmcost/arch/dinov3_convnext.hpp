// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/convnext.hpp>

namespace llmcost::arch {

namespace dinov3_convnext_detail {

using convnext_detail::channel_norm, convnext_detail::depths, convnext_detail::drops, convnext_detail::last_norm,
    convnext_detail::stages, convnext_detail::widths;

/// A convolution for each channel, then two linear layers over channels, scaled.
struct layer {
    const site& here;
    std::int64_t width;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const value scale = t.param("gamma", {width});
        value h = t.call("depthwise_conv", convolution_2d{width, width, 7, 1, 3, width}, x).permute({0, 2, 3, 1});
        h = t.call("layer_norm", last_norm{width, here.row.prefix}, h);
        h = t.call("pointwise_conv1", linear{width, 4 * width, true}, h);
        h = t.call("activation_fn", activation_module{here.dims.hidden_act}, h);
        h = t.mul(t.call("pointwise_conv2", linear{4 * width, width, true}, h), scale);
        return t.add(x, t.call("drop_path", drop_path_module{"Dinov3Convnext", drops_path}, h.permute({0, 3, 1, 2})));
    }
};

constexpr value stage(const site& here, trace& t, std::int64_t i, value x) {
    const std::int64_t width = of_stage(here.dims, widths, i), depth = of_stage(here.dims, depths, i);
    const literal prefix = here.row.prefix;
    const module_info module{.name = "stages", .index = i, .type = here.type("Stage")};
    t.enter(module);
    if (i == 0) {
        x = t.call({"downsample_layers", 0}, convolution_2d{x.dim(1), width, 4, 4}, x);
        x = t.call({"downsample_layers", 1}, channel_norm{width, prefix}, x);
    } else {
        x = t.call({"downsample_layers", 0}, channel_norm{x.dim(1), prefix}, x);
        x = t.call({"downsample_layers", 1}, convolution_2d{x.dim(1), width, 2, 2}, x);
    }
    // rates grow from zero in the first layer of all
    const bool drops_path = here.dims.own[drops] != 0;
    x = t.call({"layers", 0}, layer{here, width, drops_path && i > 0}, x);
    for (repetition each = t.repeat(depth - 1, x, 1); each.next();)
        x = t.call({"layers", each.index()}, layer{here, width, drops_path}, x);
    return t.leave(module, x);
}

/// The mean of all places in front of them, as a class token is.
constexpr value base(const site& here, trace& t) {
    const module_info encoder{.name = "model", .type = here.type("Encoder")};
    value x = images_of(here, t);
    t.enter(encoder);
    for (std::int64_t i = 0; i < here.dims.own[stages]; ++i) x = stage(here, t, i, x);
    t.leave(encoder, x);
    const value pooled = as_tokens(t.call("pool", global_average_pool{}, x));
    const value tokens = t.cat({pooled, as_tokens(x)}, 1);
    return t.call("layer_norm", norm<norm_kind::layer>{x.dim(1)}, tokens);
}

constexpr void read(config_view config, sizes& s) {
    s.vision = read_images(config, 224);
    s.own[stages] = read_stages(config, "hidden_sizes", {96, 192, 384, 768}, s.own, widths);
    read_stages_of(config, "depths", {3, 3, 9, 3}, s.own, depths, s.own[stages]);
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
}

}  // namespace dinov3_convnext_detail

/// A ConvNeXt whose mean stands in front of its places.
///
/// Source: transformers/models/dinov3_convnext/modeling_dinov3_convnext.py.
constexpr value describe_dinov3_convnext(const site& here, trace& t) {
    return describe_within({.type = here.type("Model")}, dinov3_convnext_detail::base, here, t);
}

// transformers/models/dinov3_convnext: configuration_dinov3_convnext.py, modeling_dinov3_convnext.py
inline constexpr architecture dinov3_convnext = [](architecture a) {
    a.model_type = "dinov3_convnext", a.prefix = "DINOv3ConvNext", a.describe = describe_dinov3_convnext;
    a.read = dinov3_convnext_detail::read, a.heads = {head_kind::none}, a.defaults.head = head_kind::none;
    a.keys[0] = {};
    return a;
}(convnext);

}  // namespace llmcost::arch
