// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/internvl_vision.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/tiles.hpp>

namespace llmcost::arch {

namespace internvl_detail {

enum family_config_index : std::uint8_t { downsample, projector_act, all_states, fewest_tiles, max_tiles };
inline constexpr family_key family_keys[]{
    {.default_value = 2, .type = family_key_type::computed},  // patches along a side that become one token
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.type = family_key_type::computed},                      // of a tower: its class token's among them
    {.default_value = 1, .type = family_key_type::computed},  // tiles per image, in addition to the full image
    {.default_value = 12, .type = family_key_type::computed},
};

constexpr std::int64_t tokens_of_tile(const model& m) {
    return patches_of(m.components[0].config.vision) / (m.family[downsample] * m.family[downsample]);
}

/// Returns the image shape: tiles of the closest aspect ratio plus the full image.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height;
    const std::int64_t width = load.image_width > 0 ? load.image_width : image.image_width;
    const tile_grid grid = closest_grid(height, width, image.image_height, m.family[fewest_tiles], m.family[max_tiles]);
    const std::int64_t tiles = add_thumbnail(grid);
    return {.image = {.num_tokens = tiles * tokens_of_tile(m),
                      .num_tiles = tiles,
                      .height = image.image_height,
                      .width = image.image_width,
                      .tile_rows = grid.rows,
                      .tile_columns = grid.columns}};
}

/// Parses the processor configuration; `InternVLProcessor` always splits images into tiles, whatever the file contains.
constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    expect_picture(json, m.components[0].config.vision.image_height);
    parse_bounds_of_tiles(json, m.family, fewest_tiles, max_tiles);
}

/// Squares of patches, normed, through two projections.
struct square_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor normed = t.call("layer_norm", norm_module{norm_kind::layer, x.dim(-1)}, x);
        const projector mlp_projector{type_name(), x.dim(-1), width,
                                      width,       true,      static_cast<activation>(ctx.model.family[projector_act])};
        return mlp_projector.forward(t, normed);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const media_shape shape = ctx.model.spec->compute_media_shapes(ctx.model, t.load()).image;
        const recorder::workload_guard encoder_workload{t,
                                                        image_workload(t.load(), images_in(t) * shape.num_tiles, 0, 0)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        const tensor selected_states =
            ctx.model.family[all_states] != 0 ? states : t.slice(states, 1, states.dim(1) - 1);
        const vision_config& image = ctx.model.components[0].config.vision;
        const std::int64_t side = image.image_height / image.patch_size;
        const tensor squares = shuffle_patches(t, selected_states, side, side, ctx.model.family[downsample]);
        return t.masked_scatter(token_embeddings, t.call("multi_modal_projector", square_projector{ctx}, squares));
    });
}

constexpr void parse_config(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[projector_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
    const string_ref strategy = json.string("vision_feature_select_strategy", "default");
    if (strategy != "default" && strategy != "full")
        throw_invalid_value(json, "vision_feature_select_strategy", "default or full");
    m.family[all_states] = strategy == "full" ? 1 : 0;
    const double ratio = json.real("downsample_ratio", 0.5);
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t factor = ratio > 0 && ratio <= 1 ? static_cast<std::int64_t>(1 / ratio) : 0;
    if (factor < 1 || image.image_height / image.patch_size % factor != 0 || ratio * static_cast<double>(factor) != 1)
        throw_invalid_value(json, "downsample_ratio", "one divided by a divisor of the patches along a side");
    if (image.image_height != image.image_width || strategy == "full")
        throw_unsupported(json, strategy == "full" ? "vision_feature_select_strategy" : "vision_config",
                          "a number of patches that is not a square is not supported");
    m.family[downsample] = factor;
}

}  // namespace internvl_detail

// transformers/models/internvl: tiles through a tower, squares of patches before a text model
inline constexpr model_spec internvl = [](model_spec spec) {
    spec.model_type = "internvl";
    spec.class_prefix = "InternVL";
    spec.base_model = internvl_detail::base;
    spec.family_keys = internvl_detail::family_keys;
    spec.parse_composite_config = internvl_detail::parse_config;
    spec.compute_media_shapes = internvl_detail::compute_media_shapes;
    spec.parse_image_processor = internvl_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &qwen2};
    spec.defaults.tie_word_embeddings = true;
    spec.published_head = published_head_kind::untied_by_text_model;
    spec.components[0] = {.key = "vision_config", .default_spec = &internvl_vision, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
