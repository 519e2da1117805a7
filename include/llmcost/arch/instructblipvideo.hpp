// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/blip_2.hpp>
#include <llmcost/arch/instructblip.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/qformer.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace instructblipvideo_detail {

/// Frames that the processor samples from a video.
///
/// Source: transformers/models/instructblipvideo/video_processing_instructblipvideo.py,
/// processing_instructblipvideo.py.
inline constexpr std::int64_t frames = 4;

constexpr media_shapes compute_frame_shapes(const model& m, const workload& load) {
    media_shapes shapes = qformer::compute_media_shapes(m, load);
    shapes.image.num_tokens *= frames;
    return shapes;
}

inline constexpr submodel_spec video_tower = instructblip_vision_encoder_of(blip_2_vision_encoder, "InstructBlipVideo");

inline constexpr submodel_spec video_former = instructblip_qformer_of(blip_2_qformer, "InstructBlipVideo");

}  // namespace instructblipvideo_detail

// transformers/models/instructblipvideo: the same for four frames of a clip
inline constexpr model_spec instructblipvideo = [](model_spec spec) {
    spec.model_type = "instructblipvideo";
    spec.class_prefix = "InstructBlipVideo";
    spec.compute_media_shapes = instructblipvideo_detail::compute_frame_shapes;
    spec.forward = forward_blip_2<qformer::query, instructblipvideo_detail::frames>;
    spec.components[0].default_spec = &instructblipvideo_detail::video_tower;
    spec.components[1].default_spec = &instructblipvideo_detail::video_former;
    return spec;
}(instructblip);

}  // namespace llmcost::arch
