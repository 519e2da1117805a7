// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/convnext_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace convnext_detail {

using convnext_stages::channel_norm, convnext_stages::depths, convnext_stages::drops, convnext_stages::last_norm,
    convnext_stages::normalizes_responses, convnext_stages::scales, convnext_stages::stages, convnext_stages::widths;

/// Global response normalization: responses over all positions, normalized across channels (`ConvNextV2GRN`).
struct response_norm {
    std::int64_t width;
    literal prefix;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "GRN"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {1, 1, 1, width}), bias = t.param("bias", {1, 1, 1, width});
        const tensor global = t.norm_over_places(x);
        const tensor normed = t.div(global, t.add_scalar(t.mean(global, -1, true)));
        return t.add(t.add(t.mul(weight, t.mul(x, normed)), bias), x);
    }
};

/// ConvNeXt block: a depthwise convolution, then two linear layers over channels.
struct layer {
    const layer_context& ctx;
    std::int64_t width;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const literal prefix = ctx.spec.class_prefix;
        const bool scaled = ctx.config.family[scales] != 0;
        const tensor scale = scaled ? t.param("layer_scale_parameter", {width}) : tensor{};
        tensor h = t.call("dwconv", convolution_2d{width, width, 7, 1, 3, width}, x).permute({0, 2, 3, 1});
        h = t.call("layernorm", last_norm{width, prefix}, h);
        h = t.call("pwconv1", mlp_child<linear>{{width, 4 * width, true}}, h);
        h = t.call("act", mlp_child<activation_module>{{ctx.config.hidden_act}}, h);
        if (ctx.config.family[normalizes_responses]) h = t.call("grn", response_norm{4 * width, prefix}, h);
        h = t.call("pwconv2", last_mlp_child<linear>{{4 * width, width, true}}, h);
        if (scaled) h = t.mul(scale, h);
        return t.add(x, t.call("drop_path", drop_path_module{prefix, drops_path}, h.permute({0, 3, 1, 2})));
    }
};

constexpr tensor stage(const layer_context& ctx, trace& t, std::int64_t i, tensor x) {
    const std::int64_t width = stage_entry(ctx.config, widths, i), depth = stage_entry(ctx.config, depths, i);
    const std::int64_t previous_width = i > 0 ? stage_entry(ctx.config, widths, i - 1) : width;
    const module_info module{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
    t.enter(module);
    if (i > 0) {
        x = t.call({"downsampling_layer", 0}, channel_norm{previous_width, ctx.spec.class_prefix}, x);
        x = t.call({"downsampling_layer", 1}, convolution_2d{previous_width, width, 2, 2}, x);
    } else {
        const module_info none{.name = "downsampling_layer", .class_of_module = {"", "ModuleList"}};
        t.enter(none);
        t.leave(none);
    }
    // rates grow linearly over all layers, from zero in the first to `drop_path_rate` in the last
    const bool drops_later = ctx.config.family[drops] != 0;
    std::int64_t first = 0;
    if (i == 0) x = t.call({"layers", first++}, layer{ctx, width, false}, x);
    for (loop layer_loop = t.loop_modules(depth - first, x, first); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, layer{ctx, width, drops_later}, x);
    return t.leave(module, x);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = stage_entry(ctx.config, widths, 0), last = ctx.config.family[stages] - 1;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(embeddings);
    const convolution_2d patches{image.num_channels, width, image.patch_size, image.patch_size};
    tensor x = t.call("patch_embeddings", patches, image_input(ctx, t));
    x = t.leave(embeddings, t.call("layernorm", channel_norm{width, ctx.spec.class_prefix}, x));
    t.enter(encoder);
    for (std::int64_t i = 0; i <= last; ++i) x = stage(ctx, t, i, x);
    t.leave(encoder);
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    const norm_module layer_norm{norm_kind::layer, stage_entry(ctx.config, widths, last)};
    const tensor pooled = t.call("layernorm", layer_norm, t.mean_of_images(x));
    return ctx.config.head == head_kind::none ? x : pooled;
}

}  // namespace convnext_detail

/// Traces ConvNeXt: stages of blocks with depthwise convolutions and linear layers.
///
/// Source: transformers/models/convnext/modeling_convnext.py, transformers/models/convnextv2/modeling_convnextv2.py.
constexpr tensor forward_convnext(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, ctx.spec.names.base_model, convnext_detail::base, classify_linear);
}

constexpr void parse_convnext(config_view json, model_config& config) {
    using namespace convnext_detail;
    using namespace convnext_stages;
    config.vision = parse_image_size(json, 224);
    config.vision.patch_size = json.positive("patch_size", 4);
    config.family[stages] = parse_stages(json, "hidden_sizes", {96, 192, 384, 768}, config.family, widths);
    parse_stages_of(json, "depths", {3, 3, 9, 3}, config.family, depths, config.family[stages]);
    if (config.num_hidden_layers != config.family[stages])
        throw_invalid_value(json, "num_stages", "the length of hidden_sizes");
    config.family[drops] = json.real("drop_path_rate", 0.0) > 0.0;
    config.family[scales] = config.family[normalizes_responses] == 0 && json.real("layer_scale_init_value", 1e-6) > 0.0;
}

// Source: transformers/models/convnext: configuration_convnext.py, modeling_convnext.py
inline constexpr model_spec convnext = [](model_spec spec) {
    spec.model_type = "convnext";
    spec.class_prefix = "ConvNext";
    spec.forward = forward_convnext;
    spec.parse_config = parse_convnext;
    spec.family_keys = convnext_stages::family_keys;
    spec.names.base_model = "convnext";
    spec.config_keys.add("num_hidden_layers", "num_stages", key_rule::standard_name_first);
    spec.defaults.num_hidden_layers = 4;
    return spec;
}(image_classifier(activation::gelu));

}  // namespace llmcost::arch
