// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/pixtral_images.hpp>
#include <llmcost/forward/siglip_heads.hpp>
#include <llmcost/forward/vision_features.hpp>

// LLaVA-NeXT: an image as a grid of tiles, without the patches of its padding (`anyres`).
namespace llmcost::any_resolution {

/// Grids are packed, eight in each number, four bits for rows and four for columns.
inline constexpr std::size_t max_grids = 64, grids_in_one = 8;

// the first five are LLaVA's
enum family_config_index : std::uint8_t {
    grids = 5,
    max_tiles = grids + max_grids / grids_in_one,
    pool_mode,
    pool_stride,
    pool_channels
};

constexpr void add_grid(family_config& family, std::size_t i, std::int64_t rows, std::int64_t columns) {
    family[grids + i / grids_in_one] |= (rows << 4 | columns) << (8 * (i % grids_in_one));
}

/// Parses the sizes of `image_grid_pinpoints` in tiles.
///
/// Default: all grids of up to `default_value` by `default_value` tiles, or LLaVA-NeXT's five.
constexpr void parse_grids(config_view json, family_config& family, std::int64_t side, std::int64_t default_value) {
    const auto listed = json.optional_array("image_grid_pinpoints");
    std::size_t n = 0;
    if (listed) {
        if (listed->size() < 1 || listed->size() > max_grids)
            throw_invalid_value(json, "image_grid_pinpoints", "one to 64 pairs of a height and a width");
        for (const config_view size : *listed) {
            if (!size.is_array() || size.size() != 2)
                throw_invalid_value(json, "image_grid_pinpoints", "pairs of a height and a width");
            const std::int64_t height = size[0].as_positive(), width = size[1].as_positive();
            if (height % side != 0 || width % side != 0 || height / side > 15 || width / side > 15)
                throw_invalid_value(json, "image_grid_pinpoints", "sides of one to 15 times the tower's image_size");
            add_grid(family, n++, height / side, width / side);
        }
    } else if (default_value > 0) {
        for (std::int64_t rows = 1; rows <= default_value; ++rows)
            for (std::int64_t columns = 1; columns <= default_value; ++columns) add_grid(family, n++, rows, columns);
    } else {
        constexpr std::int64_t five[][2]{{1, 2}, {2, 1}, {2, 2}, {3, 1}, {1, 3}};
        for (const auto& grid : five) add_grid(family, n++, grid[0], grid[1]);
    }
}

struct grid {
    std::int64_t rows = 1;
    std::int64_t columns = 1;
};

/// The grid that keeps most of an image, and of those the one that wastes least (`select_best_resolution`).
[[nodiscard]] constexpr grid best_grid(const family_config& family, std::int64_t side, std::int64_t height,
                                       std::int64_t width) {
    grid best;
    std::int64_t maximum = 0, minimum = INT64_MAX;
    for (std::size_t i = 0; i < max_grids; ++i) {
        const std::int64_t packed = family[grids + i / grids_in_one] >> (8 * (i % grids_in_one)) & 255;
        if (packed == 0) break;
        const std::int64_t rows = packed >> 4, columns = packed & 15;
        const double width_scale = static_cast<double>(columns * side) / static_cast<double>(width);
        const double high = static_cast<double>(rows * side) / static_cast<double>(height);
        const double scale = width_scale < high ? width_scale : high;
        const std::int64_t scaled = static_cast<std::int64_t>(static_cast<double>(width) * scale) *
                                    static_cast<std::int64_t>(static_cast<double>(height) * scale);
        const std::int64_t effective_resolution = scaled < width * height ? scaled : width * height;
        const std::int64_t wasted = rows * columns * side * side - effective_resolution;
        if (effective_resolution > maximum || (effective_resolution == maximum && wasted < minimum)) {
            best = {rows, columns};
            maximum = effective_resolution;
            minimum = wasted;
        }
    }
    return best;
}

/// Patches of a grid of tiles without what was added around the image (`unpad_image`).
[[nodiscard]] constexpr grid unpadded(std::int64_t rows, std::int64_t columns, std::int64_t height,
                                      std::int64_t width) {
    const auto cut = [](std::int64_t num_patches, std::int64_t side, std::int64_t scaled, std::int64_t original) {
        const double exact = static_cast<double>(side) * (static_cast<double>(scaled) / static_cast<double>(original));
        const std::int64_t fits = static_cast<std::int64_t>(exact + 0.5e-7);  // int(round(exact, 7))
        return num_patches - 2 * ((num_patches - fits) / 2);
    };
    const bool is_wider = static_cast<double>(width) / static_cast<double>(height) >
                          static_cast<double>(columns) / static_cast<double>(rows);
    return is_wider ? grid{cut(rows, height, columns, width), columns} : grid{rows, cut(columns, width, rows, height)};
}

/// `n // by` of a floating `by` from 1: by long division, whose steps are exact, where a quotient is rounded.
[[nodiscard]] constexpr std::int64_t floored(std::int64_t n, double divisor) {
    double rest = static_cast<double>(n), scaled = divisor;
    std::int64_t unit = 1, quotient = 0;
    for (; 2 * scaled <= rest; unit *= 2) scaled *= 2;
    for (; unit > 0; unit /= 2, scaled /= 2)
        if (rest >= scaled) {
            rest -= scaled;
            quotient += unit;
        }
    return quotient;
}

/// More patches than so many tiles hold are made fewer (`anyres_max_9`); none: not.
[[nodiscard]] constexpr grid shrunk(grid unpadded_grid, std::int64_t side, std::int64_t tiles) {
    if (tiles == 0) return unpadded_grid;
    const double ratio = __builtin_sqrt(static_cast<double>(unpadded_grid.rows * unpadded_grid.columns) /
                                        static_cast<double>(tiles * side * side));
    return ratio > 1.1 ? grid{floored(unpadded_grid.rows, ratio), floored(unpadded_grid.columns, ratio)}
                       : unpadded_grid;
}

/// Returns the image shape: tiles of the best grid plus the full image, with `patches` states along each side. A
/// newline token ends each row of the unpadded grid.
constexpr media_shapes compute_grid_shapes(const model& m, const workload& load, std::int64_t patches) {
    const std::int64_t side = m.components[0].config.vision.image_height;
    const std::int64_t height = load.image_height > 0 ? load.image_height : side;
    const std::int64_t width = load.image_width > 0 ? load.image_width : side;
    const grid tiles = best_grid(m.family, side, height, width);
    const grid cut = unpadded(tiles.rows * patches, tiles.columns * patches, height, width);
    const grid read = shrunk(cut, patches, m.family[max_tiles]);
    const std::int64_t ahead = m.family[vision_features::all_states] != 0 ? m.components[0].spec->num_prefix_tokens : 0;
    return {.image = {.num_tokens = patches * patches + ahead + read.rows * (read.columns + 1),
                      .num_tiles = tiles.rows * tiles.columns + 1,
                      .height = side,
                      .width = side,
                      .tile_rows = tiles.rows,
                      .tile_columns = tiles.columns}};
}

/// Patches along a side of a tile.
[[nodiscard]] constexpr std::int64_t patches_along(const model& m) noexcept {
    return m.components[0].config.vision.image_height / m.components[0].config.vision.patch_size;
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return compute_grid_shapes(m, load, patches_along(m));
}

/// Packs tile features into one sequence: (tiles of all images, patches, width) -> (tokens, width). The full image
/// precedes the tiles, which are ordered by grid rows.
///
/// Source: `pack_image_features`.
constexpr tensor pack(const layer_context& ctx, trace& t, const tensor& features, const tensor& newline,
                      std::int64_t patches) {
    const workload& load = t.load();
    const media_shape shape = ctx.model.spec->compute_media_shapes(ctx.model, load).image;
    const vision_config& image = ctx.model.components[0].config.vision;
    const std::int64_t width = ctx.config.hidden_size;
    const std::int64_t images = features.dim(0) / shape.num_tiles, rows = shape.tile_rows, columns = shape.tile_columns;
    const tensor operand = features.view({images, shape.num_tiles, features.dim(1), width});
    const tensor base_features = t.select(operand, 1), tiles = t.slice(operand, 1, shape.num_tiles - 1);
    if (tiles.dim(2) != patches * patches) throw_description_error("tiles with a class token do not form a grid");
    const tensor grids =
        t.copy(tiles.view({images, rows, columns, patches, patches, width}).permute({0, 5, 1, 3, 2, 4}));
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height;
    const std::int64_t image_width = load.image_width > 0 ? load.image_width : image.image_width;
    const grid cut = unpadded(rows * patches, columns * patches, height, image_width);
    tensor x = grids.view({images, width, rows * patches, columns * patches});
    x = t.slice(t.slice(x, 2, cut.rows), 3, cut.columns);
    const grid read = shrunk(cut, patches, ctx.model.family[max_tiles]);
    if (read.rows != cut.rows || read.columns != cut.columns) x = t.bilinear(x, read.rows, read.columns);
    const tensor ends = newline.view({1, width, 1, 1}).expand({images, width, read.rows, 1});
    x = t.cat({x, ends}, -1).view({images, width, read.rows * (read.columns + 1)}).transpose(1, 2);
    x = t.cat({base_features, x}, 1);
    return t.cat({x.view({-1, width})}, 0);
}

/// Tiles of all images through the tower, of which some states are read: (tiles, states, width).
constexpr hidden_state_outputs states_of_tiles(const layer_context& ctx, trace& t) {
    const media_shape shape = ctx.model.spec->compute_media_shapes(ctx.model, t.load()).image;
    const vision_config& image = ctx.model.components[0].config.vision;
    const std::int64_t tiles = images_in(t) * shape.num_tiles;
    (void)t.cat({t.input({tiles, image.num_channels, shape.height, shape.width})},
                0);  // `torch.cat(_pixel_values_list)`
    const recorder::workload_guard encoder_workload{t, image_workload(t.load(), tiles, 0, 0)};
    return vision_features::encode_images(ctx, t, "vision_tower");
}

/// Encodes all tiles, projects their states, and packs them into one sequence.
constexpr tensor features_of_images(const layer_context& ctx, trace& t, const tensor& newline) {
    const hidden_state_outputs states = states_of_tiles(ctx, t);
    const tensor selected_states =
        vision_features::side_by_side(ctx, t, states, ctx.model.family[vision_features::all_states] != 0);
    return pack(ctx, t, vision_features::project(ctx, t, selected_states), newline, patches_along(ctx.model));
}

/// Frames of all videos through the tower: (frames, patches, width).
constexpr tensor states_of_frames(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t frames = load.videos > 0 ? load.videos * load.video_frames : 1;
    const recorder::workload_guard encoder_workload{t, image_workload(load, load.batch * frames, 0, 0)};
    const hidden_state_outputs states = vision_features::encode_images(ctx, t, "vision_tower");
    return vision_features::side_by_side(ctx, t, states, ctx.model.family[vision_features::all_states] != 0);
}

/// Images, then videos, through one tower before a text model.
template <class Frames>
constexpr tensor base_of(const layer_context& ctx, trace& t, const Frames& frames) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const bool with_images = has_images(t), with_videos = has_videos(t);
        tensor x = token_embeddings;
        const tensor newline = t.param("image_newline", {ctx.config.hidden_size});
        {
            const recorder::not_executed_guard no_pixels{t, !with_images};
            const tensor scattered = t.masked_scatter(x, features_of_images(ctx, t, newline));
            if (with_images) x = scattered;
        }
        const recorder::not_executed_guard no_frames{t, !with_videos};
        const tensor scattered = t.masked_scatter(x, frames(newline));
        return with_videos ? scattered : x;
    });
}

constexpr void parse_config(config_view json, model& m) {
    vision_features::parse_config(json, m);
    parse_grids(json, m.family, m.components[0].config.vision.image_height, 0);
}

}  // namespace llmcost::any_resolution
