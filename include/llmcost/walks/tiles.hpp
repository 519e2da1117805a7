// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/walks/media.hpp>

// How processors cut an image into tiles, and how squares of patches become one.
namespace llmcost {

/// Tiles of an image, below and beside each other.
struct tile_grid {
    std::int64_t rows = 1;
    std::int64_t columns = 1;

    [[nodiscard]] constexpr std::int64_t tiles() const noexcept { return rows * columns; }
};

/// The grid of `least` to `most` square tiles whose ratio of sides is closest to an image's; of those that are equally
/// close the one with most tiles, as long as these hold less than twice the image; at most so many along a side.
///
/// Source: transformers/models/got_ocr2/image_processing_got_ocr2.py, `get_optimal_tiled_canvas`.
[[nodiscard]] constexpr tile_grid closest_grid(std::int64_t height, std::int64_t width, std::int64_t side, std::int64_t least,
                                               std::int64_t most, std::int64_t along = INT64_MAX) {
    const double ratio = static_cast<double>(width) / static_cast<double>(height);
    const double area = static_cast<double>(width * height), tile = 0.5 * static_cast<double>(side * side);
    tile_grid best;
    double nearest = -1;  // none yet
    for (std::int64_t n = least; n <= most; ++n)
        for (std::int64_t columns = 1; columns <= n; ++columns) {
            if (n % columns != 0) continue;
            const std::int64_t rows = n / columns;
            if (rows > along || columns > along) continue;
            const double difference = ratio - static_cast<double>(columns) / static_cast<double>(rows);
            const double far = difference < 0 ? -difference : difference;
            if (nearest >= 0 && far > nearest) continue;
            if (nearest < 0 || far < nearest || area > tile * static_cast<double>(n)) best = {rows, columns};
            nearest = far;
        }
    return best;
}

/// The same with the whole image as one more tile, where there is more than one.
[[nodiscard]] constexpr std::int64_t with_whole(const tile_grid& grid) noexcept {
    return grid.tiles() > 1 ? grid.tiles() + 1 : 1;
}

/// Squares of `by` · `by` patches side by side: (B, rows · columns, width) -> (B, rows · columns / by², width · by²); two
/// copies.
///
/// Source: transformers/models/internvl/modeling_internvl.py, `pixel_shuffle`.
constexpr value shuffle_patches(trace& t, const value& x, std::int64_t rows, std::int64_t columns, std::int64_t by) {
    const std::int64_t batch = x.dim(0), width = x.dim(2);
    if (rows % by != 0 || columns % by != 0) {
        if (sees(t)) report_description("patches along a side do not come out even in squares");
        return trace::buffer({batch, rows / by * (columns / by), width * by * by});  // declared only
    }
    const value grid = t.reshape(x, {batch, rows, columns, width}).view({batch, rows, columns / by, width * by});
    const value beside = t.contiguous(grid.permute({0, 2, 1, 3}));
    const value below = beside.view({batch, columns / by, rows / by, width * by * by});
    return t.contiguous(below.permute({0, 2, 1, 3})).view({batch, rows * columns / (by * by), width * by * by});
}

/// Squares of patches side by side, (B, patches, width) -> (B, rows, columns, width · square); the last change of rows and
/// columns is a view.
///
/// Source: transformers/models/aya_vision/modeling_aya_vision.py, `pixel_shuffle`.
constexpr value squares_of_patches(trace& t, const value& x, std::int64_t rows, std::int64_t columns, std::int64_t by) {
    const std::int64_t batch = x.dim(0), width = x.dim(2);
    if (rows % by != 0 || columns % by != 0) {
        if (sees(t)) report_description("patches along a side do not come out even in squares");
        return trace::buffer({batch, rows / by, columns / by, width * by * by});  // declared only
    }
    const value grid = t.reshape(x, {batch, rows, columns, width});
    const value pairs = t.reshape(grid, {batch, rows, columns / by, width * by});
    const value squares = t.reshape(pairs.permute({0, 2, 1, 3}), {batch, columns / by, rows / by, width * by * by});
    return squares.permute({0, 2, 1, 3});
}

/// Shares of a side where one of `n` patches ends and the next begins: `len(torch.arange(1 / n, 1.0, 1 / n))`.
///
/// Source: transformers/models/idefics3/modeling_idefics3.py, `Idefics3VisionEmbeddings`.
[[nodiscard]] constexpr std::int64_t boundaries_between(std::int64_t n) noexcept {
    const double step = 1.0 / static_cast<double>(n), exact = (1.0 - step) / step;
    const std::int64_t whole = static_cast<std::int64_t>(exact);
    return static_cast<double>(whole) < exact ? whole + 1 : whole;
}

}  // namespace llmcost
