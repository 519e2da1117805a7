// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/siglip_heads.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_features.hpp>

// Aya Vision: tiles of an image, whose patches are merged by pixel shuffle.
namespace llmcost::pixel_shuffle_tiles {

// `layers_read` must have the same index as in LLaVA
enum family_config_index : std::uint8_t { downsample, inner_width, fewest_tiles, max_tiles, layers_read };

/// Projector: merges squares of patches, then applies a gated MLP (`Cohere2VisionMultiModalProjector`). Aya Vision
/// normalizes first.
struct square_projector {
    layer_context ctx;
    bool norms;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t inner = ctx.model.family[inner_width], downsample_factor = ctx.model.family[downsample];
        const vision_config& image = ctx.model.components[0].config.vision;
        const std::int64_t rows = image.image_height / image.patch_size, columns = image.image_width / image.patch_size;
        tensor h = merge_patches(t, x, rows, columns, downsample_factor);
        const std::int64_t width = h.dim(-1);
        if (norms) h = t.call("layernorm", norm_module{norm_kind::layer, width}, h);
        const tensor projected = t.call("linear_1", linear{width, inner, true}, h);
        const tensor half = projected.slice(-1, inner / 2);
        h = t.mul(t.call("act", activation_module{norms ? activation::silu : activation::swish}, half), half);
        return t.call("linear_2", linear{inner / 2, ctx.config.hidden_size, true}, h);
    }
};

constexpr media_shapes shapes_of(const model& m, const tile_grid& grid) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t tiles = add_thumbnail(grid), downsample_factor = m.family[downsample];
    const std::int64_t rows = image.image_height / image.patch_size / downsample_factor,
                       columns = image.image_width / image.patch_size / downsample_factor;
    return {.image = {.num_tokens = tiles * rows * columns,
                      .num_tiles = tiles,
                      .height = image.image_height,
                      .width = image.image_width,
                      .tile_rows = grid.rows,
                      .tile_columns = grid.columns}};
}

/// Parses the processor configuration. `AyaVisionProcessor` always splits images into tiles, independent of this file.
constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    expect_picture(json, m.components[0].config.vision.image_height);
    parse_bounds_of_tiles(json, m.family, fewest_tiles, max_tiles);
}

/// Encodes the tiles of all images and inserts the projected features into the token embeddings.
///
/// The states of a selected layer are taken before the final norm, the last states after it.
constexpr tensor encode_images(const layer_context& ctx, trace& t, const tensor& token_embeddings, bool of_layer,
                               bool norms) {
    const recorder::not_executed_guard no_pixels{t, !has_images(t)};
    const media_shape shape = ctx.model.spec->compute_media_shapes(ctx.model, t.load()).image;
    const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t) * shape.num_tiles, 0, 0)};
    const tensor states = of_layer ? vision_features::encode_images(ctx, t, "vision_tower").states[0]
                                   : forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
    return t.masked_scatter(token_embeddings, t.call("multi_modal_projector", square_projector{ctx, norms}, states));
}

}  // namespace llmcost::pixel_shuffle_tiles
