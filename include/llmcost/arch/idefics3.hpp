// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/bucketed_positions.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace idefics3_detail {

using bucketed_positions::embed;

enum family_config_index : std::uint8_t { scale_factor, longest_side, disables_image_splitting };

inline constexpr family_key family_keys[]{
    {"scale_factor", 2},                  // patches along a side that become one token
    {.type = family_key_type::computed},  // of an image before it is cut; 0: four tiles
    {.type = family_key_type::computed},  // images are not cut
};

/// Embedded patches, layers, a norm.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const tensor x = encode(ctx, t, embed(ctx, t, image_input(ctx, t)));
    return t.call("post_layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 32);
    divide_by_heads(json, config, {"num_attention_heads"});
}

/// Squares of patches side by side, projected to the width of the text.
struct connector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Connector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t merge_factor = ctx.model.family[scale_factor];
        const vision_config& image = ctx.model.components[0].config.vision;
        const std::int64_t side = image.image_height / image.patch_size;
        const tensor shuffled = merge_patches(t, x, side, side, merge_factor);
        const std::int64_t width = shuffled.dim(-1);
        const tensor squares = t.reshape(shuffled, {x.dim(0), -1, width});
        const module_info projection{.name = "modality_projection", .class_of_module = ctx.class_of("SimpleMLP")};
        t.enter(projection);
        return t.leave(projection, t.call("proj", linear{width, ctx.config.hidden_size}, squares));
    }
};

constexpr std::int64_t tokens_of_tile(const model& m) {
    return patches_of(m.components[0].config.vision) / (m.family[scale_factor] * m.family[scale_factor]);
}

/// Returns the tiles of an image in addition to the full image. The longest side is scaled to four tiles, and both
/// sides are rounded up to complete tiles.
///
/// Source: image_processing_idefics3.py, `resize_for_vision_encoder`.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t side = image.image_height;
    std::int64_t height = load.image_height > 0 ? load.image_height : side;
    std::int64_t width = load.image_width > 0 ? load.image_width : side;
    const auto longest = [&](std::int64_t maximum, std::int64_t odd) {
        const double ratio = static_cast<double>(width) / static_cast<double>(height);
        if (width >= height) {
            width = maximum;
            height = static_cast<std::int64_t>(static_cast<double>(width) / ratio);
            height += height % 2 * odd;
        } else {
            height = maximum;
            width = static_cast<std::int64_t>(static_cast<double>(height) * ratio);
            width += width % 2 * odd;
        }
        height = height > 1 ? height : 1;
        width = width > 1 ? width : 1;
    };
    if (m.family[disables_image_splitting] != 0)
        return {.image = {.num_tokens = tokens_of_tile(m), .height = side, .width = side}};
    longest(m.family[longest_side] != 0 ? m.family[longest_side] : 4 * side, 1);
    constexpr std::int64_t largest = 4096;
    if (height > largest || width > largest) longest(largest, 0);
    const auto rounded = [&](std::int64_t n) { return (n + side - 1) / side * side; };
    const double ratio = static_cast<double>(width) / static_cast<double>(height);
    if (width >= height) {
        width = rounded(width);
        height = rounded(static_cast<std::int64_t>(static_cast<double>(width) / ratio));
    } else {
        height = rounded(height);
        width = rounded(static_cast<std::int64_t>(static_cast<double>(height) * ratio));
    }
    const tile_grid grid{height / side, width / side};
    const std::int64_t tiles = add_thumbnail(grid);
    return {.image = {.num_tokens = tiles * tokens_of_tile(m),
                      .num_tiles = tiles,
                      .height = side,
                      .width = side,
                      .tile_rows = grid.rows,
                      .tile_columns = grid.columns}};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    expect_side(json, "max_image_size", m.components[0].config.vision.image_height,
                "the image_size of the configuration's tower");
    if (const auto size = json.optional_object("size")) m.family[longest_side] = size->positive("longest_edge");
    m.family[disables_image_splitting] = json.boolean("do_image_splitting", true) ? 0 : 1;
}

/// Images that are not all zeros are picked, pixels and all (`pixel_values[real_images_inds]`).
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "text_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const media_shape image_shape = ctx.model.spec->compute_media_shapes(ctx.model, t.load()).image;
        const std::int64_t tiles = images_in(t) * image_shape.num_tiles;
        const shape pixels{tiles, ctx.model.components[0].config.vision.num_channels, image_shape.height,
                           image_shape.width};
        (void)t.gather(t.input(pixels), pixels);
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), tiles, 0, 0)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
        const tensor features = t.call("connector", connector{ctx}, states);
        return t.masked_scatter(token_embeddings, t.cat({features.view({-1, ctx.config.hidden_size})}, 0));
    });
}

constexpr void parse_config(config_view json, model& m) {
    const vision_config& image = m.components[0].config.vision;
    if (image.image_height / image.patch_size % m.family[scale_factor] != 0)
        throw_invalid_value(json, "scale_factor", "a divisor of the patches along a side");
}

}  // namespace idefics3_detail

inline constexpr submodel_spec idefics3_vision_encoder = [](model_spec spec) {
    spec.class_prefix = "Idefics3";
    spec.base_model = idefics3_detail::tower_base;
    spec.parse_config = idefics3_detail::parse_vision_config;
    spec.supported_heads = {};
    spec.names.model_class = "VisionTransformer";
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.defaults.hidden_size = 1152;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(shared_tower);

// transformers/models/idefics3: SigLIP's layers over images of any shape, squares of patches before a text model
inline constexpr model_spec idefics3 = [](model_spec spec) {
    spec.model_type = "idefics3";
    spec.class_prefix = "Idefics3";
    spec.base_model = idefics3_detail::base;
    spec.family_keys = idefics3_detail::family_keys;
    spec.parse_composite_config = idefics3_detail::parse_config;
    spec.compute_media_shapes = idefics3_detail::compute_media_shapes;
    spec.parse_image_processor = idefics3_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &llama};
    spec.components[0] = {.key = "vision_config", .default_spec = &idefics3_vision_encoder, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
