// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llava.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/any_resolution.hpp>
#include <llmcost/forward/vision_features.hpp>

namespace llmcost::arch {

namespace llava_next_detail {

using any_resolution::features_of_images, any_resolution::grids, any_resolution::max_tiles, any_resolution::parse_grids;

inline constexpr family_key family_keys[]{
    vision_features::family_keys[0],     vision_features::family_keys[1],     vision_features::family_keys[2],
    vision_features::family_keys[3],     vision_features::family_keys[4],     {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed}, {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed}, {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed},  // of a grid as it is read; 0: all
    {.type = family_key_type::computed}, {"spatial_pool_stride", 2},          {.type = family_key_type::computed},
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const tensor newline = t.param("image_newline", {ctx.config.hidden_size});
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        return t.masked_scatter(token_embeddings, features_of_images(ctx, t, newline));
    });
}

/// Tiles are cut by the file's grids, and put together by the configuration's.
constexpr void parse_processor_config(config_view json, model& m) {
    const std::int64_t side = m.components[0].config.vision.image_height;
    expect_resized(json);
    expect_picture(json, side);
    if (!json.optional_array("image_grid_pinpoints")) return;
    family_config cut;
    parse_grids(json, cut, side, 0);
    for (std::size_t i = grids; i < max_tiles; ++i)
        if (cut[i] != m.family[i])
            throw_invalid_value(json, "image_grid_pinpoints", "the image_grid_pinpoints of the configuration");
}

}  // namespace llava_next_detail

// transformers/models/llava_next: tiles of the best grid plus the full image; a newline token ends each row
inline constexpr model_spec llava_next = [](model_spec spec) {
    spec.model_type = "llava_next";
    spec.class_prefix = "LlavaNext";
    spec.base_model = llava_next_detail::base;
    spec.family_keys = llava_next_detail::family_keys;
    spec.parse_composite_config = any_resolution::parse_config;
    spec.compute_media_shapes = any_resolution::compute_media_shapes;
    spec.parse_image_processor = llava_next_detail::parse_processor_config;
    return spec;
}(llava);

}  // namespace llmcost::arch
