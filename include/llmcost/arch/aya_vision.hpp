// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/cohere.hpp>
#include <llmcost/arch/llava.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/tiles.hpp>

// Aya Vision. SigLIP and Cohere 2, connected by a gated projector over squares of patches.
//
// Source: transformers/models/aya_vision

namespace llmcost::arch {

namespace aya_vision_detail {

// `layers_read` must have the same index as in LLaVA
enum family_config_index : std::uint8_t { downsample, inner_width, fewest_tiles, max_tiles, layers_read };
static_assert(static_cast<int>(layers_read) == static_cast<int>(llava_detail::layers_read));
inline constexpr family_key family_keys[]{
    {"downsample_factor", 2},
    {.type = family_key_type::computed},                      // `alignment_intermediate_size`
    {.default_value = 1, .type = family_key_type::computed},  // minimum tiles per image, without the thumbnail
    {.default_value = 12, .type = family_key_type::computed},
    {.type = family_key_type::computed},
};

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
constexpr media_shapes show(const model& m, const workload& load) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height;
    const std::int64_t width = load.image_width > 0 ? load.image_width : image.image_width;
    return shapes_of(m, closest_grid(height, width, image.image_height, m.family[fewest_tiles], m.family[max_tiles]));
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
    const tensor states = of_layer ? llava_detail::encode_images(ctx, t, "vision_tower").states[0]
                                   : forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
    return t.masked_scatter(token_embeddings, t.call("multi_modal_projector", square_projector{ctx, norms}, states));
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

inline constexpr submodel_spec siglip_of_aya = llava_detail::siglip_of(14);

}  // namespace aya_vision_detail

inline constexpr model_spec aya_vision = [](model_spec spec) {
    spec.model_type = "aya_vision";
    spec.class_prefix = "AyaVision";
    spec.base_model = aya_vision_detail::base;
    spec.compute_media_shapes = aya_vision_detail::show;
    spec.parse_image_processor = aya_vision_detail::parse_processor_config;
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
