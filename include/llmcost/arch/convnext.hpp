// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/norm.hpp>
#include <llmcost/reading/images.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace convnext_detail {

enum own : std::uint8_t {
    normalizes_responses,  ///< between a block's linear layers
    scales,                ///< a factor for each channel of what a block adds
    drops,
    stages,
    widths,
    depths = widths + most_stages
};
inline constexpr own_key keys[]{{.value = own_value::computed},
                                {.value = own_value::computed},
                                {.value = own_value::computed},
                                {.value = own_value::computed}};
inline constexpr own_key keys_v2[]{{.otherwise = 1, .value = own_value::computed}, keys[1], keys[2], keys[3]};

/// A layer norm over channels, which are first: to the end, and back.
struct channel_norm : norm<norm_kind::layer> {
    literal prefix;

    constexpr channel_norm(std::int64_t width, literal of) : norm<norm_kind::layer>{width}, prefix(of) {}
    [[nodiscard]] constexpr class_name type() const { return {prefix, "LayerNorm"}; }
    constexpr value describe(trace& t, const value& x) const {
        return norm<norm_kind::layer>::describe(t, x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
    }
};

/// The same over channels that are last.
struct last_norm : norm<norm_kind::layer> {
    literal prefix;

    constexpr last_norm(std::int64_t width, literal of) : norm<norm_kind::layer>{width}, prefix(of) {}
    [[nodiscard]] constexpr class_name type() const { return {prefix, "LayerNorm"}; }
};

/// Responses over all places, normalised across channels (`ConvNextV2GRN`).
struct response_norm {
    std::int64_t width;
    literal prefix;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "GRN"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {1, 1, 1, width}), bias = t.param("bias", {1, 1, 1, width});
        const value global = t.norm_over_places(x);
        const value normed = t.div(global, t.add(t.mean(global, -1, true)));
        return t.add(t.add(t.mul(weight, t.mul(x, normed)), bias), x);
    }
};

/// A convolution for each channel, then two linear layers over channels.
struct layer {
    const site& here;
    std::int64_t width;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const literal prefix = here.row.prefix;
        const bool scaled = here.dims.own[scales] != 0;
        const value scale = scaled ? t.param("layer_scale_parameter", {width}) : value{};
        value h = t.call("dwconv", convolution_2d{width, width, 7, 1, 3, width}, x).permute({0, 2, 3, 1});
        h = t.call("layernorm", last_norm{width, prefix}, h);
        h = t.call("act", activation_module{here.dims.hidden_act}, t.call("pwconv1", linear{width, 4 * width, true}, h));
        if (here.dims.own[normalizes_responses]) h = t.call("grn", response_norm{4 * width, prefix}, h);
        h = t.call("pwconv2", linear{4 * width, width, true}, h);
        if (scaled) h = t.mul(scale, h);
        return t.add(x, t.call("drop_path", drop_path_module{prefix, drops_path}, h.permute({0, 3, 1, 2})));
    }
};

constexpr value stage(const site& here, trace& t, std::int64_t i, value x) {
    const std::int64_t width = of_stage(here.dims, widths, i), depth = of_stage(here.dims, depths, i);
    const std::int64_t before = i > 0 ? of_stage(here.dims, widths, i - 1) : width;
    const module_info module{.name = "stages", .index = i, .type = here.type("Stage")};
    t.enter(module);
    if (i > 0) {
        x = t.call({"downsampling_layer", 0}, channel_norm{before, here.row.prefix}, x);
        x = t.call({"downsampling_layer", 1}, convolution_2d{before, width, 2, 2}, x);
    } else {
        const module_info none{.name = "downsampling_layer", .type = {"", "ModuleList"}};
        t.enter(none), t.leave(none);
    }
    // rates grow from zero in the first layer of all to `drop_path_rate` in the last
    const bool drops_later = here.dims.own[drops] != 0;
    std::int64_t first = 0;
    if (i == 0) x = t.call({"layers", first++}, layer{here, width, false}, x);
    for (repetition each = t.repeat(depth - first, x, first); each.next();)
        x = t.call({"layers", each.index()}, layer{here, width, drops_later}, x);
    return t.leave(module, x);
}

constexpr value base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = of_stage(here.dims, widths, 0), last = here.dims.own[stages] - 1;
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(embeddings);
    const convolution_2d patches{image.num_channels, width, image.patch_size, image.patch_size};
    value x = t.call("patch_embeddings", patches, images_of(here, t));
    x = t.leave(embeddings, t.call("layernorm", channel_norm{width, here.row.prefix}, x));
    t.enter(encoder);
    for (std::int64_t i = 0; i <= last; ++i) x = stage(here, t, i, x);
    t.leave(encoder);
    const recorder::off_loss_guard unread{t, here.dims.head == head_kind::none};
    const norm<norm_kind::layer> layer_norm{of_stage(here.dims, widths, last)};
    const value pooled = t.call("layernorm", layer_norm, t.mean_of_images(x));
    return here.dims.head == head_kind::none ? x : pooled;
}

}  // namespace convnext_detail

/// Convolutions per channel between linear layers, in stages.
///
/// Source: transformers/models/convnext/modeling_convnext.py, transformers/models/convnextv2/modeling_convnextv2.py.
constexpr value describe_convnext(const site& here, trace& t) {
    return describe_image_model(here, t, here.row.names.base, convnext_detail::base, classify_linear);
}

constexpr void read_convnext(config_view config, sizes& s) {
    using namespace convnext_detail;
    s.vision = read_images(config, 224);
    s.vision.patch_size = config.positive("patch_size", 4);
    s.own[stages] = read_stages(config, "hidden_sizes", {96, 192, 384, 768}, s.own, widths);
    read_stages_of(config, "depths", {3, 3, 9, 3}, s.own, depths, s.own[stages]);
    if (s.num_hidden_layers != s.own[stages]) fail_value(config, "num_stages", "as many as hidden_sizes has");
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0.0;
    s.own[scales] = s.own[normalizes_responses] == 0 && config.real("layer_scale_init_value", 1e-6) > 0.0;
}

// transformers/models/convnext: configuration_convnext.py, modeling_convnext.py
inline constexpr architecture convnext{
    .model_type = "convnext",
    .prefix = "ConvNext",
    .describe = describe_convnext,
    .read = read_convnext,
    .own = convnext_detail::keys,
    .drops = dropout_keys::none(),
    .rotated = rotation::none,
    .any_image = true,
    .heads = {head_kind::none, head_kind::image_classification},
    .names = {.base = "convnext"},
    .keys = {{"num_hidden_layers", "num_stages", key_rule::standard_first}},
    .defaults =
        [] {
            sizes s = image_defaults(activation::gelu);
            s.num_hidden_layers = 4;
            return s;
        }(),
};

// transformers/models/convnextv2: responses are normalised, blocks are not scaled
inline constexpr architecture convnextv2 = [](architecture a) {
    a.model_type = "convnextv2", a.prefix = "ConvNextV2", a.own = convnext_detail::keys_v2, a.names.base = "convnextv2";
    return a;
}(convnext);

}  // namespace llmcost::arch
