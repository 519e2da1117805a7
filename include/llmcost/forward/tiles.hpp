// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/multimodal.hpp>

// Image tiling of processors, and merging of patches (pixel shuffle).
namespace llmcost {

/// Number of rows and columns of image tiles.
struct tile_grid {
    std::int64_t rows = 1;
    std::int64_t columns = 1;

    [[nodiscard]] constexpr std::int64_t tiles() const noexcept { return rows * columns; }
};

/// The grid of `minimum` to `maximum` square tiles whose aspect ratio is closest to that of the image.
///
/// Among equally close grids, it has the most tiles, if these have less than twice the area of the image.
/// `max_tiles_per_side` limits rows and columns.
///
/// Source: transformers/models/got_ocr2/image_processing_got_ocr2.py, `get_optimal_tiled_canvas`.
[[nodiscard]] constexpr tile_grid closest_grid(std::int64_t height, std::int64_t width, std::int64_t side,
                                               std::int64_t minimum, std::int64_t maximum,
                                               std::int64_t max_tiles_per_side = INT64_MAX) {
    const double ratio = static_cast<double>(width) / static_cast<double>(height);
    const double area = static_cast<double>(width * height), tile = 0.5 * static_cast<double>(side * side);
    tile_grid best;
    double nearest = -1;  // no grid yet
    for (std::int64_t n = minimum; n <= maximum; ++n)
        for (std::int64_t columns = 1; columns <= n; ++columns) {
            if (n % columns != 0) continue;
            const std::int64_t rows = n / columns;
            if (rows > max_tiles_per_side || columns > max_tiles_per_side) continue;
            const double difference = ratio - static_cast<double>(columns) / static_cast<double>(rows);
            const double distance = difference < 0 ? -difference : difference;
            if (nearest >= 0 && distance > nearest) continue;
            if (nearest < 0 || distance < nearest || area > tile * static_cast<double>(n)) best = {rows, columns};
            nearest = distance;
        }
    return best;
}

/// Number of tiles, plus a thumbnail of the image if there is more than one.
[[nodiscard]] constexpr std::int64_t add_thumbnail(const tile_grid& grid) noexcept {
    return grid.tiles() > 1 ? grid.tiles() + 1 : 1;
}

/// Merges squares of patches: (B, rows · columns, width) -> (B, rows · columns / f², width · f²), f = scale_factor.
///
/// Two copies. Throws: `description_error` if rows or columns are no multiple of f.
///
/// Source: transformers/models/internvl/modeling_internvl.py, `pixel_shuffle`.
constexpr tensor shuffle_patches(trace& t, const tensor& x, std::int64_t rows, std::int64_t columns,
                                 std::int64_t scale_factor) {
    const std::int64_t batch = x.dim(0), width = x.dim(2);
    if (rows % scale_factor != 0 || columns % scale_factor != 0) {
        if (has_vision_inputs(t))
            throw_description_error("the number of patches per side is not a multiple of the pixel shuffle factor");
        return trace::buffer({batch, rows / scale_factor * (columns / scale_factor),
                              width * scale_factor * scale_factor});  // not executed
    }
    const tensor grid =
        t.reshape(x, {batch, rows, columns, width}).view({batch, rows, columns / scale_factor, width * scale_factor});
    const tensor column_merged = t.contiguous(grid.permute({0, 2, 1, 3}));
    const tensor below =
        column_merged.view({batch, columns / scale_factor, rows / scale_factor, width * scale_factor * scale_factor});
    return t.contiguous(below.permute({0, 2, 1, 3}))
        .view({batch, rows * columns / (scale_factor * scale_factor), width * scale_factor * scale_factor});
}

/// Merges squares of patches: (B, rows · columns, width) -> (B, rows / f, columns / f, width · f²), f = scale_factor.
///
/// The last permutation is a view. Throws: `description_error` if rows or columns are no multiple of f.
///
/// Source: transformers/models/aya_vision/modeling_aya_vision.py, `pixel_shuffle`.
constexpr tensor merge_patches(trace& t, const tensor& x, std::int64_t rows, std::int64_t columns,
                               std::int64_t scale_factor) {
    const std::int64_t batch = x.dim(0), width = x.dim(2);
    if (rows % scale_factor != 0 || columns % scale_factor != 0) {
        if (has_vision_inputs(t))
            throw_description_error("the number of patches per side is not a multiple of the pixel shuffle factor");
        return trace::buffer(
            {batch, rows / scale_factor, columns / scale_factor, width * scale_factor * scale_factor});  // not executed
    }
    const tensor grid = t.reshape(x, {batch, rows, columns, width});
    const tensor pairs = t.reshape(grid, {batch, rows, columns / scale_factor, width * scale_factor});
    const tensor squares = t.reshape(pairs.permute({0, 2, 1, 3}), {batch, columns / scale_factor, rows / scale_factor,
                                                                   width * scale_factor * scale_factor});
    return squares.permute({0, 2, 1, 3});
}

/// Number of boundaries between `n` patches, `len(torch.arange(1 / n, 1.0, 1 / n))`.
///
/// Source: transformers/models/idefics3/modeling_idefics3.py, `Idefics3VisionEmbeddings`.
[[nodiscard]] constexpr std::int64_t num_boundaries(std::int64_t n) noexcept {
    const double step = 1.0 / static_cast<double>(n), exact = (1.0 - step) / step;
    const std::int64_t truncated = static_cast<std::int64_t>(exact);
    return static_cast<double>(truncated) < exact ? truncated + 1 : truncated;
}

}  // namespace llmcost
