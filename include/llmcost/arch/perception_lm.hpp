// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/timm_wrapper_eva.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/timm_eva_config.hpp>

namespace llmcost::arch {

namespace perception_lm_detail {

enum family_config_index : std::uint8_t { leaves_first, pooled };

inline constexpr family_key family_keys[]{{"vision_use_cls_token", 1, family_key_type::boolean},
                                          {"projector_pooling_ratio", 1}};

/// Patches of a tile that are read, along a side; a class token before them is left out, or a patch.
[[nodiscard]] constexpr std::int64_t states_of(const model& m) noexcept {
    const model_config& tower = m.components[0].config;
    return patches_of(tower.vision) + tower.family[timm_eva_config::tokens_ahead] - m.family[leaves_first];
}

[[nodiscard]] constexpr std::int64_t side_of(const model& m) noexcept {
    std::int64_t side = 0;
    while ((side + 1) * (side + 1) <= states_of(m)) ++side;
    return side;
}

/// Two layers over states whose tokens precede their tiles, then average pooling of squares of neighbours.
struct pooling_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, pooling_ratio = ctx.model.family[pooled];
        const tensor projected = t.call("linear_1", linear{x.dim(2), width, true}, x.permute({1, 0, 2}));
        tensor h = t.call("gelu", gelu_module{}, projected);
        h = t.call("linear_2", linear{width, width, true}, h).permute({1, 0, 2});
        if (pooling_ratio == 1) return t.call("pooling", identity{}, h);
        const module_info pooling{
            .name = "pooling", .class_of_module = ctx.class_of("AdaptiveAvgPooling"), .is_leaf = true};
        const std::int64_t side = side_of(ctx.model);
        t.enter(pooling);
        const tensor grid = t.reshape(h.permute({0, 2, 1}), {h.dim(0), width, side, side});
        const tensor means = t.pool_to(op::average_pool, grid, {side / pooling_ratio, side / pooling_ratio});
        return t.leave(pooling, means.view({h.dim(0), width, -1}).transpose(1, 2));
    }
};

// image_processing_perception_lm.py, `_fit_image_to_canvas`, `_find_closest_aspect_ratio`
inline constexpr std::int64_t max_tiles = 36;

/// The grids of up to 36 tiles, those of one shape together, in the order in which the processor meets them.
template <class Look>
constexpr void for_each_grid(const Look& visit) {
    for (std::int64_t tiles = max_tiles; tiles > 0; --tiles)
        for (std::int64_t columns = 1; columns <= tiles; ++columns) {
            if (tiles % columns != 0) continue;
            std::int64_t shared = columns, rest = tiles / columns;
            while (rest != 0) {
                const std::int64_t left = shared % rest;
                shared = rest;
                rest = left;
            }
            const tile_grid minimum{tiles / columns / shared, columns / shared};
            if ((shared + 1) * (shared + 1) * minimum.tiles() <= max_tiles) continue;  // met as a larger one
            for (std::int64_t factor = shared; factor > 0; --factor)
                visit(tile_grid{factor * minimum.rows, factor * minimum.columns}, factor == shared);
        }
}

/// The grid that holds an image and makes its shorter side largest, else the one whose shape is closest.
[[nodiscard]] constexpr tile_grid canvas_of(std::int64_t height, std::int64_t width, std::int64_t side) {
    const double h = static_cast<double>(height), w = static_cast<double>(width), scale = w / h;
    tile_grid best{0, 0}, closest{0, 0};
    double longest = 0, nearest = 0;
    const auto truncate = [](double x) { return static_cast<double>(static_cast<std::int64_t>(x)); };
    for_each_grid([&](const tile_grid& grid, bool largest) {
        const double ratio = static_cast<double>(grid.columns) / static_cast<double>(grid.rows);
        const double distance = scale >= 1 ? scale - ratio : 1 / scale - 1 / ratio;
        const bool is_covered = scale >= 1 ? ratio <= scale : ratio > scale;
        if (largest && is_covered && (closest.rows == 0 || distance < nearest)) {
            closest = grid;
            nearest = distance;
        }
        if (grid.columns * side < width || grid.rows * side < height) return;
        const double by_width = static_cast<double>(grid.columns * side) / w,
                     by_height = static_cast<double>(grid.rows * side) / h;
        const double factor = by_width < by_height ? by_width : by_height;
        const double shorter = scale > 1   ? truncate(factor * w / scale)
                               : scale < 1 ? truncate(factor * h * scale)
                                           : factor * h;
        if (best.rows == 0 || shorter >= longest) {
            best = grid;
            longest = shorter;
        }
    });
    return best.rows > 0 ? best : closest;
}

/// Returns the shape of tiles plus the full image; each video frame is one tile.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const vision_config& vision = m.components[0].config.vision;
    const image_size image = image_size_of(load, vision);
    const std::int64_t side = vision.image_height, n = side_of(m) / m.family[pooled];
    const std::int64_t tokens = m.family[pooled] == 1 ? states_of(m) : n * n;
    const tile_grid grid = canvas_of(image.height, image.width, side);
    const std::int64_t tiles = grid.tiles() + 1;
    return {
        .image = {.num_tokens = tiles * tokens,
                  .num_tiles = tiles,
                  .height = side,
                  .width = side,
                  .tile_rows = grid.rows,
                  .tile_columns = grid.columns},
        .video = {
            .num_tokens = load.video_frames * tokens, .num_tiles = load.video_frames, .height = side, .width = side}};
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](tensor token_embeddings) {
        encode_images(ctx, t, [&] {
            tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
            if (ctx.model.family[leaves_first] != 0) states = t.slice(states, 1, states.dim(1) - 1);
            const tensor features = t.call("multi_modal_projector", pooling_projector{ctx}, states);
            if (has_vision_inputs(t)) token_embeddings = t.masked_scatter(token_embeddings, features);
        });
        return token_embeddings;
    });
}

constexpr void parse_config(config_view json, model& m) {
    const vision_config& image = m.components[0].config.vision;
    if (image.image_height != image.image_width)
        throw_unsupported(json, "vision_config", "non-square tiles are not supported");
    if (states_of(m) < 1) throw_invalid_value(json, "vision_use_cls_token", "false if a tile is one patch");
    if (m.family[pooled] == 1) return;
    const std::int64_t side = side_of(m);
    if (side * side != states_of(m))
        throw_invalid_value(json, "vision_use_cls_token", "what leaves a square number of states");
    if (side % m.family[pooled] != 0)
        throw_invalid_value(json, "projector_pooling_ratio", "a divisor of the patches along a side");
}

}  // namespace perception_lm_detail

// transformers/models/perception_lm: tiles through timm's tower, before Llama
inline constexpr model_spec perception_lm = [](model_spec spec) {
    spec.model_type = "perception_lm";
    spec.class_prefix = "PerceptionLM";
    spec.base_model = perception_lm_detail::base;
    spec.parse_composite_config = perception_lm_detail::parse_config;
    spec.family_keys = perception_lm_detail::family_keys;
    spec.compute_media_shapes = perception_lm_detail::compute_media_shapes;
    spec.modalities.has_images = spec.modalities.has_videos = true;
    spec.text_model = {.key = "text_config", .default_spec = &llama, .ties_embeddings = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &timm_eva};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
