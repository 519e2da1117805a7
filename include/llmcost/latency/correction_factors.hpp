// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

namespace detail {

/// Printable characters without the backslash, so that a table is a JSON string. No vowels, so that no words appear.
inline constexpr char correction_alphabet[] =
    "#$%&'()*+,-./0123456789:;<=>?@BCDFGHJKLMNPQRSTVWXYZ[]^_`bcdfghjklmnpqrstvwxyz{|}~";

struct correction_code_table {
    static constexpr std::uint8_t nowhere = 255;
    std::uint8_t codes[256];
    constexpr correction_code_table() noexcept : codes() {
        for (std::uint8_t& place : codes) place = nowhere;
        for (std::uint8_t i = 0; i + 1U < sizeof correction_alphabet; ++i)
            codes[static_cast<unsigned char>(correction_alphabet[i])] = i;
    }
};
inline constexpr correction_code_table places_in_alphabet{};

}  // namespace detail

/// One character of a correction table: an integer number of units relative to the center of a layer shape.
struct correction_code {
    static constexpr int max_units = sizeof detail::correction_alphabet / 2 - 1;

    static constexpr char encode(std::int64_t units) noexcept {
        return detail::correction_alphabet[(units < -max_units  ? -max_units
                                            : units > max_units ? max_units
                                                                : units) +
                                           max_units];
    }
    static constexpr int units(char c) noexcept { return place_of(c) - max_units; }
    static constexpr bool is_one(char c) noexcept { return place_of(c) != detail::correction_code_table::nowhere; }

private:
    static constexpr int place_of(char c) noexcept {
        return detail::places_in_alphabet.codes[static_cast<unsigned char>(c)];
    }
};
static_assert(correction_code::max_units == 40);

/// Measured deviations of a kernel from its roofline, for layer shapes (sizes of weights, heads) and one or two axes.
///
/// All scales are logarithmic. `log2(measured / roofline) = step * (center + unit * code)`, with a center and a unit
/// per layer shape. A non-owning view: layer shapes are sorted and contiguous, their codes are in pages.
struct correction_table {
    double step = 0;          ///< log2 of a ratio
    std::size_t columns = 0;  ///< sizes of a layer shape
    std::size_t num_layer_shapes = 0;
    const std::int64_t* centres = nullptr;
    const std::int64_t* units = nullptr;
    const std::int64_t* sites = nullptr;       ///< num_layer_shapes · columns
    const double* octaves_of_sites = nullptr;  ///< log2 of `sites`; null: computed at each access
    const std::int64_t* axis[2]{};             ///< ascending
    std::size_t length[2]{0, 1};
    const string_ref* pages = nullptr;
    std::size_t sites_per_page = 1;

    /// A layer shape in terms of measured ones: itself, or its nearest ones with weights. Expensive to compute.
    struct layer_shape_position {
        static constexpr std::size_t maximum = 4;
        std::size_t indices[maximum]{};
        double weight[maximum]{};
        std::size_t n = 0;
    };
    /// The position of a layer shape.
    ///
    /// A measured shape has only itself. A shape of one size (devices, columns) is interpolated in octaves between two
    /// measured ones, or is the nearest end. Any other shape is the mean of the four nearest, weighted by the inverse
    /// cube of the distance in octaves. The weights decrease to 0 with the distance of the nearest shape.
    [[nodiscard]] layer_shape_position find_position(const std::int64_t* layer_shape) const noexcept {
        layer_shape_position result;
        if (num_layer_shapes == 0) return result;
        const std::size_t found = find(layer_shape);
        if (found != num_layer_shapes) {
            result.indices[0] = found;
            result.weight[0] = 1;
            result.n = 1;
            return result;
        }
        if (columns == 1) return on_line(layer_shape[0]);
        double distance[layer_shape_position::maximum]{};
        const position origin(layer_shape, columns);
        for (std::size_t i = 0; i < num_layer_shapes; ++i) {
            const double d = octaves_to(origin, i);
            if (result.n == result.maximum && d >= distance[result.maximum - 1]) continue;
            std::size_t place = result.n < result.maximum ? result.n++ : result.maximum - 1;
            for (; place > 0 && distance[place - 1] > d; --place) {
                distance[place] = distance[place - 1];
                result.indices[place] = result.indices[place - 1];
            }
            distance[place] = d;
            result.indices[place] = i;
        }
        double weights = 0;
        for (std::size_t i = 0; i < result.n; ++i) {
            result.weight[i] = 1 / (distance[i] * distance[i] * distance[i] + 1e-9);
            weights += result.weight[i];
        }
        constexpr double reach = 2;  // octaves within which a neighbor is relevant
        const double fade = distance[0] < reach ? 1 - distance[0] / reach : 0;
        for (std::size_t i = 0; i < result.n; ++i) result.weight[i] *= fade / weights;
        return result;
    }
    /// log2(time / roofline): interpolated along the axes, constant beyond their ends.
    [[nodiscard]] double operator()(const layer_shape_position& position, const std::int64_t* sizes) const noexcept {
        if (position.n == 0) return 0;
        const place a = place_of(0, sizes[0]), b = length[1] > 1 ? place_of(1, sizes[1]) : place{};
        double sum = 0;
        for (std::size_t i = 0; i < position.n; ++i)
            if (position.weight[i] != 0) sum += position.weight[i] * interpolate_along_axes(position.indices[i], a, b);
        return sum;
    }
    [[nodiscard]] double operator()(const std::int64_t* layer_shape, const std::int64_t* sizes) const noexcept {
        return (*this)(find_position(layer_shape), sizes);
    }
    /// Whether a layer shape was measured, or the table has no layer shapes.
    [[nodiscard]] bool has(const std::int64_t* layer_shape) const noexcept {
        return num_layer_shapes == 0 || find(layer_shape) != num_layer_shapes;
    }
    /// Octaves to the nearest measured layer shape.
    [[nodiscard]] double distance(const std::int64_t* layer_shape) const noexcept {
        const position origin(layer_shape, columns);
        double minimum = num_layer_shapes == 0 ? 64 : octaves_to(origin, 0);
        for (std::size_t i = 1; i < num_layer_shapes && minimum > 0; ++i) {
            const double octaves = octaves_to(origin, i);
            if (octaves < minimum) minimum = octaves;
        }
        return minimum;
    }
    /// The measured sizes around a size of an axis, and the weight of the upper one; the size itself beyond the ends.
    struct bracket {
        std::int64_t low = 0;
        std::int64_t high = 0;
        double share = 0;
    };
    [[nodiscard]] bracket interpolate(std::size_t a, std::int64_t n) const noexcept {
        if (length[a] < 2 || n <= axis[a][0] || n >= axis[a][length[a] - 1]) return {n, n, 0};
        const place p = place_of(a, n);
        return p.share == 0 ? bracket{n, n, 0} : bracket{axis[a][p.low], axis[a][p.low + 1], p.share};
    }

private:
    [[nodiscard]] layer_shape_position on_line(std::int64_t n) const noexcept {
        std::size_t above = 0;
        while (above < num_layer_shapes && sites[above] < n) ++above;
        layer_shape_position result;
        result.n = 1;
        result.weight[0] = 1;
        result.indices[0] = above == 0 ? 0 : above - 1;
        if (above == 0 || above == num_layer_shapes) return result;
        const double low = octave(sites[above - 1]), share = (octave(n) - low) / (octave(sites[above]) - low);
        result.n = 2;
        result.weight[0] = 1 - share;
        result.indices[1] = above;
        result.weight[1] = share;
        return result;
    }
    [[nodiscard]] std::size_t find(const std::int64_t* layer_shape) const noexcept {
        std::size_t low = 0, high = num_layer_shapes;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            const int order = compare(sites + middle * columns, layer_shape);
            if (order == 0) return middle;
            (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
        }
        return num_layer_shapes;
    }
    [[nodiscard]] int compare(const std::int64_t* a, const std::int64_t* b) const noexcept {
        for (std::size_t i = 0; i < columns; ++i)
            if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
        return 0;
    }
    static constexpr std::size_t max_columns = 8;
    /// The log2 sizes of a layer shape.
    struct position {
        double octaves[max_columns]{};
        position(const std::int64_t* layer_shape, std::size_t columns) noexcept {
            for (std::size_t i = 0; i < columns; ++i) octaves[i] = octave(layer_shape[i]);
        }
    };
    [[nodiscard]] double octaves_to(const position& origin, std::size_t shape_index) const noexcept {
        double sum = 0;
        for (std::size_t i = 0; i < columns; ++i) {
            const std::size_t k = shape_index * columns + i;
            sum +=
                std::fabs(origin.octaves[i] - (octaves_of_sites != nullptr ? octaves_of_sites[k] : octave(sites[k])));
        }
        return sum;
    }
    static double octave(std::int64_t n) noexcept { return std::log2(static_cast<double>(n < 1 ? 1 : n)); }

    struct place {
        std::size_t low = 0;
        double share = 0;  ///< weight of the next size
    };
    [[nodiscard]] place place_of(std::size_t a, std::int64_t n) const noexcept {
        const std::int64_t* values = axis[a];
        if (length[a] < 2 || n <= values[0]) return {};
        if (n >= values[length[a] - 1]) return {length[a] - 2, 1};
        std::size_t low = 0, high = length[a] - 1;
        while (high - low > 1) {
            const std::size_t middle = low + (high - low) / 2;
            (values[middle] <= n ? low : high) = middle;
        }
        if (n == values[low]) return {low, 0};
        return {low, (octave(n) - octave(values[low])) / (octave(values[high]) - octave(values[low]))};
    }
    [[nodiscard]] double interpolate_along_axes(std::size_t shape_index, const place& a,
                                                const place& b) const noexcept {
        const std::size_t cells = length[0] * length[1];
        const char* shape_codes = pages[shape_index / sites_per_page].data() + shape_index % sites_per_page * cells;
        const auto cell = [&](std::size_t i, std::size_t j) {
            return static_cast<double>(correction_code::units(shape_codes[i * length[1] + j]));
        };
        const auto row = [&](std::size_t i) {
            return b.share == 0 ? cell(i, b.low) : cell(i, b.low) * (1 - b.share) + cell(i, b.low + 1) * b.share;
        };
        const double interpolated_units =
            a.share == 0 ? row(a.low) : row(a.low) * (1 - a.share) + row(a.low + 1) * a.share;
        return step * (static_cast<double>(centres[shape_index]) +
                       static_cast<double>(units[shape_index]) * interpolated_units);
    }
};

}  // namespace llmcost
