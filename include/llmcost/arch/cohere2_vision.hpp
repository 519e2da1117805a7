// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/aya_vision.hpp>

namespace llmcost::arch {

namespace cohere2_vision_detail {

/// The grid that scales an image up least, or where all scale it down, the one that does so least
/// (`get_optimal_tiled_canvas`).
[[nodiscard]] constexpr tile_grid least_scaled(std::int64_t height, std::int64_t width, std::int64_t side, std::int64_t most) {
    tile_grid up, down;
    double least_up = 0, least_down = 0;  // none yet
    for (std::int64_t n = 1; n <= most; ++n)
        for (std::int64_t columns = 1; columns <= n; ++columns) {
            if (n % columns != 0) continue;
            const double wide = static_cast<double>(columns * side) / static_cast<double>(width);
            const double high = static_cast<double>(n / columns * side) / static_cast<double>(height);
            const double scale = wide < high ? wide : high;
            if (scale >= 1 && (least_up == 0 || scale < least_up)) up = {n / columns, columns}, least_up = scale;
            if (scale < 1 && scale > least_down) down = {n / columns, columns}, least_down = scale;
        }
    return least_up > 0 ? up : down;
}

constexpr media_shapes show(const model& m, const workload& load) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height;
    const std::int64_t width = load.image_width > 0 ? load.image_width : image.image_width;
    return aya_vision_detail::shapes_of(
        m, least_scaled(height, width, image.image_height, m.own[aya_vision_detail::most_tiles]));
}

/// Images need not be cut here; the lower bound is read by nobody.
constexpr void read_processor(config_view told, model& m) {
    aya_vision_detail::read_processor(told, m);
    if (!told.boolean("crop_to_patches", true)) m.own[aya_vision_detail::most_tiles] = 1;
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        return aya_vision_detail::see(here, t, words, false, false);
    });
}

constexpr void read(config_view config, model& m) {
    using namespace aya_vision_detail;
    m.own[inner_width] = config.positive("alignment_intermediate_size", 36864);
    (void)checked_width(config, "downsample_factor", m.own[downsample] * m.own[downsample], m.beside[0].dims.hidden_size);
}

inline constexpr architecture tower = [](architecture a) {
    a.read = [](config_view config, sizes& s) {
        read_square_image(config, s, 512, 16);
        share_among_heads(config, s, {"num_attention_heads"});
    };
    a.defaults.hidden_size = 1152, a.defaults.num_hidden_layers = 27;
    return a;
}(siglip_vision_model);

}  // namespace cohere2_vision_detail

// transformers/models/cohere2_vision: Aya Vision without a norm in its projector, tiles by the least scale
inline constexpr architecture cohere2_vision = [](architecture a) {
    a.model_type = "cohere2_vision", a.prefix = "Cohere2Vision", a.base = cohere2_vision_detail::base;
    a.read_whole = cohere2_vision_detail::read, a.media = cohere2_vision_detail::show;
    a.read_processor = cohere2_vision_detail::read_processor;
    a.beside[0].missing = &cohere2_vision_detail::tower;
    return a;
}(aya_vision);

}  // namespace llmcost::arch
