// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <initializer_list>
#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/layers/convolution.hpp>

// ResNet: residual blocks of convolutions, with a projection where the size changes (arXiv 1512.03385).
namespace llmcost::residual_convolution {

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

/// Sizes of the stages in the family's configuration, after two keys of the family.
enum stage_config_index : std::uint8_t { first_stage_stride = 2, stages, widths, depths = widths + max_stages };

/// Traces a stage, whose first layer changes width and resolution.
template <class Layer>
constexpr tensor forward_stage(const layer_context& ctx, trace& t, std::int64_t i, std::int64_t in, const tensor& x) {
    const std::int64_t out = stage_entry(ctx.config, widths, i), depth = stage_entry(ctx.config, depths, i);
    const std::int64_t stride = i == 0 ? ctx.config.family[first_stage_stride] : 2;
    const module_info module{.name = "stages", .index = i, .class_of_module = ctx.class_of("Stage")};
    const module_info layers{.name = "layers", .class_of_module = {"", "Sequential"}};
    t.enter(module);
    t.enter(layers);
    tensor h = t.call(child_name::indexed(0), Layer{ctx, in, out, stride}, x);
    for (loop layer_loop = t.loop_modules(depth - 1, h, 1); layer_loop.next();)
        h = t.call(child_name::indexed(layer_loop.index()), Layer{ctx, out, out, 1}, h);
    t.leave(layers);
    return t.leave(module, h);
}

/// Traces the base model: a strided convolution, optional max pooling, stages, and the mean of all positions.
template <class Layer>
constexpr tensor forward_stages(const layer_context& ctx, trace& t, std::int64_t kernel, bool has_max_pool) {
    const std::int64_t width = ctx.config.embedding_size;
    const module_info embedder{
        .name = "embedder", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(embedder);
    const block first{square(ctx.config.vision.num_channels, width, kernel, 2), ctx.spec.class_prefix, true,
                      ctx.config.hidden_act};
    tensor x = t.call("embedder", first, image_input(ctx, t));
    if (has_max_pool) x = t.call("pooler", max_pool_2d{3, 2, 1}, x);
    t.leave(embedder, x);
    t.enter(encoder);
    for (std::int64_t i = 0, in = width; i < ctx.config.family[stages]; in = stage_entry(ctx.config, widths, i++))
        x = forward_stage<Layer>(ctx, t, i, in, x);
    t.leave(encoder);
    return pool_if_classified(ctx, t, x);
}

/// Parses widths and depths of the stages.
constexpr void parse_residual_stages(config_view json, model_config& config, std::int64_t embedding_size,
                                     std::initializer_list<std::int64_t> default_widths,
                                     std::initializer_list<std::int64_t> default_depths) {
    config.vision = parse_image_size(json, 224);
    config.embedding_size = json.positive("embedding_size", embedding_size);
    config.family[stages] = parse_stages(json, "hidden_sizes", default_widths, config.family, widths);
    parse_stages_of(json, "depths", default_depths, config.family, depths, config.family[stages]);
}

}  // namespace llmcost::residual_convolution
