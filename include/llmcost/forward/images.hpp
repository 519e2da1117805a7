// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/layers/convolution.hpp>
#include <llmcost/layers/linear.hpp>
#include <llmcost/model/model_spec.hpp>

// Building blocks of image models with stages: inputs, drop path, position embeddings, classification heads.
namespace llmcost {

/// Default configuration of image models with sizes per stage.
[[nodiscard]] constexpr model_config image_defaults(activation act) {
    model_config config;
    config.hidden_size = config.num_hidden_layers = 1;
    config.hidden_act = act;
    config.head = head_kind::image_classification;
    return config;
}

/// A spec of an image classifier without dropout. Families derive their specs from it.
[[nodiscard]] constexpr model_spec image_classifier(activation act) {
    model_spec spec;
    spec.dropout_keys = dropout_key_table::none();
    spec.rotary = rotary_style::none;
    spec.accepts_any_image_size = true;
    spec.supported_heads = {head_kind::none, head_kind::image_classification};
    spec.defaults = image_defaults(act);
    return spec;
}

/// Size `int(width * ratio)`, where the family key `at` stores the ratio.
[[nodiscard]] constexpr std::int64_t times_ratio(const model_config& config, std::size_t offset, std::int64_t width) {
    return static_cast<std::int64_t>(static_cast<double>(width) * __builtin_bit_cast(double, config.family[offset]));
}

/// Entry of a stage in the list that begins at family key `at`.
[[nodiscard]] constexpr std::int64_t stage_entry(const model_config& config, std::size_t offset, std::int64_t stage) {
    return config.family[offset + static_cast<std::size_t>(stage)];
}

/// Stochastic depth: drops the output of a block for some images in training. The identity if the rate is zero.
///
/// Sampling has no cost.
/// Source: transformers/models/swin/modeling_swin.py, `SwinDropPath`.
struct drop_path_module {
    literal prefix;
    bool drops;
    bool always_named = false;  ///< has this class even if the rate is zero

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const {
        return drops || always_named ? class_name{prefix, "DropPath"} : class_name{"", "Identity"};
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        if (!drops || !t.applies_dropout(dropout_position::unconditional)) return x;
        shape per_sample_shape{x.dim(0)};
        while (per_sample_shape.rank < x.rank) per_sample_shape.size[per_sample_shape.rank++] = 1;
        const tensor keep_mask = t.floor(t.add_scalar(t.full(per_sample_shape, x.type)));
        return t.mul(t.div_scalar(x), keep_mask);
    }
};

/// Input images, one per batch entry: (B, channels, height, width).
///
/// The size is that of the workload. Default: that of the configuration.
constexpr tensor image_input(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const workload& load = t.load();
    const bool uses_config_size = load.image_height == 0;
    return t.input({load.batch, image.num_channels, uses_config_size ? image.image_height : load.image_height,
                    uses_config_size ? image.image_width : load.image_width});
}

/// Rows and columns of patches of the input images.
[[nodiscard]] constexpr shape patch_grid(const layer_context& ctx, const trace& t) noexcept {
    const vision_config& image = ctx.config.vision;
    const workload& load = t.load();
    return {(load.image_height > 0 ? load.image_height : image.image_height) / image.patch_size,
            (load.image_width > 0 ? load.image_width : image.image_width) / image.patch_size};
}

/// An image model with or without a classifier.
constexpr tensor forward_image_model(const layer_context& ctx, trace& t, literal name, forward_function base,
                                     layer_forward_function classify) {
    const class_name type = ctx.class_of(ctx.spec.names.model_class);
    if (ctx.config.head == head_kind::none) return forward_in_module({.class_of_module = type}, base, ctx, t);
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    const tensor x = forward_in_module({.name = name, .class_of_module = type}, base, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, classify(ctx, t, x)));
}

/// `classifier`: a linear layer, or the identity without labels.
constexpr tensor classify_linear(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.num_labels == 0) return t.call("classifier", identity{"Identity"}, x);
    return t.call("classifier", head_linear{{x.dim(-1), ctx.config.num_labels, true}}, x);
}

/// `classifier` after a dropout module.
constexpr tensor classify_with_dropout(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, dropout(t, "dropout", x));
}

/// `classifier` as `nn.Sequential` of `nn.Flatten` and a linear layer.
constexpr tensor classify_flat(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info classifier{
        .name = "classifier", .class_of_module = {"", "Sequential"}, .module_role = role::head};
    t.enter(classifier);
    const tensor flat = t.call("0", flatten{}, x);
    if (ctx.config.num_labels == 0) return t.leave(classifier, t.call("1", identity{"Identity"}, flat));
    return t.leave(classifier, t.call("1", linear{flat.dim(-1), ctx.config.num_labels, true}, flat));
}

/// Learned position embeddings, resampled if the image size differs from the configuration: (1, ahead + patches,
/// Learned position embeddings, resampled for other image sizes than the configuration's: (1, ahead + patches, width).
///
/// `ahead`: number of tokens before the patches, which are not resampled.
/// Source: transformers/models/dinov2/modeling_dinov2.py, `interpolate_pos_encoding`.
constexpr tensor resample_position_embeddings(const layer_context& ctx, trace& t, const tensor& places,
                                              std::int64_t ahead) {
    const vision_config& image = ctx.config.vision;
    const workload& load = t.load();
    const std::int64_t high = image.image_height / image.patch_size,
                       expanded_width = image.image_width / image.patch_size;
    const shape grid = patch_grid(ctx, t);
    const std::int64_t n = grid.size[0] * grid.size[1], width = places.dim(2);
    const bool square =
        load.image_height > 0 ? load.image_height == load.image_width : image.image_height == image.image_width;
    if (n == high * expanded_width && square) return places;
    const tensor first = ahead > 0 ? t.slice(places, 1, ahead) : tensor{};
    const tensor position_grid =
        t.slice(places, 1, high * expanded_width).view({1, high, expanded_width, width}).permute({0, 3, 1, 2});
    const tensor resampled =
        t.reshape(t.resample(op::bicubic, position_grid, grid).permute({0, 2, 3, 1}), {1, n, width});
    return ahead > 0 ? t.cat({first, resampled}, 1) : resampled;
}

/// Classifier on mean image features, in the modules `avg_pool`, `flatten` and `fc`. `classifier` lists these again.
///
/// `fc` is a linear layer, or the identity without labels.
constexpr tensor classify_sequential(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info classifier_info{.name = "classifier", .class_of_module = {"", "ModuleList"}};
    const tensor flat = t.call("flatten", flatten{}, t.call("avg_pool", global_average_pool{}, x));
    const std::int64_t labels = ctx.config.num_labels;
    const tensor out =
        labels == 0 ? t.call("fc", identity{}, flat) : t.call("fc", head_linear{{x.dim(1), labels, true}}, flat);
    t.enter(classifier_info);
    return t.leave(classifier_info, out);
}

/// A linear layer and dropout, in a module `output` of class `type`.
constexpr tensor project_in_output(const layer_context& ctx, trace& t, literal type, std::int64_t in, std::int64_t out,
                                   const tensor& x, dropout_position place = dropout_position::hidden,
                                   role module_role = role::none) {
    const module_info output{.name = "output", .class_of_module = ctx.class_of(type), .module_role = module_role};
    t.enter(output);
    return t.leave(output, dropout(t, "dropout", t.call("dense", linear{in, out, true}, x), place));
}

/// Pools all positions; the bare model returns the states, and no loss reads the pooled ones.
constexpr tensor pool_if_classified(const layer_context& ctx, trace& t, const tensor& x) {
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    const tensor pooled = t.call("pooler", global_average_pool{}, x);
    return ctx.config.head == head_kind::none ? x : pooled;
}

}  // namespace llmcost
