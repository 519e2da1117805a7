// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/qwen_vision.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// MiniCPM-V: slices of an image, whose patches are merged in two rounds (arXiv 2408.01800).
namespace llmcost::image_slices {

enum family_config_index : std::uint8_t { rounds, insert_layer_id, fourfold, resolution, max_slice_nums };

/// A group of images of one size, encoded consecutively.
struct picture_group {
    std::int64_t num_pictures = 0;
    std::int64_t rows = 0;  ///< of patches
    std::int64_t columns = 0;

    [[nodiscard]] constexpr std::int64_t patches() const noexcept { return num_pictures * rows * columns; }
};

/// Whole images, and slices of them where they are large.
struct pictures_of {
    picture_group wholes{};
    picture_group slices{};

    [[nodiscard]] constexpr std::int64_t patches() const noexcept { return wholes.patches() + slices.patches(); }
    [[nodiscard]] constexpr pictures_of halved() const noexcept {
        return {{wholes.num_pictures, wholes.rows / 2, wholes.columns / 2},
                {slices.num_pictures, slices.rows / 2, slices.columns / 2}};
    }
};

/// `ensure_divide`: `n` divisors, rounded as Python rounds, one at least.
[[nodiscard]] constexpr std::int64_t divided(double n, std::int64_t divisor) {
    const double times = n / static_cast<double>(divisor);
    std::int64_t quotient = static_cast<std::int64_t>(times);
    const double rest = times - static_cast<double>(quotient);
    if (rest > 0.5 || (rest == 0.5 && quotient % 2 == 1)) ++quotient;
    return (quotient < 1 ? 1 : quotient) * divisor;
}

/// Sides for an image of this shape, multiples of `unit`; a large one is scaled to the resolution's area
/// (`find_best_resize`).
[[nodiscard]] constexpr tile_grid resized(double height, double width, std::int64_t side, std::int64_t unit,
                                          bool grows) {
    const double target_side = static_cast<double>(side);
    if (height * width > target_side * target_side || grows) {
        const double ratio = width / height;
        height = static_cast<double>(static_cast<std::int64_t>(target_side / __builtin_sqrt(ratio)));
        width = static_cast<double>(static_cast<std::int64_t>(height * ratio));
    }
    return {divided(height, unit), divided(width, unit)};
}

/// Returns the slice grid with the closest aspect ratio, and about as many slices as the image area requires. Returns 0
/// if the image is not sliced (`get_sliced_grid`).
[[nodiscard]] constexpr tile_grid sliced(std::int64_t height, std::int64_t width, std::int64_t side,
                                         std::int64_t maximum) {
    const std::int64_t area = height * width, of_slice = side * side;
    const std::int64_t ideal_slices = (area + of_slice - 1) / of_slice,
                       multiple = ideal_slices < maximum ? ideal_slices : maximum;
    if (multiple <= 1) return {0, 0};
    const double shape = __builtin_log(static_cast<double>(width) / static_cast<double>(height));
    tile_grid best;
    double minimum = -1;  // none yet
    for (std::int64_t n = multiple - 1; n <= multiple + 1; ++n) {
        if (n == 1 || n > maximum) continue;
        for (std::int64_t rows = 1; rows <= n; ++rows) {
            if (n % rows != 0) continue;
            const double difference = shape - __builtin_log(static_cast<double>(n / rows) / static_cast<double>(rows));
            const double error = difference < 0 ? -difference : difference;
            if (minimum < 0 || error < minimum || (error == minimum && rows > best.rows)) {
                best = {rows, n / rows};
                minimum = error;
            }
        }
    }
    return best;
}

/// What one image becomes.
[[nodiscard]] constexpr pictures_of cut(const model& m, const workload& load) {
    const std::int64_t height = load.image_height > 0 ? load.image_height : m.family[resolution];
    const std::int64_t width = load.image_width > 0 ? load.image_width : m.family[resolution];
    const std::int64_t patch = m.components[0].config.vision.patch_size,
                       unit = patch * (m.family[fourfold] != 0 ? 2 : 4);
    const tile_grid grid = sliced(height, width, m.family[resolution], m.family[max_slice_nums]);
    const std::int64_t side = m.family[resolution];
    const tile_grid thumbnail =
        resized(static_cast<double>(height), static_cast<double>(width), side, unit, grid.rows == 0);
    pictures_of all{{1, thumbnail.rows / patch, thumbnail.columns / patch}, {}};
    if (grid.rows == 0) return all;
    const double high =
        static_cast<double>(divided(static_cast<double>(height), grid.rows)) / static_cast<double>(grid.rows);
    const double slice_width =
        static_cast<double>(divided(static_cast<double>(width), grid.columns)) / static_cast<double>(grid.columns);
    const tile_grid slice = resized(high, slice_width, side, unit, true);
    all.slices = {grid.tiles(), slice.rows / patch, slice.columns / patch};
    return all;
}

/// Returns the image groups of `images` equal images.
[[nodiscard]] constexpr pictures_of cut(const model& m, const workload& load, std::int64_t images) {
    pictures_of all = cut(m, load);
    all.wholes.num_pictures *= images;
    all.slices.num_pictures *= images;
    return all;
}

/// Four patches side by side through two projections.
struct downsampling {
    layer_context ctx;
    std::int64_t width;
    std::int64_t out;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("DownsampleMLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = 4 * width;
        tensor h = t.call("pre_norm", norm_module{norm_kind::layer, in}, x);
        h = t.call("act", gelu_module{}, t.call("linear_1", linear{in, in, true}, h));
        return t.call("linear_2", linear{in, out, true}, h);
    }
};

/// Merger rounds, the last one to the hidden size of the text model: full images first, then slices.
struct merger {
    layer_context ctx;
    const pictures_of& all;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Merger"); }
    constexpr tensor_pair forward(trace& t, const tensor& x) const {
        const tensor wholes = merge(t, x, all.wholes);
        if (all.slices.num_pictures == 0) return {wholes, {}};
        const recorder::shared_parameters_guard shared_parameters{t};
        return {wholes, merge(t, x, all.slices)};
    }
    constexpr tensor merge(trace& t, const tensor& x, const picture_group& group) const {
        const std::int64_t width = x.dim(2), last = ctx.model.family[rounds] - 1;
        std::int64_t rows = group.rows, columns = group.columns;
        tensor h = x.slice(1, group.patches());
        for (std::int64_t i = 0; i <= last; ++i) {
            const bool even = rows % 2 == 0 && columns % 2 == 0 && rows > 0 && columns > 0;
            if (!even && has_images(t))
                throw_description_error("merger_times: too many halvings of the patches along a side");
            if (!even) {
                h = trace::buffer({group.num_pictures, 2, 2, width});
                rows = columns = 2;
            }
            const shape squares{group.num_pictures, rows / 2, 2, columns / 2, 2, width};
            rows /= 2;
            columns /= 2;
            h = t.reshape(h.view(squares).permute({0, 1, 3, 2, 4, 5}),
                          {group.num_pictures * rows * columns, 4 * width});
            h = t.call({"mlp", i}, downsampling{ctx, width, i == last ? ctx.config.hidden_size : width}, h);
        }
        return h;
    }
};

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const pictures_of image = cut(m, load);
    std::int64_t reduction = m.family[fourfold] != 0 || m.family[insert_layer_id] < 0 ? 1 : 4;
    for (std::int64_t i = 0; i < m.family[rounds]; ++i) reduction *= 4;
    const std::int64_t patch = m.components[0].config.vision.patch_size,
                       thumbnail_tokens = image.wholes.patches() / reduction;
    return {.image = {.num_tokens = thumbnail_tokens +
                                    image.slices.num_pictures * (image.slices.rows * image.slices.columns / reduction),
                      .num_tiles = image.slices.num_pictures + 1,
                      .height = image.wholes.rows * patch,
                      .width = image.wholes.columns * patch,
                      .tile_rows = image.slices.rows,
                      .tile_columns = image.slices.columns}};
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        pictures_of all = cut(ctx.model, t.load(), images_in(t));
        if (states.dim(1) < all.patches()) all = all.halved();
        const tensor_pair made = t.call("merger", merger{ctx, all}, states);
        const tensor features =
            all.slices.num_pictures > 0 ? t.cat({made.first, made.second}, 0) : t.cat({made.first}, 0);
        (void)t.gather(token_embeddings, {features.dim(0) * features.dim(1)});  // image token positions, counted
        return t.masked_scatter(token_embeddings, features);
    });
}

constexpr void parse_config(config_view json, model& m) {
    m.family[insert_layer_id] = json.integer("insert_layer_id", 6);
    if (m.family[insert_layer_id] > max_input || m.family[insert_layer_id] < 0)
        throw_invalid_value(json, "insert_layer_id", "a layer of the tower");
    m.family[fourfold] = json.string("downsample_mode", m.family[fourfold] != 0 ? "4x" : "16x") == "4x" ? 1 : 0;
}

}  // namespace llmcost::image_slices
