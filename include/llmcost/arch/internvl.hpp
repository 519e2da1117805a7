// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/internvl_vision.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tiles.hpp>

namespace llmcost::arch {

namespace internvl_detail {

enum own : std::uint8_t { downsample, projector_act, all_states, fewest_tiles, most_tiles };
inline constexpr own_key keys[]{
    {.otherwise = 2, .value = own_value::computed},  // patches along a side that become one token
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {.value = own_value::computed},                  // of a tower: its class token's among them
    {.otherwise = 1, .value = own_value::computed},  // that an image becomes, beside the whole
    {.otherwise = 12, .value = own_value::computed},
};

constexpr std::int64_t tokens_of_tile(const model& m) {
    return patches_of(m.beside[0].dims.vision) / (m.own[downsample] * m.own[downsample]);
}

/// Tiles by the closest ratio of sides, and the whole.
constexpr media_shapes show(const model& m, const workload& load) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height;
    const std::int64_t width = load.image_width > 0 ? load.image_width : image.image_width;
    const tile_grid grid = closest_grid(height, width, image.image_height, m.own[fewest_tiles], m.own[most_tiles]);
    const std::int64_t tiles = with_whole(grid);
    return {.image = {.tokens = tiles * tokens_of_tile(m),
                      .tiles = tiles,
                      .height = image.image_height,
                      .width = image.image_width,
                      .rows = grid.rows,
                      .columns = grid.columns}};
}

/// Images are always cut: `InternVLProcessor` says so, whatever the file does.
constexpr void read_processor(config_view told, model& m) {
    expect_resized(told), expect_picture(told, m.beside[0].dims.vision.image_height);
    read_bounds_of_tiles(told, m.own, fewest_tiles, most_tiles);
}

/// Squares of patches, normed, through two projections.
struct square_projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value normed = t.call("layer_norm", norm<norm_kind::layer>{x.dim(-1)}, x);
        const projector both{type(), x.dim(-1), width, width, true, static_cast<activation>(here.whole.own[projector_act])};
        return both.describe(t, normed);
    }
};

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const media_shape shape = here.whole.kind->media(here.whole, t.load()).image;
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t) * shape.tiles, 0, 0)};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        const value some = here.whole.own[all_states] != 0 ? states : t.slice(states, 1, states.dim(1) - 1);
        const vision_sizes& image = here.whole.beside[0].dims.vision;
        const std::int64_t side = image.image_height / image.patch_size;
        const value squares = shuffle_patches(t, some, side, side, here.whole.own[downsample]);
        return t.masked_scatter(words, t.call("multi_modal_projector", square_projector{here}, squares));
    });
}

constexpr void read(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[projector_act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
    const string_ref strategy = config.string("vision_feature_select_strategy", "default");
    if (strategy != "default" && strategy != "full") fail_value(config, "vision_feature_select_strategy", "default or full");
    m.own[all_states] = strategy == "full" ? 1 : 0;
    const double ratio = config.real("downsample_ratio", 0.5);
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t by = ratio > 0 && ratio <= 1 ? static_cast<std::int64_t>(1 / ratio) : 0;
    if (by < 1 || image.image_height / image.patch_size % by != 0 || ratio * static_cast<double>(by) != 1)
        fail_value(config, "downsample_ratio", "one divided by a divisor of the patches along a side");
    if (image.image_height != image.image_width || strategy == "full")
        fail_unsupported(config, strategy == "full" ? "vision_feature_select_strategy" : "vision_config",
                         "patches that make no square are not described");
    m.own[downsample] = by;
}

}  // namespace internvl_detail

// transformers/models/internvl: tiles through a tower, squares of patches in front of a text model
inline constexpr architecture internvl = [](architecture a) {
    a.model_type = "internvl", a.prefix = "InternVL", a.base = internvl_detail::base, a.own = internvl_detail::keys;
    a.read_whole = internvl_detail::read, a.media = internvl_detail::show,
    a.read_processor = internvl_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &qwen2}, a.defaults.tie_word_embeddings = true;
    a.beside[0] = {.key = "vision_config", .otherwise = &internvl_vision, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
