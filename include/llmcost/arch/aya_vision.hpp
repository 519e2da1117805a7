// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/cohere.hpp>
#include <llmcost/arch/llava.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/tiles.hpp>

namespace llmcost::arch {

namespace aya_vision_detail {

// the layers of the tower that are read stand where LLaVA has them
enum own : std::uint8_t { downsample, inner_width, fewest_tiles, most_tiles, layers_read };
static_assert(static_cast<int>(layers_read) == static_cast<int>(llava_detail::layers_read));
inline constexpr own_key keys[]{
    {"downsample_factor", 2},
    {.value = own_value::computed},                  // `alignment_intermediate_size`
    {.otherwise = 1, .value = own_value::computed},  // that an image becomes, beside the whole
    {.otherwise = 12, .value = own_value::computed},
    {.value = own_value::computed},
};

/// Squares of patches through a gated block (`Cohere2VisionMultiModalProjector`), normed first in Aya Vision.
struct square_projector {
    site here;
    bool norms;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t inner = here.whole.own[inner_width], by = here.whole.own[downsample];
        const vision_sizes& image = here.whole.beside[0].dims.vision;
        const std::int64_t rows = image.image_height / image.patch_size, columns = image.image_width / image.patch_size;
        value h = squares_of_patches(t, x, rows, columns, by);
        const std::int64_t width = h.dim(-1);
        if (norms) h = t.call("layernorm", norm<norm_kind::layer>{width}, h);
        const value both = t.call("linear_1", linear{width, inner, true}, h);
        const value half = both.slice(-1, inner / 2);
        h = t.mul(t.call("act", activation_module{norms ? activation::silu : activation::swish}, half), half);
        return t.call("linear_2", linear{inner / 2, here.dims.hidden_size, true}, h);
    }
};

constexpr media_shapes shapes_of(const model& m, const tile_grid& grid) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t tiles = with_whole(grid), by = m.own[downsample];
    const std::int64_t rows = image.image_height / image.patch_size / by,
                       columns = image.image_width / image.patch_size / by;
    return {.image = {.tokens = tiles * rows * columns,
                      .tiles = tiles,
                      .height = image.image_height,
                      .width = image.image_width,
                      .rows = grid.rows,
                      .columns = grid.columns}};
}
constexpr media_shapes show(const model& m, const workload& load) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height;
    const std::int64_t width = load.image_width > 0 ? load.image_width : image.image_width;
    return shapes_of(m, closest_grid(height, width, image.image_height, m.own[fewest_tiles], m.own[most_tiles]));
}

/// Images are always cut: `AyaVisionProcessor` says so, whatever the file does.
constexpr void read_processor(config_view told, model& m) {
    expect_resized(told), expect_picture(told, m.beside[0].dims.vision.image_height);
    read_bounds_of_tiles(told, m.own, fewest_tiles, most_tiles);
}

/// Tiles of all images through the tower; a layer's states are read in front of the last norm, the last states behind it.
constexpr value see(const site& here, trace& t, const value& words, bool of_layer, bool norms) {
    const recorder::idle_guard no_pixels{t, !sees_images(t)};
    const media_shape shape = here.whole.kind->media(here.whole, t.load()).image;
    const recorder::workload_guard shown{t, pictures(t.load(), images_in(t) * shape.tiles, 0, 0)};
    const value states = of_layer ? llava_detail::look(here, t, "vision_tower").states[0]
                                  : describe_tower(here, t, 0, "vision_tower", role::vision);
    return t.masked_scatter(words, t.call("multi_modal_projector", square_projector{here, norms}, states));
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model",
                               [&](const value& words) { return see(here, t, words, true, true); });
}

constexpr void read(config_view config, model& m) {
    m.own[inner_width] = config.positive("alignment_intermediate_size", m.dims.hidden_size);
    (void)checked_width(config, "downsample_factor", m.own[downsample] * m.own[downsample], m.beside[0].dims.hidden_size);
    const string_ref strategy = config.string("vision_feature_select_strategy", "full");
    if (strategy != "full" && strategy != "default")
        fail_value(config, "vision_feature_select_strategy", "\"default\" or \"full\"");
    if (count_layers(config, "vision_feature_layer") != 1)
        fail_unsupported(config, "vision_feature_layer", "no row describes several layers side by side here");
    m.own[layers_read] = picked_layers(config, "vision_feature_layer", m.beside[0].dims.num_hidden_layers, {-1});
}

inline constexpr architecture siglip_of_aya = llava_detail::siglip_of(14);

}  // namespace aya_vision_detail

// transformers/models/aya_vision: SigLIP and Cohere 2, squares of patches through a gated block
inline constexpr architecture aya_vision = [](architecture a) {
    a.model_type = "aya_vision", a.prefix = "AyaVision", a.base = aya_vision_detail::base;
    a.media = aya_vision_detail::show, a.read_processor = aya_vision_detail::read_processor, a.reads.images = true;
    a.read_whole = aya_vision_detail::read, a.own = aya_vision_detail::keys, a.defaults.tie_word_embeddings = true;
    a.text = {.key = "text_config", .otherwise = &cohere2};
    a.beside[0] = {.key = "vision_config", .otherwise = &siglip_vision_model, .missing = &aya_vision_detail::siglip_of_aya};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
