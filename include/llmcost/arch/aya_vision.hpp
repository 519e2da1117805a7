// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/cohere2.hpp>
#include <llmcost/arch/llava.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/pixel_shuffle_tiles.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_features.hpp>

// Aya Vision. SigLIP and Cohere 2, connected by a gated projector over squares of patches.
//
// Source: transformers/models/aya_vision

namespace llmcost::arch {

namespace aya_vision_detail {

using pixel_shuffle_tiles::downsample, pixel_shuffle_tiles::encode_images, pixel_shuffle_tiles::fewest_tiles,
    pixel_shuffle_tiles::inner_width, pixel_shuffle_tiles::layers_read, pixel_shuffle_tiles::max_tiles,
    pixel_shuffle_tiles::shapes_of;

static_assert(static_cast<int>(layers_read) == static_cast<int>(vision_features::layers_read));

inline constexpr family_key family_keys[]{
    {"downsample_factor", 2},
    {.type = family_key_type::computed},                      // `alignment_intermediate_size`
    {.default_value = 1, .type = family_key_type::computed},  // minimum tiles per image, without the thumbnail
    {.default_value = 12, .type = family_key_type::computed},
    {.type = family_key_type::computed},
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height;
    const std::int64_t width = load.image_width > 0 ? load.image_width : image.image_width;
    return shapes_of(m, closest_grid(height, width, image.image_height, m.family[fewest_tiles], m.family[max_tiles]));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        return encode_images(ctx, t, token_embeddings, true, true);
    });
}

constexpr void parse_config(config_view json, model& m) {
    m.family[inner_width] = json.positive("alignment_intermediate_size", m.config.hidden_size);
    (void)checked_size(json, "downsample_factor", m.family[downsample] * m.family[downsample],
                       m.components[0].config.hidden_size);
    const string_ref strategy = json.string("vision_feature_select_strategy", "full");
    if (strategy != "full" && strategy != "default")
        throw_invalid_value(json, "vision_feature_select_strategy", "\"default\" or \"full\"");
    if (count_layers(json, "vision_feature_layer") != 1)
        throw_unsupported(json, "vision_feature_layer", "several vision layers are not supported by this model type");
    m.family[layers_read] =
        parse_selected_layers(json, "vision_feature_layer", m.components[0].config.num_hidden_layers, {-1});
}

inline constexpr submodel_spec siglip_of_aya = siglip_at_384_pixels(14);

}  // namespace aya_vision_detail

inline constexpr model_spec aya_vision = [](model_spec spec) {
    spec.model_type = "aya_vision";
    spec.class_prefix = "AyaVision";
    spec.base_model = aya_vision_detail::base;
    spec.compute_media_shapes = aya_vision_detail::compute_media_shapes;
    spec.parse_image_processor = pixel_shuffle_tiles::parse_processor_config;
    spec.modalities.has_images = true;
    spec.parse_composite_config = aya_vision_detail::parse_config;
    spec.family_keys = aya_vision_detail::family_keys;
    spec.defaults.tie_word_embeddings = true;
    spec.text_model = {.key = "text_config", .default_spec = &cohere2};
    spec.components[0] = {.key = "vision_config",
                          .default_spec = &siglip_vision_model,
                          .spec_if_absent = &aya_vision_detail::siglip_of_aya};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
