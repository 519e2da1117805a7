// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <llmcost/latency/roofline.hpp>

namespace llmcost {

/// A measurement of a kernel, with its seconds at the peak and bandwidth of the datasheet.
struct timing {
    double compute = 0;
    double memory = 0;
    double measured = 0;
};

namespace detail {

using roofline_point = std::array<double, 4>;  // logarithms of the four parameters

inline roofline roofline_at(const roofline_point& p, double min_launch_seconds) {
    const auto clamp_exp = [](double x, double low, double high) { return std::clamp(std::exp(x), low, high); };
    return {clamp_exp(p[0], min_launch_seconds, 1e-3), clamp_exp(p[1], 0.02, 1), clamp_exp(p[2], 0.02, 2.5),
            clamp_exp(p[3], 0.5, 8)};
}

/// Mean soft absolute value of log(predicted / measured), robust against outliers.
inline double roofline_loss(const std::vector<timing>& timings, const roofline_point& p, double min_launch_seconds) {
    constexpr double soft = 0.1;
    const roofline r = roofline_at(p, min_launch_seconds);
    double sum = 0;
    for (const timing& t : timings) {
        const double deviation = std::log(r(t.compute, t.memory) / t.measured) / soft;
        sum += std::sqrt(1 + deviation * deviation) - 1;
    }
    return sum / static_cast<double>(timings.size());
}

/// The Nelder-Mead simplex method from one start (The Computer Journal 7, 1965).
template <class Loss>
roofline_point simplex_minimum(const Loss& loss, const roofline_point& start) {
    struct vertex {
        roofline_point at{};
        double value = 0;
    };
    std::array<vertex, 5> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].at = start;
        if (i > 0) all[i].at[i - 1] += 0.4;
        all[i].value = loss(all[i].at);
    }
    for (int step = 0; step < 500; ++step) {
        std::sort(all.begin(), all.end(), [](const vertex& a, const vertex& b) { return a.value < b.value; });
        if (all.back().value - all.front().value < 1e-9) break;
        roofline_point centre{};
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < 4; ++k) centre[k] += all[i].at[k] / 4;
        const auto make_vertex = [&](double factor) {
            vertex v;
            for (std::size_t k = 0; k < 4; ++k) v.at[k] = centre[k] + factor * (all.back().at[k] - centre[k]);
            v.value = loss(v.at);
            return v;
        };
        const vertex reflected = make_vertex(-1);
        if (reflected.value < all.front().value) {
            const vertex expanded = make_vertex(-2);
            all.back() = expanded.value < reflected.value ? expanded : reflected;
        } else if (reflected.value < all[3].value) {
            all.back() = reflected;
        } else {
            const vertex contracted = make_vertex(reflected.value < all.back().value ? -0.5 : 0.5);
            if (contracted.value < std::min(reflected.value, all.back().value)) {
                all.back() = contracted;
            } else {
                for (std::size_t i = 1; i < all.size(); ++i) {
                    for (std::size_t k = 0; k < 4; ++k) all[i].at[k] = (all[i].at[k] + all[0].at[k]) / 2;
                    all[i].value = loss(all[i].at);
                }
            }
        }
    }
    return std::min_element(all.begin(), all.end(), [](const vertex& a, const vertex& b) { return a.value < b.value; })
        ->at;
}

}  // namespace detail

/// Fits a roofline: minimal soft absolute error of logarithms, from three starts.
///
/// Uses at most `max_seconds` measurements, evenly spaced. Returns the default for none.
/// `min_launch_seconds`: a lower bound from another source, as long times alone do not determine the launch.
[[nodiscard]] inline roofline fit_roofline(const std::vector<timing>& timings, std::size_t max_seconds = 4000,
                                           double min_launch_seconds = 1e-7) {
    if (timings.empty()) return {};
    std::vector<timing> sample;
    const std::size_t n = std::min(max_seconds, timings.size());
    for (std::size_t i = 0; i < n; ++i) sample.push_back(timings[i * timings.size() / n]);
    const auto loss = [&](const detail::roofline_point& p) {
        return detail::roofline_loss(sample, p, min_launch_seconds);
    };
    detail::roofline_point best{};
    double minimum = INFINITY;
    for (const roofline& start :
         {roofline{4e-6, 0.7, 0.8, 2.5}, roofline{2e-5, 0.5, 0.5, 1}, roofline{5e-5, 0.3, 1, 4}}) {
        const detail::roofline_point initial{std::log(start.launch), std::log(start.compute_efficiency),
                                             std::log(start.bandwidth_efficiency), std::log(start.smoothness)};
        const detail::roofline_point found = detail::simplex_minimum(loss, initial);
        if (loss(found) < minimum) {
            minimum = loss(found);
            best = found;
        }
    }
    return detail::roofline_at(best, min_launch_seconds);
}

/// Isotonic regression: the nearest monotonic sequence in the mean square. Pools adjacent violators.
[[nodiscard]] inline std::vector<double> make_monotonic(const std::vector<double>& values) {
    struct pool {
        double mean = 0;
        std::size_t size = 0;
    };
    std::vector<pool> pools;
    for (const double v : values) {
        pools.push_back({v, 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
            const pool last = pools.back();
            pools.pop_back();
            pool& previous = pools.back();
            const auto a = static_cast<double>(previous.size), b = static_cast<double>(last.size);
            previous = {(previous.mean * a + last.mean * b) / (a + b), previous.size + last.size};
        }
    }
    std::vector<double> out;
    for (const pool& p : pools) out.insert(out.end(), p.size, p.mean);
    return out;
}

/// A grid of `rows` rows that is monotonic along both axes, near in the mean square.
///
/// Projects on both axes in turn. Raises remaining violations to the largest preceding value.
[[nodiscard]] inline std::vector<double> make_monotonic(std::vector<double> grid, std::size_t rows) {
    const std::size_t columns = rows == 0 ? 0 : grid.size() / rows;
    const auto project = [&](std::size_t lines, std::size_t length, std::size_t line_step, std::size_t step) {
        std::vector<double> line(length);
        for (std::size_t i = 0; i < lines; ++i) {
            for (std::size_t k = 0; k < length; ++k) line[k] = grid[i * line_step + k * step];
            line = make_monotonic(line);
            for (std::size_t k = 0; k < length; ++k) grid[i * line_step + k * step] = line[k];
        }
    };
    for (int iteration = 0; iteration < (rows > 1 && columns > 1 ? 16 : 1); ++iteration) {
        project(columns, rows, 1, columns);
        project(rows, columns, columns, 1);
    }
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < columns; ++k) {
            double& at = grid[i * columns + k];
            if (i > 0) at = std::max(at, grid[(i - 1) * columns + k]);
            if (k > 0) at = std::max(at, grid[i * columns + k - 1]);
        }
    return grid;
}

}  // namespace llmcost
