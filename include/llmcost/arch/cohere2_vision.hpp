// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/aya_vision.hpp>
#include <llmcost/forward/pixel_shuffle_tiles.hpp>

// Cohere 2 Vision. Derived from Aya Vision, with these differences:
//  - no norm in the projector;
//  - the tile grid with the least scaling.
//
// Source: transformers/models/cohere2_vision

namespace llmcost::arch {

namespace cohere2_vision_detail {

/// Returns the tile grid that enlarges the image least. If every grid shrinks it, returns the one that shrinks it
/// least.
///
/// Source: transformers, `get_optimal_tiled_canvas`.
[[nodiscard]] constexpr tile_grid min_scaled(std::int64_t height, std::int64_t width, std::int64_t side,
                                             std::int64_t maximum) {
    tile_grid up, down;
    double min_up = 0, min_down = 0;  // 0: no grid found
    for (std::int64_t n = 1; n <= maximum; ++n)
        for (std::int64_t columns = 1; columns <= n; ++columns) {
            if (n % columns != 0) continue;
            const double width_scale = static_cast<double>(columns * side) / static_cast<double>(width);
            const double high = static_cast<double>(n / columns * side) / static_cast<double>(height);
            const double scale = width_scale < high ? width_scale : high;
            if (scale >= 1 && (min_up == 0 || scale < min_up)) {
                up = {n / columns, columns};
                min_up = scale;
            }
            if (scale < 1 && scale > min_down) {
                down = {n / columns, columns};
                min_down = scale;
            }
        }
    return min_up > 0 ? up : down;
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height;
    const std::int64_t width = load.image_width > 0 ? load.image_width : image.image_width;
    return pixel_shuffle_tiles::shapes_of(
        m, min_scaled(height, width, image.image_height, m.family[pixel_shuffle_tiles::max_tiles]));
}

/// Parses the processor configuration. Tiling is optional; the processor ignores the minimum number of tiles.
constexpr void parse_processor_config(config_view json, model& m) {
    pixel_shuffle_tiles::parse_processor_config(json, m);
    if (!json.boolean("crop_to_patches", true)) m.family[pixel_shuffle_tiles::max_tiles] = 1;
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        return pixel_shuffle_tiles::encode_images(ctx, t, token_embeddings, false, false);
    });
}

constexpr void parse_config(config_view json, model& m) {
    using namespace pixel_shuffle_tiles;
    m.family[inner_width] = json.positive("alignment_intermediate_size", 36864);
    (void)checked_size(json, "downsample_factor", m.family[downsample] * m.family[downsample],
                       m.components[0].config.hidden_size);
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        parse_square_image(json, config, 512, 16);
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    spec.defaults.hidden_size = 1152;
    spec.defaults.num_hidden_layers = 27;
    return spec;
}(siglip_vision_model);

}  // namespace cohere2_vision_detail

inline constexpr model_spec cohere2_vision = [](model_spec spec) {
    spec.model_type = "cohere2_vision";
    spec.class_prefix = "Cohere2Vision";
    spec.base_model = cohere2_vision_detail::base;
    spec.parse_composite_config = cohere2_vision_detail::parse_config;
    spec.compute_media_shapes = cohere2_vision_detail::compute_media_shapes;
    spec.parse_image_processor = cohere2_vision_detail::parse_processor_config;
    spec.components[0].spec_if_absent = &cohere2_vision_detail::tower;
    return spec;
}(aya_vision);

}  // namespace llmcost::arch
