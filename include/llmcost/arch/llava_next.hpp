// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llava.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/config/processor.hpp>

namespace llmcost::arch {

namespace llava_next_detail {

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
inline constexpr family_key family_keys[]{
    llava_detail::family_keys[0],        llava_detail::family_keys[1],        llava_detail::family_keys[2],
    llava_detail::family_keys[3],        llava_detail::family_keys[4],        {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed}, {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed}, {.type = family_key_type::computed},
    {.type = family_key_type::computed}, {.type = family_key_type::computed},  // of a grid as it is read; 0: all
    {.type = family_key_type::computed}, {"spatial_pool_stride", 2},          {.type = family_key_type::computed},
};

constexpr void add_grid(family_config& family, std::size_t i, std::int64_t rows, std::int64_t columns) {
    family[grids + i / grids_in_one] |= (rows << 4 | columns) << (8 * (i % grids_in_one));
}

/// Sizes of `image_grid_pinpoints` in tiles; where the key is left out, all grids of up to `otherwise` by `otherwise`
/// tiles, or LLaVA-NeXT's five.
constexpr void parse_grids(config_view json, family_config& family, std::int64_t side, std::int64_t otherwise) {
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
    } else if (otherwise > 0) {
        for (std::int64_t rows = 1; rows <= otherwise; ++rows)
            for (std::int64_t columns = 1; columns <= otherwise; ++columns) add_grid(family, n++, rows, columns);
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
constexpr media_shapes show_grid(const model& m, const workload& load, std::int64_t patches) {
    const std::int64_t side = m.components[0].config.vision.image_height;
    const std::int64_t height = load.image_height > 0 ? load.image_height : side;
    const std::int64_t width = load.image_width > 0 ? load.image_width : side;
    const grid tiles = best_grid(m.family, side, height, width);
    const grid cut = unpadded(tiles.rows * patches, tiles.columns * patches, height, width);
    const grid read = shrunk(cut, patches, m.family[max_tiles]);
    const std::int64_t ahead = m.family[llava_detail::all_states] != 0 ? m.components[0].spec->num_prefix_tokens : 0;
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
constexpr media_shapes show(const model& m, const workload& load) { return show_grid(m, load, patches_along(m)); }

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
    return llava_detail::encode_images(ctx, t, "vision_tower");
}

/// Encodes all tiles, projects their states, and packs them into one sequence.
constexpr tensor features_of_images(const layer_context& ctx, trace& t, const tensor& newline) {
    const hidden_state_outputs states = states_of_tiles(ctx, t);
    const tensor selected_states =
        llava_detail::side_by_side(ctx, t, states, ctx.model.family[llava_detail::all_states] != 0);
    return pack(ctx, t, llava_detail::project(ctx, t, selected_states), newline, patches_along(ctx.model));
}

/// Frames of all videos through the tower: (frames, patches, width).
constexpr tensor states_of_frames(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t frames = load.videos > 0 ? load.videos * load.video_frames : 1;
    const recorder::workload_guard encoder_workload{t, image_workload(load, load.batch * frames, 0, 0)};
    const hidden_state_outputs states = llava_detail::encode_images(ctx, t, "vision_tower");
    return llava_detail::side_by_side(ctx, t, states, ctx.model.family[llava_detail::all_states] != 0);
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

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const tensor newline = t.param("image_newline", {ctx.config.hidden_size});
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        return t.masked_scatter(token_embeddings, features_of_images(ctx, t, newline));
    });
}

constexpr void parse_config(config_view json, model& m) {
    llava_detail::parse_config(json, m);
    parse_grids(json, m.family, m.components[0].config.vision.image_height, 0);
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

// how frames of a video are made smaller
enum pooling : std::uint8_t { average, maximum, convolved };

/// Squares of patches become one (`LlavaNextVideoPooler`).
struct pooler {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Pooler"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.model.family;
        const vision_config& image = ctx.model.components[0].config.vision;
        const std::int64_t side = image.image_height / image.patch_size, stride = family[pool_stride];
        const tensor frames = x.view({x.dim(0), side, side, x.dim(2)}).permute({0, 3, 1, 2});
        tensor out;
        switch (static_cast<pooling>(family[pool_mode])) {
            case average: out = t.call("pool", average_pool_2d{stride, stride}, frames); break;
            case maximum: out = t.call("pool", max_pool_2d{stride, stride}, frames); break;
            case convolved:
                out = t.call("pool", convolution_2d{x.dim(2), family[pool_channels], stride, stride}, frames);
                break;
        }
        if (frames.is_channels_last()) out.make_channels_last_strides();  // as ATen's pools do
        return t.contiguous(as_tokens(out));
    }
};

constexpr media_shapes show_pooled(const model& m, const workload& load) {
    media_shapes all = show(m, load);
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t side = image.image_height / image.patch_size / m.family[pool_stride];
    all.video = {.num_tokens = load.video_frames * side * side, .num_tiles = load.video_frames};
    return all;
}

constexpr tensor base_pooled(const layer_context& ctx, trace& t) {
    return base_of(ctx, t, [&](const tensor&) {
        tensor states;
        {
            const recorder::shared_parameters_guard twice{t};
            states = states_of_frames(ctx, t);
        }
        states = t.call("vision_resampler", pooler{ctx}, states);
        const recorder::shared_parameters_guard twice{t};
        return t.cat({llava_detail::project(ctx, t, states).view({-1, ctx.config.hidden_size})}, 0);
    });
}

constexpr void parse_pooled(config_view json, model& m) {
    parse_config(json, m);
    const string_ref mode = json.string("spatial_pool_mode", "average");
    if (mode == "average")
        m.family[pool_mode] = average;
    else if (mode == "max")
        m.family[pool_mode] = maximum;
    else if (mode == "conv")
        m.family[pool_mode] = convolved;
    else
        throw_invalid_value(json, "spatial_pool_mode", "average, max or conv");
    const vision_config& image = m.components[0].config.vision;
    if (m.family[pool_stride] > image.image_height / image.patch_size)
        throw_invalid_value(json, "spatial_pool_stride", "at most the patches along a side");
    m.family[pool_channels] = json.positive("spatial_pool_out_channels", m.components[0].config.hidden_size);
}

/// Frames at half their sides, and one token that ends a video (`apply_pooling`).
constexpr media_shapes show_halved(const model& m, const workload& load) {
    media_shapes all = show(m, load);
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
        const tensor features = llava_detail::project(ctx, t, states_of_frames(ctx, t));
        const tensor grids = t.copy(features.view({features.dim(0), side, side, width}).permute({0, 3, 1, 2}));
        const tensor smaller = t.bilinear(grids, half, half).permute({0, 2, 3, 1});
        const tensor frames = t.reshape(smaller, {videos, -1, width});
        const tensor ends = t.copy(newline.view({1, 1, width}).expand({videos, 1, width}));
        return t.cat({frames, ends}, 1);
    });
}

constexpr void parse_halved(config_view json, model& m) {
    llava_detail::parse_config(json, m);
    m.family[llava_detail::layers_read] =
        parse_selected_layers(json, "vision_feature_layer", m.components[0].config.num_hidden_layers, {-1});
    m.family[llava_detail::all_states] = json.string("vision_feature_select_strategy", "full") == "full" ? 1 : 0;
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

inline constexpr submodel_spec siglip_of_onevision = llava_detail::siglip_of(16);

}  // namespace llava_next_detail

// transformers/models/llava_next: tiles of the best grid plus the full image; a newline token ends each row
inline constexpr model_spec llava_next = [](model_spec spec) {
    spec.model_type = "llava_next";
    spec.class_prefix = "LlavaNext";
    spec.base_model = llava_next_detail::base;
    spec.family_keys = llava_next_detail::family_keys;
    spec.parse_composite_config = llava_next_detail::parse_config;
    spec.compute_media_shapes = llava_next_detail::show;
    spec.parse_image_processor = llava_next_detail::parse_processor_config;
    return spec;
}(llava);

// transformers/models/llava_next_video: the same with frames made smaller
inline constexpr model_spec llava_next_video = [](model_spec spec) {
    spec.model_type = "llava_next_video";
    spec.class_prefix = "LlavaNextVideo";
    spec.base_model = llava_next_detail::base_pooled;
    spec.parse_composite_config = llava_next_detail::parse_pooled;
    spec.compute_media_shapes = llava_next_detail::show_pooled;
    spec.modalities.has_videos = true;
    return spec;
}(llava_next);

// transformers/models/llava_onevision: SigLIP and Qwen2, tiles shrunk where they are many
inline constexpr model_spec llava_onevision = [](model_spec spec) {
    spec.model_type = "llava_onevision";
    spec.class_prefix = "LlavaOnevision";
    spec.base_model = llava_next_detail::base_halved;
    spec.parse_composite_config = llava_next_detail::parse_halved;
    spec.compute_media_shapes = llava_next_detail::show_halved;
    spec.modalities.has_videos = true;
    spec.text_model.default_spec = &qwen2;
    spec.components[0].default_spec = &siglip_vision_model;
    spec.components[0].spec_if_absent = &llava_next_detail::siglip_of_onevision;
    return spec;
}(llava_next);

}  // namespace llmcost::arch
