// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llava.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/reading/processor.hpp>

namespace llmcost::arch {

namespace llava_next_detail {

/// Grids are packed, eight in each number, four bits for rows and four for columns.
inline constexpr std::size_t most_grids = 64, grids_in_one = 8;

// the first five are LLaVA's
enum own : std::uint8_t { grids = 5, most_tiles = grids + most_grids / grids_in_one, pool_mode, pool_stride, pool_channels };
inline constexpr own_key keys[]{
    llava_detail::keys[0],          llava_detail::keys[1],          llava_detail::keys[2],
    llava_detail::keys[3],          llava_detail::keys[4],          {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed},  // of a grid as it is read; 0: all
    {.value = own_value::computed}, {"spatial_pool_stride", 2},     {.value = own_value::computed},
};

constexpr void add_grid(own_sizes& own, std::size_t i, std::int64_t rows, std::int64_t columns) {
    own[grids + i / grids_in_one] |= (rows << 4 | columns) << (8 * (i % grids_in_one));
}

/// Sizes of `image_grid_pinpoints` in tiles; where the key is left out, all grids of up to `otherwise` by `otherwise` tiles,
/// or LLaVA-NeXT's five.
constexpr void read_grids(config_view config, own_sizes& own, std::int64_t side, std::int64_t otherwise) {
    const auto listed = config.optional_array("image_grid_pinpoints");
    std::size_t n = 0;
    if (listed) {
        if (listed->size() < 1 || listed->size() > most_grids)
            fail_value(config, "image_grid_pinpoints", "one to 64 pairs of a height and a width");
        for (const config_view size : *listed) {
            if (!size.is_array() || size.size() != 2)
                fail_value(config, "image_grid_pinpoints", "pairs of a height and a width");
            const std::int64_t height = size[0].as_positive(), width = size[1].as_positive();
            if (height % side != 0 || width % side != 0 || height / side > 15 || width / side > 15)
                fail_value(config, "image_grid_pinpoints", "sides of one to 15 times the tower's image_size");
            add_grid(own, n++, height / side, width / side);
        }
    } else if (otherwise > 0) {
        for (std::int64_t rows = 1; rows <= otherwise; ++rows)
            for (std::int64_t columns = 1; columns <= otherwise; ++columns) add_grid(own, n++, rows, columns);
    } else {
        constexpr std::int64_t five[][2]{{1, 2}, {2, 1}, {2, 2}, {3, 1}, {1, 3}};
        for (const auto& grid : five) add_grid(own, n++, grid[0], grid[1]);
    }
}

struct grid {
    std::int64_t rows = 1;
    std::int64_t columns = 1;
};

/// The grid that keeps most of an image, and of those the one that wastes least (`select_best_resolution`).
[[nodiscard]] constexpr grid best_grid(const own_sizes& own, std::int64_t side, std::int64_t height, std::int64_t width) {
    grid best;
    std::int64_t most = 0, least = INT64_MAX;
    for (std::size_t i = 0; i < most_grids; ++i) {
        const std::int64_t packed = own[grids + i / grids_in_one] >> (8 * (i % grids_in_one)) & 255;
        if (packed == 0) break;
        const std::int64_t rows = packed >> 4, columns = packed & 15;
        const double wide = static_cast<double>(columns * side) / static_cast<double>(width);
        const double high = static_cast<double>(rows * side) / static_cast<double>(height);
        const double scale = wide < high ? wide : high;
        const std::int64_t scaled = static_cast<std::int64_t>(static_cast<double>(width) * scale) *
                                    static_cast<std::int64_t>(static_cast<double>(height) * scale);
        const std::int64_t kept = scaled < width * height ? scaled : width * height;
        const std::int64_t wasted = rows * columns * side * side - kept;
        if (kept > most || (kept == most && wasted < least)) best = {rows, columns}, most = kept, least = wasted;
    }
    return best;
}

/// Patches of a grid of tiles without what was added around the image (`unpad_image`).
[[nodiscard]] constexpr grid unpadded(std::int64_t rows, std::int64_t columns, std::int64_t height, std::int64_t width) {
    const auto cut = [](std::int64_t whole, std::int64_t side, std::int64_t by, std::int64_t of) {
        const double exact = static_cast<double>(side) * (static_cast<double>(by) / static_cast<double>(of));
        const std::int64_t fits = static_cast<std::int64_t>(exact + 0.5e-7);  // int(round(exact, 7))
        return whole - 2 * ((whole - fits) / 2);
    };
    const bool wide =
        static_cast<double>(width) / static_cast<double>(height) > static_cast<double>(columns) / static_cast<double>(rows);
    return wide ? grid{cut(rows, height, columns, width), columns} : grid{rows, cut(columns, width, rows, height)};
}

/// `n // by` of a floating `by` from 1: by long division, whose steps are exact, where a quotient is rounded.
[[nodiscard]] constexpr std::int64_t floored(std::int64_t n, double by) {
    double rest = static_cast<double>(n), scaled = by;
    std::int64_t unit = 1, whole = 0;
    for (; 2 * scaled <= rest; unit *= 2) scaled *= 2;
    for (; unit > 0; unit /= 2, scaled /= 2)
        if (rest >= scaled) rest -= scaled, whole += unit;
    return whole;
}

/// More patches than so many tiles hold are made fewer (`anyres_max_9`); none: not.
[[nodiscard]] constexpr grid shrunk(grid of, std::int64_t side, std::int64_t tiles) {
    if (tiles == 0) return of;
    const double ratio =
        __builtin_sqrt(static_cast<double>(of.rows * of.columns) / static_cast<double>(tiles * side * side));
    return ratio > 1.1 ? grid{floored(of.rows, ratio), floored(of.columns, ratio)} : of;
}

/// What an image becomes: tiles of the best grid and the whole, so many states along a side of each; every row of unpadded
/// ones is ended by a token.
constexpr media_shapes show_grid(const model& m, const workload& load, std::int64_t patches) {
    const std::int64_t side = m.beside[0].dims.vision.image_height;
    const std::int64_t height = load.image_height > 0 ? load.image_height : side;
    const std::int64_t width = load.image_width > 0 ? load.image_width : side;
    const grid tiles = best_grid(m.own, side, height, width);
    const grid cut = unpadded(tiles.rows * patches, tiles.columns * patches, height, width);
    const grid read = shrunk(cut, patches, m.own[most_tiles]);
    const std::int64_t ahead = m.own[llava_detail::all_states] != 0 ? m.beside[0].kind->tokens_ahead : 0;
    return {.image = {.tokens = patches * patches + ahead + read.rows * (read.columns + 1),
                      .tiles = tiles.rows * tiles.columns + 1,
                      .height = side,
                      .width = side,
                      .rows = tiles.rows,
                      .columns = tiles.columns}};
}

/// Patches along a side of a tile.
[[nodiscard]] constexpr std::int64_t patches_along(const model& m) noexcept {
    return m.beside[0].dims.vision.image_height / m.beside[0].dims.vision.patch_size;
}
constexpr media_shapes show(const model& m, const workload& load) { return show_grid(m, load, patches_along(m)); }

/// Features of each image's tiles, so many along a side, the whole first, in the order of its rows: (tiles of all, patches,
/// width) -> one sequence for all (`pack_image_features`).
constexpr value pack(const site& here, trace& t, const value& features, const value& newline, std::int64_t patches) {
    const workload& load = t.load();
    const media_shape shape = here.whole.kind->media(here.whole, load).image;
    const vision_sizes& image = here.whole.beside[0].dims.vision;
    const std::int64_t width = here.dims.hidden_size;
    const std::int64_t images = features.dim(0) / shape.tiles, rows = shape.rows, columns = shape.columns;
    const value each = features.view({images, shape.tiles, features.dim(1), width});
    const value whole = t.select(each, 1), tiles = t.slice(each, 1, shape.tiles - 1);
    if (tiles.dim(2) != patches * patches) report_description("tiles with a class token do not make a grid");
    const value grids = t.copy(tiles.view({images, rows, columns, patches, patches, width}).permute({0, 5, 1, 3, 2, 4}));
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height;
    const std::int64_t across = load.image_width > 0 ? load.image_width : image.image_width;
    const grid cut = unpadded(rows * patches, columns * patches, height, across);
    value x = grids.view({images, width, rows * patches, columns * patches});
    x = t.slice(t.slice(x, 2, cut.rows), 3, cut.columns);
    const grid read = shrunk(cut, patches, here.whole.own[most_tiles]);
    if (read.rows != cut.rows || read.columns != cut.columns) x = t.bilinear(x, read.rows, read.columns);
    const value ends = newline.view({1, width, 1, 1}).expand({images, width, read.rows, 1});
    x = t.cat({x, ends}, -1).view({images, width, read.rows * (read.columns + 1)}).transpose(1, 2);
    x = t.cat({whole, x}, 1);
    return t.cat({x.view({-1, width})}, 0);
}

/// Tiles of all images through the tower, of which some states are read: (tiles, states, width).
constexpr states_read states_of_tiles(const site& here, trace& t) {
    const media_shape shape = here.whole.kind->media(here.whole, t.load()).image;
    const vision_sizes& image = here.whole.beside[0].dims.vision;
    const std::int64_t tiles = images_in(t) * shape.tiles;
    (void)t.cat({t.input({tiles, image.num_channels, shape.height, shape.width})}, 0);  // `torch.cat(_pixel_values_list)`
    const recorder::workload_guard shown{t, pictures(t.load(), tiles, 0, 0)};
    return llava_detail::look(here, t, "vision_tower");
}

/// The same through the projector, one sequence for all.
constexpr value features_of_images(const site& here, trace& t, const value& newline) {
    const states_read states = states_of_tiles(here, t);
    const value some = llava_detail::side_by_side(here, t, states, here.whole.own[llava_detail::all_states] != 0);
    return pack(here, t, llava_detail::project(here, t, some), newline, patches_along(here.whole));
}

/// Frames of all videos through the tower: (frames, patches, width).
constexpr value states_of_frames(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t frames = load.videos > 0 ? load.videos * load.video_frames : 1;
    const recorder::workload_guard shown{t, pictures(load, load.batch * frames, 0, 0)};
    const states_read states = llava_detail::look(here, t, "vision_tower");
    return llava_detail::side_by_side(here, t, states, here.whole.own[llava_detail::all_states] != 0);
}

/// Images, then videos, through one tower in front of a text model.
template <class Frames>
constexpr value base_of(const site& here, trace& t, const Frames& frames) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool has_images = sees_images(t), has_videos = sees_videos(t);
        value x = words;
        const value newline = t.param("image_newline", {here.dims.hidden_size});
        {
            const recorder::idle_guard no_pixels{t, !has_images};
            const value scattered = t.masked_scatter(x, features_of_images(here, t, newline));
            if (has_images) x = scattered;
        }
        const recorder::idle_guard no_frames{t, !has_videos};
        const value scattered = t.masked_scatter(x, frames(newline));
        return has_videos ? scattered : x;
    });
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const value newline = t.param("image_newline", {here.dims.hidden_size});
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        return t.masked_scatter(words, features_of_images(here, t, newline));
    });
}

constexpr void read(config_view config, model& m) {
    llava_detail::read(config, m);
    read_grids(config, m.own, m.beside[0].dims.vision.image_height, 0);
}

/// Tiles are cut by the file's grids, and put together by the configuration's.
constexpr void read_processor(config_view told, model& m) {
    const std::int64_t side = m.beside[0].dims.vision.image_height;
    expect_resized(told), expect_picture(told, side);
    if (!told.optional_array("image_grid_pinpoints")) return;
    own_sizes cut;
    read_grids(told, cut, side, 0);
    for (std::size_t i = grids; i < most_tiles; ++i)
        if (cut[i] != m.own[i]) fail_value(told, "image_grid_pinpoints", "the image_grid_pinpoints of the configuration");
}

// how frames of a video are made smaller
enum pooling : std::uint8_t { average, maximum, convolved };

/// Squares of patches become one (`LlavaNextVideoPooler`).
struct pooler {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Pooler"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.whole.own;
        const vision_sizes& image = here.whole.beside[0].dims.vision;
        const std::int64_t side = image.image_height / image.patch_size, stride = own[pool_stride];
        const value frames = x.view({x.dim(0), side, side, x.dim(2)}).permute({0, 3, 1, 2});
        value out;
        switch (static_cast<pooling>(own[pool_mode])) {
            case average: out = t.call("pool", average_pool_2d{stride, stride}, frames); break;
            case maximum: out = t.call("pool", max_pool_2d{stride, stride}, frames); break;
            case convolved:
                out = t.call("pool", convolution_2d{x.dim(2), own[pool_channels], stride, stride}, frames);
                break;
        }
        if (frames.is_channels_last()) out.make_channels_last_strides();  // as ATen's pools do
        return t.contiguous(as_tokens(out));
    }
};

constexpr media_shapes show_pooled(const model& m, const workload& load) {
    media_shapes all = show(m, load);
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t side = image.image_height / image.patch_size / m.own[pool_stride];
    all.video = {.tokens = load.video_frames * side * side, .tiles = load.video_frames};
    return all;
}

constexpr value base_pooled(const site& here, trace& t) {
    return base_of(here, t, [&](const value&) {
        value states;
        {
            const recorder::called_again_guard twice{t};
            states = states_of_frames(here, t);
        }
        states = t.call("vision_resampler", pooler{here}, states);
        const recorder::called_again_guard twice{t};
        return t.cat({llava_detail::project(here, t, states).view({-1, here.dims.hidden_size})}, 0);
    });
}

constexpr void read_pooled(config_view config, model& m) {
    read(config, m);
    const string_ref mode = config.string("spatial_pool_mode", "average");
    if (mode == "average")
        m.own[pool_mode] = average;
    else if (mode == "max")
        m.own[pool_mode] = maximum;
    else if (mode == "conv")
        m.own[pool_mode] = convolved;
    else
        fail_value(config, "spatial_pool_mode", "average, max or conv");
    const vision_sizes& image = m.beside[0].dims.vision;
    if (m.own[pool_stride] > image.image_height / image.patch_size)
        fail_value(config, "spatial_pool_stride", "at most the patches along a side");
    m.own[pool_channels] = config.positive("spatial_pool_out_channels", m.beside[0].dims.hidden_size);
}

/// Frames at half their sides, and one token that ends a video (`apply_pooling`).
constexpr media_shapes show_halved(const model& m, const workload& load) {
    media_shapes all = show(m, load);
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t half = (image.image_height / image.patch_size + 1) / 2;
    all.video = {.tokens = load.video_frames * half * half + 1, .tiles = load.video_frames};
    return all;
}

constexpr value base_halved(const site& here, trace& t) {
    return base_of(here, t, [&](const value& newline) {
        const recorder::called_again_guard twice{t};
        const workload& load = t.load();
        const vision_sizes& image = here.whole.beside[0].dims.vision;
        const std::int64_t side = image.image_height / image.patch_size, half = (side + 1) / 2,
                           width = here.dims.hidden_size;
        const std::int64_t videos = load.batch * (load.videos > 0 ? load.videos : 1);
        const value seen = llava_detail::project(here, t, states_of_frames(here, t));
        const value grids = t.copy(seen.view({seen.dim(0), side, side, width}).permute({0, 3, 1, 2}));
        const value smaller = t.bilinear(grids, half, half).permute({0, 2, 3, 1});
        const value frames = t.reshape(smaller, {videos, -1, width});
        const value ends = t.copy(newline.view({1, 1, width}).expand({videos, 1, width}));
        return t.cat({frames, ends}, 1);
    });
}

constexpr void read_halved(config_view config, model& m) {
    llava_detail::read(config, m);
    m.own[llava_detail::layers_read] =
        picked_layers(config, "vision_feature_layer", m.beside[0].dims.num_hidden_layers, {-1});
    m.own[llava_detail::all_states] = config.string("vision_feature_select_strategy", "full") == "full" ? 1 : 0;
    read_grids(config, m.own, m.beside[0].dims.vision.image_height, 6);
    const string_ref ratio = config.string("vision_aspect_ratio", "anyres_max_9");
    constexpr string_ref before = "anyres_max_";
    std::int64_t n = 0;
    std::size_t i = ratio.starts_with(before) ? before.size() : 0;
    for (; i >= before.size() && i < ratio.size() && ratio[i] >= '0' && ratio[i] <= '9' && n < 1000; ++i)
        n = n * 10 + (ratio[i] - '0');
    if (i != ratio.size() || n == 0) fail_value(config, "vision_aspect_ratio", "anyres_max_ and a number of tiles");
    m.own[most_tiles] = n;
}

inline constexpr architecture siglip_of_onevision = llava_detail::siglip_of(16);

}  // namespace llava_next_detail

// transformers/models/llava_next: tiles of the best grid and the whole, a token that ends rows
inline constexpr architecture llava_next = [](architecture a) {
    a.model_type = "llava_next", a.prefix = "LlavaNext", a.base = llava_next_detail::base, a.own = llava_next_detail::keys;
    a.read_whole = llava_next_detail::read, a.media = llava_next_detail::show;
    a.read_processor = llava_next_detail::read_processor;
    return a;
}(llava);

// transformers/models/llava_next_video: the same with frames made smaller
inline constexpr architecture llava_next_video = [](architecture a) {
    a.model_type = "llava_next_video", a.prefix = "LlavaNextVideo", a.base = llava_next_detail::base_pooled;
    a.read_whole = llava_next_detail::read_pooled, a.media = llava_next_detail::show_pooled, a.reads.videos = true;
    return a;
}(llava_next);

// transformers/models/llava_onevision: SigLIP and Qwen2, tiles shrunk where they are many
inline constexpr architecture llava_onevision = [](architecture a) {
    a.model_type = "llava_onevision", a.prefix = "LlavaOnevision", a.base = llava_next_detail::base_halved;
    a.read_whole = llava_next_detail::read_halved, a.media = llava_next_detail::show_halved, a.reads.videos = true;
    a.text.otherwise = &qwen2;
    a.beside[0].otherwise = &siglip_vision_model, a.beside[0].missing = &llava_next_detail::siglip_of_onevision;
    return a;
}(llava_next);

}  // namespace llmcost::arch
