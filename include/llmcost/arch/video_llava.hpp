// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/llava.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/forward/vision_features.hpp>

namespace llmcost::arch {

namespace video_llava_detail {

using vision_features::all_states, vision_features::encode_images, vision_features::project,
    vision_features::side_by_side;

/// Frames are images; all their states are read, the class token's among them.
constexpr media_shapes compute_video_shapes(const model& m, const workload& load) {
    media_shapes all = compute_llava_media_shapes(m, load);
    const std::int64_t tokens = patches_of(m.components[0].config.vision) + m.components[0].spec->num_prefix_tokens;
    all.video = {.num_tokens = load.video_frames * tokens, .num_tiles = load.video_frames};
    return all;
}

/// Two towers by one configuration, for videos and for images, and one projector.
constexpr tensor base_video(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const workload load = t.load();
        const bool with_images = has_images(t), with_videos = has_videos(t);
        tensor x = token_embeddings;
        {
            const recorder::not_executed_guard no_pixels{t, !with_images};
            const recorder::workload_guard encoder_workload{t, image_workload(load, images_in(t), 0, 0)};
            const hidden_state_outputs read = encode_images(ctx, t, "image_tower");
            x = t.masked_scatter(x, project(ctx, t, side_by_side(ctx, t, read, ctx.model.family[all_states] != 0)));
        }
        const recorder::not_executed_guard no_frames{t, !with_videos};
        const std::int64_t frames = with_videos ? load.batch * load.videos * load.video_frames : load.batch;
        const recorder::workload_guard encoder_workload{t, image_workload(load, frames, 0, 0)};
        const tensor states = side_by_side(ctx, t, encode_images(ctx, t, "video_tower"), true);
        const recorder::shared_parameters_guard twice{t};
        const tensor features = t.masked_scatter(x, project(ctx, t, states));
        return with_videos ? features : x;
    });
}

inline constexpr submodel_spec clip_of_video = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        parse_square_image(json, config, 224, 14);
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    return spec;
}(clip_of_llava);

}  // namespace video_llava_detail

// transformers/models/video_llava: a tower for videos and one for images
inline constexpr model_spec video_llava = [](model_spec spec) {
    spec.model_type = "video_llava";
    spec.class_prefix = "VideoLlava";
    spec.base_model = video_llava_detail::base_video;
    spec.compute_media_shapes = video_llava_detail::compute_video_shapes;
    spec.modalities.has_videos = true;
    spec.text_model.ties_embeddings = false;
    spec.components[0].spec_if_absent = &video_llava_detail::clip_of_video;
    return spec;
}(llava);

}  // namespace llmcost::arch
