// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/lfm2.hpp>
#include <llmcost/arch/siglip2.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/siglip_heads.hpp>
#include <llmcost/forward/tiles.hpp>

namespace llmcost::arch {

namespace lfm2_vl_detail {

enum family_config_index : std::uint8_t {
    downsample_factor,
    projector_width,
    projector_bias,
    projector_norm,
    projector_act,
    fewest_tokens,
    max_image_tokens,
    tile_side,
    fewest_tiles,
    max_tiles,  // 0: images are not cut
    tolerance   // bits of how many times the largest number of pixels an image is not cut
};

inline constexpr family_key family_keys[]{
    {"downsample_factor", 2},  // patches along a side that become one token
    {"projector_hidden_size", 2560},
    {"projector_bias", 1, family_key_type::boolean},
    {"projector_use_layernorm", 1, family_key_type::boolean},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.default_value = 64, .type = family_key_type::computed},
    {.default_value = 256, .type = family_key_type::computed},
    {.default_value = 512, .type = family_key_type::computed},
    {.default_value = 2, .type = family_key_type::computed},
    {.default_value = 10, .type = family_key_type::computed},
    {.default_value = __builtin_bit_cast(std::int64_t, 2.0), .type = family_key_type::computed},
};

// what the processor sets (image_processing_lfm2_vl.py)

/// An image as the encoder reads it: a single image, or tiles followed by a thumbnail.
struct cut_image {
    tile_grid tiles{0, 0};  ///< none: alone
    std::int64_t rows = 0;  ///< patch rows of the thumbnail
    std::int64_t columns = 0;
};

/// Splits an image into tiles. Sides are rounded to complete tokens and scaled into the bounds. An image that exceeds
/// the upper bound by a factor is split into tiles.
///
/// Source: `smart_resize`, `resize_and_split`.
constexpr cut_image cut(const model& m, const workload& load) {
    const std::int64_t patch = m.components[0].config.vision.patch_size, downsample = m.family[downsample_factor],
                       factor = patch * downsample;
    const std::int64_t height = load.image_height > 0 ? load.image_height : m.family[tile_side];
    const std::int64_t width = load.image_width > 0 ? load.image_width : m.family[tile_side];
    // throws `overflow_error` for sizes of hostile configurations
    const auto product = [](shape sizes) { return static_cast<std::int64_t>(num_elements(sizes.size, sizes.rank)); };
    const std::int64_t minimum = product({m.family[fewest_tokens], factor, factor}),
                       maximum = product({m.family[max_image_tokens], factor, factor});
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto rounded = [&](std::int64_t n) {  // Python's `round`: halves to the even one
        const std::int64_t twice = 2 * n / factor, quotient = twice / 2 + twice % 2;
        const bool half = 2 * n % factor == 0 && twice % 2 == 1;
        return (half && quotient % 2 == 1 ? quotient - 1 : quotient) * factor;
    };
    const auto clamp_min = [](std::int64_t n, std::int64_t bound) { return n < bound ? bound : n; };
    std::int64_t h = clamp_min(rounded(height), factor), w = clamp_min(rounded(width), factor);
    const std::int64_t area = product({h, w});
    if (area > maximum) {
        const double beta = __builtin_sqrt(real(product({height, width})) / real(maximum));
        const auto down = [&](std::int64_t n) {
            return static_cast<std::int64_t>(real(n) / beta / real(factor)) * factor;
        };
        h = clamp_min(down(height), factor);
        w = clamp_min(down(width), factor);
    } else if (area < minimum) {
        const double beta = __builtin_sqrt(real(minimum) / real(product({height, width})));
        const auto up = [&](std::int64_t n) {
            return static_cast<std::int64_t>(__builtin_ceil(real(n) * beta / real(factor))) * factor;
        };
        h = up(height);
        w = up(width);
    }
    const double bound = real(maximum) * __builtin_bit_cast(double, m.family[tolerance]);
    const bool large = m.family[max_tiles] > 0 &&
                       real(product({clamp_min(rounded(height), patch), clamp_min(rounded(width), patch)})) > bound;
    if (!large) return {{0, 0}, h / patch, w / patch};
    return {closest_grid(height, width, m.family[tile_side], m.family[fewest_tiles], m.family[max_tiles]), h / patch,
            w / patch};
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (m.components[0].spec != &siglip2_vision_model)
        throw_description_error("unsupported vision encoder; expected SigLIP 2");
    const cut_image image = cut(m, load);
    const vision_config& tower = m.components[0].config.vision;
    const std::int64_t downsample = m.family[downsample_factor], side = m.family[tile_side] / tower.patch_size;
    if (side % downsample != 0)
        throw_description_error("downsample_factor does not divide the patches along a tile's side");
    return {.image = {.num_tokens = image.tiles.tiles() * (side / downsample) * (side / downsample) +
                                    image.rows / downsample * (image.columns / downsample),
                      .num_tiles = image.tiles.tiles() + 1,
                      .height = image.rows * tower.patch_size,
                      .width = image.columns * tower.patch_size,
                      .tile_rows = image.tiles.rows,
                      .tile_columns = image.tiles.columns}};
}

/// Parses the bounds of tokens and tiles (`Lfm2VlImageProcessor`); the resize flag is ignored.
constexpr void parse_processor_config(config_view json, model& m) {
    family_config& family = m.family;
    const std::int64_t patch = m.components[0].config.vision.patch_size, step = patch * family[downsample_factor];
    expect_side(json, "encoder_patch_size", patch, "the patch_size of the configuration's tower");
    expect_side(json, "downsample_factor", family[downsample_factor], "the downsample_factor of the configuration");
    family[fewest_tokens] = json.positive("min_image_tokens", family[fewest_tokens]);
    family[max_image_tokens] = json.positive("max_image_tokens", family[max_image_tokens]);
    if (family[max_image_tokens] > max_input / step / step)
        throw_invalid_value(json, "max_image_tokens", "as many as 2^31 pixels have");
    if (family[fewest_tokens] > family[max_image_tokens])
        throw_invalid_value(json, "min_image_tokens", "at most max_image_tokens");
    family[tile_side] = json.positive("tile_size", family[tile_side]);
    if (family[tile_side] % step != 0)
        throw_invalid_value(json, "tile_size", "a multiple of the side of a token's square");
    family[tolerance] = __builtin_bit_cast(std::int64_t, json.real("max_pixels_tolerance", 2.0));
    parse_bounds_of_tiles(json, family, fewest_tiles, max_tiles, "min_tiles", "max_tiles");
    const bool cuts = json.boolean("do_image_splitting", true) && family[max_tiles] > 1;
    if (!cuts) family[max_tiles] = 0;
    if (cuts && (family[fewest_tiles] < 2 || family[fewest_tiles] > family[max_tiles]))
        throw_invalid_value(json, "min_tiles", "two to max_tiles tiles");
    if (cuts && !json.boolean("use_thumbnail", true))
        throw_unsupported(json, "use_thumbnail", "tiles without a thumbnail are not supported");
}

/// Squares of patches side by side, normed, through two projections: (images, rows · columns, width) -> one sequence.
struct square_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x, std::int64_t rows, std::int64_t columns) const {
        const family_config& family = ctx.model.family;
        tensor h = merge_patches(t, x, rows, columns, family[downsample_factor]);
        const std::int64_t in = h.dim(-1);
        if (family[projector_norm] != 0) h = t.call("layer_norm", norm_module{norm_kind::layer, in}, h);
        const projector mlp_projector{type_name(),
                                      in,
                                      family[projector_width],
                                      ctx.config.hidden_size,
                                      family[projector_bias] != 0,
                                      static_cast<activation>(family[projector_act])};
        return mlp_projector.forward(t, h).view({-1, ctx.config.hidden_size});
    }
};

/// SigLIP 2 over tiles and wholes, all padded to as many patches as the largest may have; positions are resized to
/// each.
constexpr tensor states_of(const layer_context& ctx, trace& t, const cut_image& image, std::int64_t images,
                           std::int64_t length) {
    const vision_config& sizes_of = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[siglip_heads::num_patches];
    const std::int64_t values = sizes_of.num_channels * sizes_of.patch_size * sizes_of.patch_size;
    const std::int64_t side = sizes_of.image_height / sizes_of.patch_size, all = images * (image.tiles.tiles() + 1);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const embedding places{n, width};
    const tensor pixels = t.input({all, length, values});
    t.enter(embeddings);
    const tensor patches = t.call("patch_embedding", linear{values, width, true}, pixels);
    const module_info table{.name = "position_embedding",
                            .class_of_module = places.type_name(),
                            .module_role = role::embedding,
                            .is_leaf = true};
    t.enter(table);
    const tensor weight = t.param("weight", {n, width});
    t.leave(table);
    const tensor grid = weight.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
    tensor resized = t.full({all, length, width});
    const auto resize = [&](std::int64_t num_tiles, std::int64_t rows, std::int64_t columns) {
        t.copy_(resized, t.bilinear(grid.expand({num_tiles, width, side, side}), rows, columns));
    };
    const std::int64_t of_tile = ctx.model.family[tile_side] / sizes_of.patch_size;
    if (image.tiles.tiles() > 0) resize(images * image.tiles.tiles(), of_tile, of_tile);
    resize(images, image.rows, image.columns);
    const tensor x = t.leave(embeddings, t.add(patches, resized));
    const bool padded = image.rows * image.columns < length || (image.tiles.tiles() > 0 && of_tile * of_tile < length);
    return siglip_heads::process_logits(ctx, t, x, false, padded).first;
}

constexpr tensor encode_images(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const recorder::not_executed_guard no_pixels{t, !has_images(t)};
    const layer_context tower = ctx.component(0);
    const bool fits = tower.config.vision.patch_size > 0 && ctx.model.components[0].spec == &siglip2_vision_model;
    const module_info m{.name = "vision_tower",
                        .class_of_module = tower.class_of(tower.spec.names.model_class),
                        .module_role = role::vision};
    if (!fits) {
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        const std::int64_t downsample = ctx.model.family[downsample_factor];
        const tensor square = trace::buffer({1, downsample * downsample, states.dim(2)});
        (void)t.call("multi_modal_projector", square_projector{ctx}, square, downsample, downsample);
        return token_embeddings;
    }
    const cut_image image = cut(ctx.model, t.load());
    const std::int64_t images = images_in(t), of_tile = ctx.model.family[tile_side] / tower.config.vision.patch_size;
    const std::int64_t downsample = ctx.model.family[downsample_factor],
                       tokens = ctx.model.family[max_image_tokens] * downsample * downsample;
    const std::int64_t length =
        tokens > of_tile * of_tile || ctx.model.family[max_tiles] == 0 ? tokens : of_tile * of_tile;
    t.enter(m);
    const tensor states = t.leave(m, states_of(tower, t, image, images, length));
    const std::int64_t n = image.rows * image.columns, tiles = image.tiles.tiles();
    const auto slice_states = [&](std::int64_t num_tiles, std::int64_t patches) {
        return t.slice(t.slice(states, 0, num_tiles), 1, patches);
    };
    tensor features =
        t.call("multi_modal_projector", square_projector{ctx}, slice_states(images, n), image.rows, image.columns);
    if (tiles == 0) return t.masked_scatter(token_embeddings, t.cat({features}, 0));
    const recorder::shared_parameters_guard shared_parameters{t};
    const tensor cut_out = slice_states(images * tiles, of_tile * of_tile);
    const tensor of_tiles = t.call("multi_modal_projector", square_projector{ctx}, cut_out, of_tile, of_tile);
    return t.masked_scatter(token_embeddings, t.cat({of_tiles, features}, 0));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        return encode_images(ctx, t, token_embeddings);
    });
}

constexpr void parse_config(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[projector_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
}

}  // namespace lfm2_vl_detail

// transformers/models/lfm2_vl: SigLIP 2 before LFM2, squares of patches merged
inline constexpr model_spec lfm2_vl = [](model_spec spec) {
    spec.model_type = "lfm2_vl";
    spec.class_prefix = "Lfm2Vl";
    spec.base_model = lfm2_vl_detail::base;
    spec.family_keys = lfm2_vl_detail::family_keys;
    spec.parse_composite_config = lfm2_vl_detail::parse_config;
    spec.compute_media_shapes = lfm2_vl_detail::compute_media_shapes;
    spec.parse_image_processor = lfm2_vl_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &lfm2};
    spec.components[0] = {.key = "vision_config", .default_spec = &siglip2_vision_model};
    spec.config_keys.add("tie_word_embeddings", "tie_embedding", key_rule::family_name_first);
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
