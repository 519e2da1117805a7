// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>

namespace llmcost {

namespace detail {

/// Printable, so that a table is a string in a file: from `#` to `~` without the backslash, and without vowels, so that no
/// words arise by chance.
inline constexpr char residual_alphabet[] =
    "#$%&'()*+,-./0123456789:;<=>?@BCDFGHJKLMNPQRSTVWXYZ[]^_`bcdfghjklmnpqrstvwxyz{|}~";

struct residual_places {
    static constexpr std::uint8_t nowhere = 255;
    std::uint8_t of[256];
    constexpr residual_places() noexcept : of() {
        for (std::uint8_t& place : of) place = nowhere;
        for (std::uint8_t i = 0; i + 1U < sizeof residual_alphabet; ++i)
            of[static_cast<unsigned char>(residual_alphabet[i])] = i;
    }
};
inline constexpr residual_places places_in_alphabet{};

}  // namespace detail

/// One character of a residual: so many units of its site around the site's centre.
struct residual_character {
    static constexpr int most = sizeof detail::residual_alphabet / 2 - 1;

    static constexpr char from(std::int64_t units) noexcept {
        return detail::residual_alphabet[(units < -most ? -most : units > most ? most : units) + most];
    }
    static constexpr int units(char c) noexcept { return place_of(c) - most; }
    static constexpr bool is_one(char c) noexcept { return place_of(c) != detail::residual_places::nowhere; }

private:
    static constexpr int place_of(char c) noexcept { return detail::places_in_alphabet.of[static_cast<unsigned char>(c)]; }
};
static_assert(residual_character::most == 40);

/// How measurements of a kernel deviate from its roofline: at sites (the sizes of weights, the heads of an attention) along
/// one or two axes (tokens, lengths), each on a logarithmic scale.
///
/// log2(measured / roofline) is (centre + unit · character) steps, with a centre and a unit for each site. It looks at
/// somebody else's memory: sites lie one behind the other in rising order, their characters in pages.
struct residual_table {
    double step = 0;          ///< log2 of a ratio
    std::size_t columns = 0;  ///< numbers of a site
    std::size_t site_count = 0;
    const std::int64_t* centres = nullptr;
    const std::int64_t* units = nullptr;
    const std::int64_t* sites = nullptr;       ///< site_count · columns
    const double* octaves_of_sites = nullptr;  ///< log2 of those; where it is null they are worked out each time
    const std::int64_t* axis[2]{};             ///< rising
    std::size_t length[2]{0, 1};
    const string_ref* pages = nullptr;
    std::size_t sites_per_page = 1;

    /// A site among those that were measured: itself, or its nearest with their weights. Looking one up is what costs time.
    struct place_of_site {
        static constexpr std::size_t most = 4;
        std::size_t site[most]{};
        double weight[most]{};
        std::size_t n = 0;
    };
    /// Where a site stands: at itself where it was measured. Else sites of one number (devices, columns) lie on a line: it
    /// is between two of them by octaves, or at the last. Others stand among the four nearest, weighted by the inverse cube
    /// of their distance in octaves, less the farther they are.
    [[nodiscard]] place_of_site locate(const std::int64_t* site) const noexcept {
        place_of_site at;
        if (site_count == 0) return at;
        const std::size_t found = find(site);
        if (found != site_count) {
            at.site[0] = found, at.weight[0] = 1, at.n = 1;
            return at;
        }
        if (columns == 1) return on_line(site[0]);
        double distance[place_of_site::most]{};
        const position here(site, columns);
        for (std::size_t i = 0; i < site_count; ++i) {
            const double d = octaves_to(here, i);
            if (at.n == at.most && d >= distance[at.most - 1]) continue;
            std::size_t place = at.n < at.most ? at.n++ : at.most - 1;
            for (; place > 0 && distance[place - 1] > d; --place)
                distance[place] = distance[place - 1], at.site[place] = at.site[place - 1];
            distance[place] = d, at.site[place] = i;
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
    [[nodiscard]] double operator()(const place_of_site& where, const std::int64_t* at) const noexcept {
        if (where.n == 0) return 0;
        const place a = place_of(0, at[0]), b = length[1] > 1 ? place_of(1, at[1]) : place{};
        double sum = 0;
        for (std::size_t i = 0; i < where.n; ++i)
            if (where.weight[i] != 0) sum += where.weight[i] * along_axes(where.site[i], a, b);
        return sum;
    }
    [[nodiscard]] double operator()(const std::int64_t* site, const std::int64_t* at) const noexcept {
        return (*this)(locate(site), at);
    }
    /// Whether a site was measured itself, or nothing says how sites differ.
    [[nodiscard]] bool has(const std::int64_t* site) const noexcept { return site_count == 0 || find(site) != site_count; }
    /// Octaves from a site to the nearest that was measured.
    [[nodiscard]] double distance(const std::int64_t* site) const noexcept {
        const position from(site, columns);
        double least = site_count == 0 ? 64 : octaves_to(from, 0);
        for (std::size_t i = 1; i < site_count && least > 0; ++i) {
            const double here = octaves_to(from, i);
            if (here < least) least = here;
        }
        return least;
    }
    /// The measured places around one along an axis, and the share of the upper one in octaves; itself beyond the ends.
    struct bracket {
        std::int64_t low = 0;
        std::int64_t high = 0;
        double share = 0;
    };
    [[nodiscard]] bracket around(std::size_t a, std::int64_t n) const noexcept {
        if (length[a] < 2 || n <= axis[a][0] || n >= axis[a][length[a] - 1]) return {n, n, 0};
        const place p = place_of(a, n);
        return p.share == 0 ? bracket{n, n, 0} : bracket{axis[a][p.low], axis[a][p.low + 1], p.share};
    }

private:
    [[nodiscard]] place_of_site on_line(std::int64_t n) const noexcept {
        std::size_t above = 0;
        while (above < site_count && sites[above] < n) ++above;
        place_of_site at;
        at.n = 1, at.weight[0] = 1, at.site[0] = above == 0 ? 0 : above - 1;
        if (above == 0 || above == site_count) return at;
        const double low = octave(sites[above - 1]), share = (octave(n) - low) / (octave(sites[above]) - low);
        at.n = 2, at.weight[0] = 1 - share, at.site[1] = above, at.weight[1] = share;
        return at;
    }
    [[nodiscard]] std::size_t find(const std::int64_t* site) const noexcept {
        std::size_t low = 0, high = site_count;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            const int order = compare(sites + middle * columns, site);
            if (order == 0) return middle;
            (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
        }
        return site_count;
    }
    [[nodiscard]] int compare(const std::int64_t* a, const std::int64_t* b) const noexcept {
        for (std::size_t i = 0; i < columns; ++i)
            if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
        return 0;
    }
    static constexpr std::size_t most_columns = 8;
    /// A site on logarithmic scales.
    struct position {
        double at[most_columns]{};
        position(const std::int64_t* site, std::size_t columns) noexcept {
            for (std::size_t i = 0; i < columns; ++i) at[i] = octave(site[i]);
        }
    };
    [[nodiscard]] double octaves_to(const position& from, std::size_t site) const noexcept {
        double sum = 0;
        for (std::size_t i = 0; i < columns; ++i) {
            const std::size_t k = site * columns + i;
            sum += std::fabs(from.at[i] - (octaves_of_sites != nullptr ? octaves_of_sites[k] : octave(sites[k])));
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
    [[nodiscard]] double along_axes(std::size_t site, const place& a, const place& b) const noexcept {
        const std::size_t cells = length[0] * length[1];
        const char* of_site = pages[site / sites_per_page].data() + site % sites_per_page * cells;
        const auto cell = [&](std::size_t i, std::size_t j) {
            return static_cast<double>(residual_character::units(of_site[i * length[1] + j]));
        };
        const auto row = [&](std::size_t i) {
            return b.share == 0 ? cell(i, b.low) : cell(i, b.low) * (1 - b.share) + cell(i, b.low + 1) * b.share;
        };
        const double units_here = a.share == 0 ? row(a.low) : row(a.low) * (1 - a.share) + row(a.low + 1) * a.share;
        return step * (static_cast<double>(centres[site]) + static_cast<double>(units[site]) * units_here);
    }
};

}  // namespace llmcost
