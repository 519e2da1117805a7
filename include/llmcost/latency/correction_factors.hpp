// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

namespace detail {

/// Printable, so that a table is a string in a file: from `#` to `~` without the backslash, and without vowels, so that
/// no words arise by chance.
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

/// One character of a residual: so many units of its site around the site's centre.
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

/// How measurements of a kernel deviate from its roofline: at sites (the sizes of weights, the heads of an attention)
/// along one or two axes (tokens, lengths), each on a logarithmic scale.
///
/// log2(measured / roofline) is (centre + unit · character) steps, with a centre and a unit for each site. It looks at
/// somebody else's memory: sites lie one behind the other in rising order, their characters in pages.
struct correction_table {
    double step = 0;          ///< log2 of a ratio
    std::size_t columns = 0;  ///< numbers of a site
    std::size_t num_layer_shapes = 0;
    const std::int64_t* centres = nullptr;
    const std::int64_t* units = nullptr;
    const std::int64_t* sites = nullptr;       ///< site_count · columns
    const double* octaves_of_sites = nullptr;  ///< log2 of those; where it is null they are worked out each time
    const std::int64_t* axis[2]{};             ///< rising
    std::size_t length[2]{0, 1};
    const string_ref* pages = nullptr;
    std::size_t sites_per_page = 1;

    /// A site among those that were measured: itself, or its nearest with their weights. Looking one up is what costs
    /// time.
    struct layer_shape_position {
        static constexpr std::size_t maximum = 4;
        std::size_t indices[maximum]{};
        double weight[maximum]{};
        std::size_t n = 0;
    };
    /// Where a site stands: at itself where it was measured. Else sites of one number (devices, columns) lie on a line:
    /// it is between two of them by octaves, or at the last. Others stand among the four nearest, weighted by the
    /// inverse cube of their distance in octaves, less the farther they are.
    [[nodiscard]] layer_shape_position find_position(const std::int64_t* layer_shape) const noexcept {
        layer_shape_position at;
        if (num_layer_shapes == 0) return at;
        const std::size_t found = find(layer_shape);
        if (found != num_layer_shapes) {
            at.indices[0] = found;
            at.weight[0] = 1;
            at.n = 1;
            return at;
        }
        if (columns == 1) return on_line(layer_shape[0]);
        double distance[layer_shape_position::maximum]{};
        const position origin(layer_shape, columns);
        for (std::size_t i = 0; i < num_layer_shapes; ++i) {
            const double d = octaves_to(origin, i);
            if (at.n == at.maximum && d >= distance[at.maximum - 1]) continue;
            std::size_t place = at.n < at.maximum ? at.n++ : at.maximum - 1;
            for (; place > 0 && distance[place - 1] > d; --place) {
                distance[place] = distance[place - 1];
                at.indices[place] = at.indices[place - 1];
            }
            distance[place] = d;
            at.indices[place] = i;
        }
        double weights = 0;
        for (std::size_t i = 0; i < at.n; ++i) {
            at.weight[i] = 1 / (distance[i] * distance[i] * distance[i] + 1e-9);
            weights += at.weight[i];
        }
        constexpr double reach = 2;  // octaves within which a neighbour tells anything
        const double fade = distance[0] < reach ? 1 - distance[0] / reach : 0;
        for (std::size_t i = 0; i < at.n; ++i) at.weight[i] *= fade / weights;
        return at;
    }
    /// log2(time / roofline) at a place: interpolated along the axes, held beyond their ends.
    [[nodiscard]] double operator()(const layer_shape_position& position, const std::int64_t* at) const noexcept {
        if (position.n == 0) return 0;
        const place a = place_of(0, at[0]), b = length[1] > 1 ? place_of(1, at[1]) : place{};
        double sum = 0;
        for (std::size_t i = 0; i < position.n; ++i)
            if (position.weight[i] != 0) sum += position.weight[i] * interpolate_along_axes(position.indices[i], a, b);
        return sum;
    }
    [[nodiscard]] double operator()(const std::int64_t* layer_shape, const std::int64_t* at) const noexcept {
        return (*this)(find_position(layer_shape), at);
    }
    /// Whether a site was measured itself, or nothing says how sites differ.
    [[nodiscard]] bool has(const std::int64_t* layer_shape) const noexcept {
        return num_layer_shapes == 0 || find(layer_shape) != num_layer_shapes;
    }
    /// Octaves from a site to the nearest that was measured.
    [[nodiscard]] double distance(const std::int64_t* layer_shape) const noexcept {
        const position origin(layer_shape, columns);
        double minimum = num_layer_shapes == 0 ? 64 : octaves_to(origin, 0);
        for (std::size_t i = 1; i < num_layer_shapes && minimum > 0; ++i) {
            const double octaves = octaves_to(origin, i);
            if (octaves < minimum) minimum = octaves;
        }
        return minimum;
    }
    /// The measured places around one along an axis, and the share of the upper one in octaves; itself beyond the ends.
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
        layer_shape_position at;
        at.n = 1;
        at.weight[0] = 1;
        at.indices[0] = above == 0 ? 0 : above - 1;
        if (above == 0 || above == num_layer_shapes) return at;
        const double low = octave(sites[above - 1]), share = (octave(n) - low) / (octave(sites[above]) - low);
        at.n = 2;
        at.weight[0] = 1 - share;
        at.indices[1] = above;
        at.weight[1] = share;
        return at;
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
    /// A site on logarithmic scales.
    struct position {
        double at[max_columns]{};
        position(const std::int64_t* layer_shape, std::size_t columns) noexcept {
            for (std::size_t i = 0; i < columns; ++i) at[i] = octave(layer_shape[i]);
        }
    };
    [[nodiscard]] double octaves_to(const position& origin, std::size_t shape_index) const noexcept {
        double sum = 0;
        for (std::size_t i = 0; i < columns; ++i) {
            const std::size_t k = shape_index * columns + i;
            sum += std::fabs(origin.at[i] - (octaves_of_sites != nullptr ? octaves_of_sites[k] : octave(sites[k])));
        }
        return sum;
    }
    static double octave(std::int64_t n) noexcept { return std::log2(static_cast<double>(n < 1 ? 1 : n)); }

    struct place {
        std::size_t low = 0;
        double share = 0;  ///< of the next one
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
