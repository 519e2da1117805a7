// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_transformer.hpp>
#include <llmcost/model/model_spec.hpp>

// Video models, with one video per batch entry. The configuration or the workload determines its frames and size.
//
// Shapes: B = batch.
namespace llmcost {

/// Frames and size of the input videos.
struct video_sizes {
    std::int64_t frames, height, width;
    friend constexpr bool operator==(const video_sizes&, const video_sizes&) = default;
};
[[nodiscard]] constexpr video_sizes video_shape_of(const workload& load, const video_sizes& default_shape) noexcept {
    return load.videos == 0 ? default_shape : video_sizes{load.video_frames, load.video_height, load.video_width};
}

/// The input video of a video model, which is not resized.
///
/// Throws: `description_error` for several videos per batch entry, for images, and for an unsupported size.
constexpr media_shapes validate_single_video(const workload& load, const video_sizes& default_shape,
                                             bool allows_any_size) {
    if (load.videos > 1) throw_description_error("expected one video per batch entry; for more, use --batch");
    if (load.images > 0 || load.image_height > 0) throw_description_error("images are not supported, only videos");
    const video_sizes shape = video_shape_of(load, default_shape);
    if (!allows_any_size && !(shape == default_shape))
        throw_description_error("frames and size of the video must be those of the configuration");
    return {.video = {.num_tiles = shape.frames, .height = shape.height, .width = shape.width}};
}

/// Input pixels: (B, frames, channels, height, width).
constexpr tensor pixels_of_videos(const layer_context& ctx, trace& t, const video_sizes& default_shape) {
    const video_sizes shape = video_shape_of(t.load(), default_shape);
    return t.input({t.load().batch, shape.frames, ctx.config.vision.num_channels, shape.height, shape.width});
}

/// `nn.Conv3d` without overlap: (B, in, frames, height, width) -> (B, out, steps, rows, columns).
struct tubelet_convolution {
    std::int64_t in, out, frames, rows, columns;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv3d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {out, in, frames, rows, columns});
        t.read_parameter_in_next_op(t.param("bias", {out}));
        return t.conv(x, weight, true, {.stride = {frames, rows, columns}});
    }
};

/// Flattens tubelets to tokens: (B, channels, steps, rows, columns) -> (B, steps · rows · columns, channels). A view.
constexpr tensor tubelets_as_tokens(const tensor& x) { return x.view({x.dim(0), x.dim(1), -1}).transpose(1, 2); }

/// Moves channels before frames: (B, frames, channels, …) -> (B, channels, frames, …). A view, no copy.
constexpr tensor channels_first(const tensor& pixels) { return pixels.permute({0, 2, 1, 3, 4}); }

/// A video model with or without a classifier.
constexpr tensor forward_video_model(const layer_context& ctx, trace& t, forward_function base,
                                     layer_forward_function classify) {
    return forward_image_model(ctx, t, ctx.spec.names.base_model, base, classify);
}

/// Default configuration of most video models.
[[nodiscard]] constexpr model_config video_defaults(activation act) {
    model_config config = image_defaults(act);
    config.hidden_size = 768;
    config.intermediate_size = 3072;
    config.num_hidden_layers = config.num_attention_heads = 12;
    config.head = head_kind::video_classification;
    return config;
}

/// A spec of a video classifier with the dropout rates of ViT. Families derive their specs from it.
[[nodiscard]] constexpr model_spec video_classifier(activation act) {
    model_spec spec;
    spec.dropout_keys = vit_config::dropout_rates;
    spec.modalities = {.has_text = false, .has_videos = true};
    spec.rotary = rotary_style::none;
    spec.supported_heads = {head_kind::none, head_kind::video_classification};
    spec.defaults = video_defaults(act);
    return spec;
}

}  // namespace llmcost
