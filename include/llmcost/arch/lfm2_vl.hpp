// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/lfm2.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tiles.hpp>

namespace llmcost::arch {

namespace lfm2_vl_detail {

enum own : std::uint8_t {
    downsample_factor,
    projector_width,
    projector_bias,
    projector_norm,
    projector_act,
    fewest_tokens,
    most_tokens,
    tile_side,
    fewest_tiles,
    most_tiles,  // 0: images are not cut
    tolerance    // bits of how many times the largest number of pixels an image is not cut
};
inline constexpr own_key keys[]{
    {"downsample_factor", 2},  // patches along a side that become one token
    {"projector_hidden_size", 2560},
    {"projector_bias", 1, own_value::boolean},
    {"projector_use_layernorm", 1, own_value::boolean},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {.otherwise = 64, .value = own_value::computed},
    {.otherwise = 256, .value = own_value::computed},
    {.otherwise = 512, .value = own_value::computed},
    {.otherwise = 2, .value = own_value::computed},
    {.otherwise = 10, .value = own_value::computed},
    {.otherwise = __builtin_bit_cast(std::int64_t, 2.0), .value = own_value::computed},
};

// what the processor sets (image_processing_lfm2_vl.py)

/// An image as it is read: alone, or behind tiles of it.
struct cut_image {
    tile_grid tiles{0, 0};  ///< none: alone
    std::int64_t rows = 0;  ///< of patches of the whole
    std::int64_t columns = 0;
};

/// Sides rounded to what becomes whole tokens, scaled into the bounds; what is so many times the upper bound is cut into
/// tiles
/// (`smart_resize`, `resize_and_split`).
constexpr cut_image cut(const model& m, const workload& load) {
    const std::int64_t patch = m.beside[0].dims.vision.patch_size, by = m.own[downsample_factor], factor = patch * by;
    const std::int64_t height = load.image_height > 0 ? load.image_height : m.own[tile_side];
    const std::int64_t width = load.image_width > 0 ? load.image_width : m.own[tile_side];
    const std::int64_t least = m.own[fewest_tokens] * factor * factor, most = m.own[most_tokens] * factor * factor;
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto rounded = [&](std::int64_t n) {  // Python's `round`: halves to the even one
        const std::int64_t twice = 2 * n / factor, whole = twice / 2 + twice % 2;
        const bool half = 2 * n % factor == 0 && twice % 2 == 1;
        return (half && whole % 2 == 1 ? whole - 1 : whole) * factor;
    };
    const auto at_least = [](std::int64_t n, std::int64_t bound) { return n < bound ? bound : n; };
    std::int64_t h = at_least(rounded(height), factor), w = at_least(rounded(width), factor);
    if (h * w > most) {
        const double beta = __builtin_sqrt(real(height * width) / real(most));
        const auto down = [&](std::int64_t n) { return static_cast<std::int64_t>(real(n) / beta / real(factor)) * factor; };
        h = at_least(down(height), factor), w = at_least(down(width), factor);
    } else if (h * w < least) {
        const double beta = __builtin_sqrt(real(least) / real(height * width));
        const auto up = [&](std::int64_t n) {
            return static_cast<std::int64_t>(__builtin_ceil(real(n) * beta / real(factor))) * factor;
        };
        h = up(height), w = up(width);
    }
    const double bound = real(most) * __builtin_bit_cast(double, m.own[tolerance]);
    const bool large =
        m.own[most_tiles] > 0 && real(at_least(rounded(height), patch) * at_least(rounded(width), patch)) > bound;
    if (!large) return {{0, 0}, h / patch, w / patch};
    return {closest_grid(height, width, m.own[tile_side], m.own[fewest_tiles], m.own[most_tiles]), h / patch, w / patch};
}

constexpr media_shapes show(const model& m, const workload& load) {
    if (m.beside[0].kind != &siglip2_vision_model) report_description("only patches of SigLIP 2 are described");
    const cut_image image = cut(m, load);
    const vision_sizes& tower = m.beside[0].dims.vision;
    const std::int64_t by = m.own[downsample_factor], side = m.own[tile_side] / tower.patch_size;
    if (side % by != 0) report_description("downsample_factor does not divide the patches along a tile's side");
    return {.image = {.tokens = image.tiles.tiles() * (side / by) * (side / by) + image.rows / by * (image.columns / by),
                      .tiles = image.tiles.tiles() + 1,
                      .height = image.rows * tower.patch_size,
                      .width = image.columns * tower.patch_size,
                      .rows = image.tiles.rows,
                      .columns = image.tiles.columns}};
}

/// Bounds of tokens and tiles (`Lfm2VlImageProcessor`), whatever it says of resizing.
constexpr void read_processor(config_view told, model& m) {
    own_sizes& own = m.own;
    const std::int64_t patch = m.beside[0].dims.vision.patch_size, step = patch * own[downsample_factor];
    expect_side(told, "encoder_patch_size", patch, "the patch_size of the configuration's tower");
    expect_side(told, "downsample_factor", own[downsample_factor], "the downsample_factor of the configuration");
    own[fewest_tokens] = told.positive("min_image_tokens", own[fewest_tokens]);
    own[most_tokens] = told.positive("max_image_tokens", own[most_tokens]);
    if (own[most_tokens] > largest_input / step / step) fail_value(told, "max_image_tokens", "as many as 2^31 pixels have");
    if (own[fewest_tokens] > own[most_tokens]) fail_value(told, "min_image_tokens", "at most max_image_tokens");
    own[tile_side] = told.positive("tile_size", own[tile_side]);
    if (own[tile_side] % step != 0) fail_value(told, "tile_size", "a multiple of the side of a token's square");
    own[tolerance] = __builtin_bit_cast(std::int64_t, told.real("max_pixels_tolerance", 2.0));
    read_bounds_of_tiles(told, own, fewest_tiles, most_tiles, "min_tiles", "max_tiles");
    const bool cuts = told.boolean("do_image_splitting", true) && own[most_tiles] > 1;
    if (!cuts) own[most_tiles] = 0;
    if (cuts && (own[fewest_tiles] < 2 || own[fewest_tiles] > own[most_tiles]))
        fail_value(told, "min_tiles", "two to max_tiles tiles");
    if (cuts && !told.boolean("use_thumbnail", true))
        fail_unsupported(told, "use_thumbnail", "no row describes tiles without the whole");
}

/// Squares of patches side by side, normed, through two projections: (images, rows · columns, width) -> one sequence.
struct square_projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x, std::int64_t rows, std::int64_t columns) const {
        const own_sizes& own = here.whole.own;
        value h = squares_of_patches(t, x, rows, columns, own[downsample_factor]);
        const std::int64_t in = h.dim(-1);
        if (own[projector_norm] != 0) h = t.call("layer_norm", norm<norm_kind::layer>{in}, h);
        const projector both{type(),
                             in,
                             own[projector_width],
                             here.dims.hidden_size,
                             own[projector_bias] != 0,
                             static_cast<activation>(own[projector_act])};
        return both.describe(t, h).view({-1, here.dims.hidden_size});
    }
};

/// SigLIP 2 over tiles and wholes, all padded to as many patches as the largest may have; positions are resized to each.
constexpr value states_of(const site& here, trace& t, const cut_image& image, std::int64_t images, std::int64_t length) {
    const vision_sizes& sizes_of = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, n = here.dims.own[siglip_detail::num_patches];
    const std::int64_t values = sizes_of.num_channels * sizes_of.patch_size * sizes_of.patch_size;
    const std::int64_t side = sizes_of.image_height / sizes_of.patch_size, all = images * (image.tiles.tiles() + 1);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const embedding places{n, width};
    const value pixels = t.input({all, length, values});
    t.enter(embeddings);
    const value patches = t.call("patch_embedding", linear{values, width, true}, pixels);
    const module_info table{.name = "position_embedding", .type = places.type(), .what = role::embedding, .leaf = true};
    t.enter(table);
    const value weight = t.param("weight", {n, width});
    t.leave(table);
    const value grid = weight.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
    value resized = t.constant({all, length, width});
    const auto resize = [&](std::int64_t how_many, std::int64_t rows, std::int64_t columns) {
        t.in_place(op::copy, resized, t.bilinear(grid.expand({how_many, width, side, side}), rows, columns));
    };
    const std::int64_t of_tile = here.whole.own[tile_side] / sizes_of.patch_size;
    if (image.tiles.tiles() > 0) resize(images * image.tiles.tiles(), of_tile, of_tile);
    resize(images, image.rows, image.columns);
    const value x = t.leave(embeddings, t.add(patches, resized));
    const bool padded = image.rows * image.columns < length || (image.tiles.tiles() > 0 && of_tile * of_tile < length);
    return siglip_detail::finish(here, t, x, false, padded).first;
}

constexpr value see(const site& here, trace& t, const value& words) {
    const recorder::idle_guard no_pixels{t, !sees_images(t)};
    const site tower = here.component(0);
    const bool fits = tower.dims.vision.patch_size > 0 && here.whole.beside[0].kind == &siglip2_vision_model;
    const module_info m{.name = "vision_tower", .type = tower.type(tower.row.names.model_type), .what = role::vision};
    if (!fits) {
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        const std::int64_t by = here.whole.own[downsample_factor];
        const value square = trace::buffer({1, by * by, states.dim(2)});
        (void)t.call("multi_modal_projector", square_projector{here}, square, by, by);
        return words;
    }
    const cut_image image = cut(here.whole, t.load());
    const std::int64_t images = images_in(t), of_tile = here.whole.own[tile_side] / tower.dims.vision.patch_size;
    const std::int64_t by = here.whole.own[downsample_factor], tokens = here.whole.own[most_tokens] * by * by;
    const std::int64_t length = tokens > of_tile * of_tile || here.whole.own[most_tiles] == 0 ? tokens : of_tile * of_tile;
    t.enter(m);
    const value states = t.leave(m, states_of(tower, t, image, images, length));
    const std::int64_t n = image.rows * image.columns, tiles = image.tiles.tiles();
    const auto some = [&](std::int64_t how_many, std::int64_t patches) {
        return t.slice(t.slice(states, 0, how_many), 1, patches);
    };
    value features = t.call("multi_modal_projector", square_projector{here}, some(images, n), image.rows, image.columns);
    if (tiles == 0) return t.masked_scatter(words, t.cat({features}, 0));
    const recorder::called_again_guard again{t};
    const value cut_out = some(images * tiles, of_tile * of_tile);
    const value of_tiles = t.call("multi_modal_projector", square_projector{here}, cut_out, of_tile, of_tile);
    return t.masked_scatter(words, t.cat({of_tiles, features}, 0));
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) { return see(here, t, words); });
}

constexpr void read_whole(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[projector_act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
}

}  // namespace lfm2_vl_detail

// transformers/models/lfm2_vl: SigLIP 2 in front of LFM2, squares of patches merged
inline constexpr architecture lfm2_vl = [](architecture a) {
    a.model_type = "lfm2_vl", a.prefix = "Lfm2Vl", a.base = lfm2_vl_detail::base, a.own = lfm2_vl_detail::keys;
    a.read_whole = lfm2_vl_detail::read_whole, a.media = lfm2_vl_detail::show,
    a.read_processor = lfm2_vl_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &lfm2};
    a.beside[0] = {.key = "vision_config", .otherwise = &siglip2_vision_model};
    a.keys[0] = {"tie_word_embeddings", "tie_embedding"}, a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
