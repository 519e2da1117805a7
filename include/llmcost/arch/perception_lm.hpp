// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/timm_eva.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tiles.hpp>

namespace llmcost::arch {

namespace perception_lm_detail {

enum own : std::uint8_t { leaves_first, pooled };
inline constexpr own_key keys[]{{"vision_use_cls_token", 1, own_value::boolean}, {"projector_pooling_ratio", 1}};

/// Patches of a tile that are read, along a side; a class token in front of them is left out, or a patch.
[[nodiscard]] constexpr std::int64_t states_of(const model& m) noexcept {
    const sizes& tower = m.beside[0].dims;
    return patches_of(tower.vision) + tower.own[timm_eva_detail::tokens_ahead] - m.own[leaves_first];
}
[[nodiscard]] constexpr std::int64_t side_of(const model& m) noexcept {
    std::int64_t side = 0;
    while ((side + 1) * (side + 1) <= states_of(m)) ++side;
    return side;
}

/// Two layers over states whose tokens stand in front of their tiles, then means of squares of neighbours.
struct pooling_projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, by = here.whole.own[pooled];
        const value turned = t.call("linear_1", linear{x.dim(2), width, true}, x.permute({1, 0, 2}));
        value h = t.call("gelu", gelu_module{}, turned);
        h = t.call("linear_2", linear{width, width, true}, h).permute({1, 0, 2});
        if (by == 1) return t.call("pooling", identity{}, h);
        const module_info pooling{.name = "pooling", .type = here.type("AdaptiveAvgPooling"), .leaf = true};
        const std::int64_t side = side_of(here.whole);
        t.enter(pooling);
        const value grid = t.reshape(h.permute({0, 2, 1}), {h.dim(0), width, side, side});
        const value means = t.pool_to(op::average_pool, grid, {side / by, side / by});
        return t.leave(pooling, means.view({h.dim(0), width, -1}).transpose(1, 2));
    }
};

// image_processing_perception_lm.py, `_fit_image_to_canvas`, `_find_closest_aspect_ratio`
inline constexpr std::int64_t most_tiles = 36;

/// The grids of up to 36 tiles, those of one shape together, in the order in which the processor meets them.
template <class Look>
constexpr void each_grid(const Look& look) {
    for (std::int64_t tiles = most_tiles; tiles > 0; --tiles)
        for (std::int64_t columns = 1; columns <= tiles; ++columns) {
            if (tiles % columns != 0) continue;
            std::int64_t shared = columns, rest = tiles / columns;
            while (rest != 0) {
                const std::int64_t left = shared % rest;
                shared = rest, rest = left;
            }
            const tile_grid least{tiles / columns / shared, columns / shared};
            if ((shared + 1) * (shared + 1) * least.tiles() <= most_tiles) continue;  // met as a larger one
            for (std::int64_t by = shared; by > 0; --by) look(tile_grid{by * least.rows, by * least.columns}, by == shared);
        }
}

/// The grid that holds an image and makes its shorter side largest, else the one whose shape is closest.
[[nodiscard]] constexpr tile_grid canvas_of(std::int64_t height, std::int64_t width, std::int64_t side) {
    const double h = static_cast<double>(height), w = static_cast<double>(width), scale = w / h;
    tile_grid best{0, 0}, closest{0, 0};
    double longest = 0, nearest = 0;
    const auto whole = [](double x) { return static_cast<double>(static_cast<std::int64_t>(x)); };
    each_grid([&](const tile_grid& grid, bool largest) {
        const double ratio = static_cast<double>(grid.columns) / static_cast<double>(grid.rows);
        const double far = scale >= 1 ? scale - ratio : 1 / scale - 1 / ratio;
        const bool beside = scale >= 1 ? ratio <= scale : ratio > scale;
        if (largest && beside && (closest.rows == 0 || far < nearest)) closest = grid, nearest = far;
        if (grid.columns * side < width || grid.rows * side < height) return;
        const double by_width = static_cast<double>(grid.columns * side) / w,
                     by_height = static_cast<double>(grid.rows * side) / h;
        const double factor = by_width < by_height ? by_width : by_height;
        const double shorter = scale > 1 ? whole(factor * w / scale) : scale < 1 ? whole(factor * h * scale) : factor * h;
        if (best.rows == 0 || shorter >= longest) best = grid, longest = shorter;
    });
    return best.rows > 0 ? best : closest;
}

/// Tiles and the whole image; frames of a video are one tile each.
constexpr media_shapes show(const model& m, const workload& load) {
    const vision_sizes& own = m.beside[0].dims.vision;
    const image_sides image = sides_of_images(load, own);
    const std::int64_t side = own.image_height, n = side_of(m) / m.own[pooled];
    const std::int64_t tokens = m.own[pooled] == 1 ? states_of(m) : n * n;
    const tile_grid grid = canvas_of(image.height, image.width, side);
    const std::int64_t tiles = grid.tiles() + 1;
    return {.image = {.tokens = tiles * tokens,
                      .tiles = tiles,
                      .height = side,
                      .width = side,
                      .rows = grid.rows,
                      .columns = grid.columns},
            .video = {.tokens = load.video_frames * tokens, .tiles = load.video_frames, .height = side, .width = side}};
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](value words) {
        look_at_pictures(here, t, [&] {
            value states = describe_tower(here, t, 0, "vision_tower", role::vision);
            if (here.whole.own[leaves_first] != 0) states = t.slice(states, 1, states.dim(1) - 1);
            const value features = t.call("multi_modal_projector", pooling_projector{here}, states);
            if (sees(t)) words = t.masked_scatter(words, features);
        });
        return words;
    });
}

constexpr void read(config_view config, model& m) {
    const vision_sizes& image = m.beside[0].dims.vision;
    if (image.image_height != image.image_width)
        fail_unsupported(config, "vision_config", "no row describes tiles that are no squares");
    if (states_of(m) < 1) fail_value(config, "vision_use_cls_token", "false, where a tile is one patch");
    if (m.own[pooled] == 1) return;
    const std::int64_t side = side_of(m);
    if (side * side != states_of(m)) fail_value(config, "vision_use_cls_token", "what leaves a square number of states");
    if (side % m.own[pooled] != 0) fail_value(config, "projector_pooling_ratio", "a divisor of the patches along a side");
}

}  // namespace perception_lm_detail

// transformers/models/perception_lm: tiles through timm's tower, in front of Llama
inline constexpr architecture perception_lm = [](architecture a) {
    a.model_type = "perception_lm", a.prefix = "PerceptionLM", a.base = perception_lm_detail::base;
    a.read_whole = perception_lm_detail::read, a.own = perception_lm_detail::keys;
    a.media = perception_lm_detail::show, a.reads.images = a.reads.videos = true;
    a.text = {.key = "text_config", .otherwise = &llama, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &timm_eva};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
