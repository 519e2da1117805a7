// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/convolution.hpp>

namespace llmcost::arch {

namespace resnet_detail {

enum family_config_index : std::uint8_t {
    basic,
    early_stride,        ///< a bottleneck's first convolution strides, not its second
    first_stage_stride,  ///< of the first stage
    stages,
    widths,
    depths = widths + max_stages
};
inline constexpr family_key family_keys[]{{.type = family_key_type::computed},
                                          {"downsample_in_bottleneck", 0, family_key_type::boolean},
                                          {.default_value = 1, .type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// Convolution, batch norm and activation, if any.
struct block {
    convolution_2d conv;
    literal prefix;
    bool activated;
    activation act;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "ConvLayer"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("normalization", batch_norm_2d{conv.out}, t.call("convolution", conv, x));
        if (!activated) return t.call("activation", identity{"Identity"}, h);
        return t.call("activation", activation_module{act}, h);
    }
};

/// The way around a layer that changes widths or sizes.
struct shortcut {
    convolution_2d conv;
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "ShortCut"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.call("normalization", batch_norm_2d{conv.out}, t.call("convolution", conv, x));
    }
};

constexpr convolution_2d square(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    return {in, out, kernel, stride, kernel / 2, 1, false};
}

/// Two convolutions, or three around a narrower one, and a sum.
struct residual_layer {
    const layer_context& ctx;
    std::int64_t in, out, stride;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(ctx.config.family[basic] ? "BasicLayer" : "BottleNeckLayer");
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const literal prefix = ctx.spec.class_prefix;
        const activation act = ctx.config.hidden_act;
        const module_info layer{.name = "layer", .class_of_module = {"", "Sequential"}};
        const bool early = ctx.config.family[early_stride] != 0;
        tensor h = x;
        const auto declare_shortcut = [&] {
            const bool changes = in != out || stride != 1;
            return changes ? t.call("shortcut", shortcut{square(in, out, 1, stride), prefix}, x)
                           : t.call("shortcut", identity{"Identity"}, x);
        };
        t.enter(layer);
        if (ctx.config.family[basic]) {
            h = t.call("0", block{square(in, out, 3, stride), prefix, true, act}, h);
            h = t.call("1", block{square(out, out, 3, 1), prefix, false, act}, h);
        } else {
            const std::int64_t inner = out / 4;
            h = t.call("0", block{square(in, inner, 1, early ? stride : 1), prefix, true, act}, h);
            h = t.call("1", block{square(inner, inner, 3, early ? 1 : stride), prefix, true, act}, h);
            h = t.call("2", block{square(inner, out, 1, 1), prefix, false, act}, h);
        }
        t.leave(layer);
        t.add_(h, declare_shortcut());
        return t.call("activation", activation_module{act}, h);
    }
};

constexpr tensor stage(const layer_context& ctx, trace& t, std::int64_t i, std::int64_t in, const tensor& x) {
    const std::int64_t out = of_stage(ctx.config, widths, i), depth = of_stage(ctx.config, depths, i);
    const std::int64_t stride = i == 0 ? ctx.config.family[first_stage_stride] : 2;
    const module_info module{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
    const module_info layers{.name = "layers", .class_of_module = {"", "Sequential"}};
    t.enter(module);
    t.enter(layers);
    tensor h = t.call(child_name::indexed(0), residual_layer{ctx, in, out, stride}, x);
    for (loop layer_loop = t.loop_modules(depth - 1, h, 1); layer_loop.next();)
        h = t.call(child_name::indexed(layer_loop.index()), residual_layer{ctx, out, out, 1}, h);
    t.leave(layers);
    return t.leave(module, h);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.embedding_size;
    const module_info embedder{
        .name = "embedder", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(embedder);
    const convolution_2d first = square(ctx.config.vision.num_channels, width, 7, 2);
    tensor x =
        t.call("embedder", block{first, ctx.spec.class_prefix, true, ctx.config.hidden_act}, image_input(ctx, t));
    x = t.leave(embedder, t.call("pooler", max_pool_2d{3, 2, 1}, x));
    t.enter(encoder);
    for (std::int64_t i = 0, in = width; i < ctx.config.family[stages]; in = of_stage(ctx.config, widths, i++))
        x = stage(ctx, t, i, in, x);
    t.leave(encoder);
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    const tensor pooled = t.call("pooler", global_average_pool{}, x);
    return ctx.config.head == head_kind::none ? x : pooled;
}

}  // namespace resnet_detail

/// Convolutions in stages with sums around them, and a classifier of the mean over all places.
///
/// Source: transformers/models/resnet/modeling_resnet.py.
constexpr tensor forward_resnet(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "resnet", resnet_detail::base, classify_flat);
}

constexpr void parse_resnet(config_view json, model_config& config) {
    using namespace resnet_detail;
    config.vision = parse_image_size(json, 224);
    config.embedding_size = json.positive("embedding_size", 64);
    config.family[stages] = parse_stages(json, "hidden_sizes", {256, 512, 1024, 2048}, config.family, widths);
    parse_stages_of(json, "depths", {3, 4, 6, 3}, config.family, depths, config.family[stages]);
    const string_ref type = json.string("layer_type", "bottleneck");
    if (type != "bottleneck" && type != "basic") throw_invalid_value(json, "layer_type", "basic or bottleneck");
    config.family[basic] = type == "basic";
    config.family[first_stage_stride] = json.boolean("downsample_in_first_stage", false) ? 2 : 1;
    for (std::int64_t i = 0; i < config.family[stages] && !config.family[basic]; ++i)
        if (of_stage(config, widths, i) < 4)
            throw_invalid_value(json, "hidden_sizes", "at least 4 channels in each stage");
}

// transformers/models/resnet: configuration_resnet.py, modeling_resnet.py
inline constexpr model_spec resnet{
    .model_type = "resnet",
    .class_prefix = "ResNet",
    .forward = forward_resnet,
    .parse_config = parse_resnet,
    .family_keys = resnet_detail::family_keys,
    .dropout_keys = dropout_key_table::none(),
    .rotary = rotary_style::none,
    .accepts_any_image_size = true,
    .supported_heads = {head_kind::none, head_kind::image_classification},
    .defaults = image_defaults(activation::relu),
};

}  // namespace llmcost::arch
