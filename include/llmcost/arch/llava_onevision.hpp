// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/llava.hpp>
#include <llmcost/arch/llava_next.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/any_resolution.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/forward/vision_features.hpp>

namespace llmcost::arch {

namespace llava_onevision_detail {

using any_resolution::base_of, any_resolution::max_tiles, any_resolution::parse_grids,
    any_resolution::compute_media_shapes, any_resolution::states_of_frames;

/// Frames at half their sides, and one token that ends a video (`apply_pooling`).
constexpr media_shapes compute_halved_shapes(const model& m, const workload& load) {
    media_shapes all = compute_media_shapes(m, load);
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t half = (image.image_height / image.patch_size + 1) / 2;
    all.video = {.num_tokens = load.video_frames * half * half + 1, .num_tiles = load.video_frames};
    return all;
}

constexpr tensor base_halved(const layer_context& ctx, trace& t) {
    return base_of(ctx, t, [&](const tensor& newline) {
        const recorder::shared_parameters_guard twice{t};
        const workload& load = t.load();
        const vision_config& image = ctx.model.components[0].config.vision;
        const std::int64_t side = image.image_height / image.patch_size, half = (side + 1) / 2,
                           width = ctx.config.hidden_size;
        const std::int64_t videos = load.batch * (load.videos > 0 ? load.videos : 1);
        const tensor features = vision_features::project(ctx, t, states_of_frames(ctx, t));
        const tensor grids = t.copy(features.view({features.dim(0), side, side, width}).permute({0, 3, 1, 2}));
        const tensor smaller = t.bilinear(grids, half, half).permute({0, 2, 3, 1});
        const tensor frames = t.reshape(smaller, {videos, -1, width});
        const tensor ends = t.copy(newline.view({1, 1, width}).expand({videos, 1, width}));
        return t.cat({frames, ends}, 1);
    });
}

constexpr void parse_halved(config_view json, model& m) {
    vision_features::parse_config(json, m);
    m.family[vision_features::layers_read] =
        parse_selected_layers(json, "vision_feature_layer", m.components[0].config.num_hidden_layers, {-1});
    m.family[vision_features::all_states] = json.string("vision_feature_select_strategy", "full") == "full" ? 1 : 0;
    parse_grids(json, m.family, m.components[0].config.vision.image_height, 6);
    const string_ref ratio = json.string("vision_aspect_ratio", "anyres_max_9");
    constexpr string_ref prefix = "anyres_max_";
    std::int64_t n = 0;
    std::size_t i = ratio.starts_with(prefix) ? prefix.size() : 0;
    for (; i >= prefix.size() && i < ratio.size() && ratio[i] >= '0' && ratio[i] <= '9' && n < 1000; ++i)
        n = n * 10 + (ratio[i] - '0');
    if (i != ratio.size() || n == 0)
        throw_invalid_value(json, "vision_aspect_ratio", "anyres_max_ and a number of tiles");
    m.family[max_tiles] = n;
}

inline constexpr submodel_spec siglip_of_onevision = siglip_at_384_pixels(16);

}  // namespace llava_onevision_detail

// transformers/models/llava_onevision: SigLIP and Qwen2, tiles shrunk where they are many
inline constexpr model_spec llava_onevision = [](model_spec spec) {
    spec.model_type = "llava_onevision";
    spec.class_prefix = "LlavaOnevision";
    spec.base_model = llava_onevision_detail::base_halved;
    spec.parse_composite_config = llava_onevision_detail::parse_halved;
    spec.compute_media_shapes = llava_onevision_detail::compute_halved_shapes;
    spec.modalities.has_videos = true;
    spec.text_model.default_spec = &qwen2;
    spec.components[0].default_spec = &siglip_vision_model;
    spec.components[0].spec_if_absent = &llava_onevision_detail::siglip_of_onevision;
    return spec;
}(llava_next);

}  // namespace llmcost::arch
