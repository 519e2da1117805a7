// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/convnext.hpp>
#include <llmcost/forward/convnext_stages.hpp>

// DINOv3 ConvNeXt. Derived from ConvNeXt.
//
// Source: transformers/models/dinov3_convnext: configuration_dinov3_convnext.py, modeling_dinov3_convnext.py

namespace llmcost::arch {

namespace dinov3_convnext_detail {

using convnext_stages::channel_norm, convnext_stages::depths, convnext_stages::drops, convnext_stages::last_norm,
    convnext_stages::stages, convnext_stages::widths;

/// ConvNeXt block: a depthwise convolution, then two linear layers over channels, with layer scale.
struct layer {
    const layer_context& ctx;
    std::int64_t width;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor scale = t.param("gamma", {width});
        tensor h = t.call("depthwise_conv", convolution_2d{width, width, 7, 1, 3, width}, x).permute({0, 2, 3, 1});
        h = t.call("layer_norm", last_norm{width, ctx.spec.class_prefix}, h);
        h = t.call("pointwise_conv1", mlp_child<linear>{{width, 4 * width, true}}, h);
        h = t.call("activation_fn", activation_module{ctx.config.hidden_act}, h);
        h = t.mul(t.call("pointwise_conv2", last_mlp_child<linear>{{4 * width, width, true}}, h), scale);
        return t.add(x, t.call("drop_path", drop_path_module{"Dinov3Convnext", drops_path}, h.permute({0, 3, 1, 2})));
    }
};

constexpr tensor stage(const layer_context& ctx, trace& t, std::int64_t i, tensor x) {
    const std::int64_t width = stage_entry(ctx.config, widths, i), depth = stage_entry(ctx.config, depths, i);
    const literal prefix = ctx.spec.class_prefix;
    const module_info module{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
    t.enter(module);
    if (i == 0) {
        x = t.call({"downsample_layers", 0}, convolution_2d{x.dim(1), width, 4, 4}, x);
        x = t.call({"downsample_layers", 1}, channel_norm{width, prefix}, x);
    } else {
        x = t.call({"downsample_layers", 0}, channel_norm{x.dim(1), prefix}, x);
        x = t.call({"downsample_layers", 1}, convolution_2d{x.dim(1), width, 2, 2}, x);
    }
    // drop path rates grow from zero in the first of all layers
    const bool drops_path = ctx.config.family[drops] != 0;
    x = t.call({"layers", 0}, layer{ctx, width, drops_path && i > 0}, x);
    for (loop layer_loop = t.loop_modules(depth - 1, x, 1); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, layer{ctx, width, drops_path}, x);
    return t.leave(module, x);
}

/// Encodes images. The mean over all positions precedes the positions, in the place of a class token.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "model", .class_of_module = ctx.class_of("Encoder")};
    tensor x = image_input(ctx, t);
    t.enter(encoder);
    for (std::int64_t i = 0; i < ctx.config.family[stages]; ++i) x = stage(ctx, t, i, x);
    t.leave(encoder, x);
    const tensor pooled = as_tokens(t.call("pool", global_average_pool{}, x));
    const tensor tokens = t.cat({pooled, as_tokens(x)}, 1);
    return t.call("layer_norm", norm_module{norm_kind::layer, x.dim(1)}, tokens);
}

constexpr void parse_config(config_view json, model_config& config) {
    config.vision = parse_image_size(json, 224);
    config.family[stages] = parse_stages(json, "hidden_sizes", {96, 192, 384, 768}, config.family, widths);
    parse_stages_of(json, "depths", {3, 3, 9, 3}, config.family, depths, config.family[stages]);
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
}

}  // namespace dinov3_convnext_detail

/// Traces the DINOv3 ConvNeXt, which puts the mean before the positions.
///
/// Source: transformers/models/dinov3_convnext/modeling_dinov3_convnext.py.
constexpr tensor forward_dinov3_convnext(const layer_context& ctx, trace& t) {
    return forward_in_module({.class_of_module = ctx.class_of("Model")}, dinov3_convnext_detail::base, ctx, t);
}

inline constexpr model_spec dinov3_convnext = [](model_spec spec) {
    spec.model_type = "dinov3_convnext";
    spec.class_prefix = "DINOv3ConvNext";
    spec.forward = forward_dinov3_convnext;
    spec.parse_config = dinov3_convnext_detail::parse_config;
    spec.supported_heads = {head_kind::none};
    spec.defaults.head = head_kind::none;
    spec.config_keys.remove("num_hidden_layers");
    return spec;
}(convnext);

}  // namespace llmcost::arch
