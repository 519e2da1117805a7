// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
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

/// The Nelder-Mead simplex method from one start (The Computer Journal 7, 1965).
template <class Loss>
roofline_point simplex_minimum(const Loss& loss, const roofline_point& start) {
    struct vertex {
        roofline_point point{};
        double value = 0;
    };
    std::array<vertex, 5> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].point = start;
        if (i > 0) all[i].point[i - 1] += 0.4;
        all[i].value = loss(all[i].point);
    }
    for (int step = 0; step < 500; ++step) {
        std::sort(all.begin(), all.end(), [](const vertex& a, const vertex& b) { return a.value < b.value; });
        if (all.back().value - all.front().value < 1e-9) break;
        roofline_point centre{};
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < 4; ++k) centre[k] += all[i].point[k] / 4;
        const auto make_vertex = [&](double factor) {
            vertex v;
            for (std::size_t k = 0; k < 4; ++k) v.point[k] = centre[k] + factor * (all.back().point[k] - centre[k]);
            v.value = loss(v.point);
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
                    for (std::size_t k = 0; k < 4; ++k) all[i].point[k] = (all[i].point[k] + all[0].point[k]) / 2;
                    all[i].value = loss(all[i].point);
                }
            }
        }
    }
    return std::min_element(all.begin(), all.end(), [](const vertex& a, const vertex& b) { return a.value < b.value; })
        ->point;
}

}  // namespace detail

/// Fits a roofline: minimal soft absolute error of logarithms, from three starts.
///
/// Uses at most `max_seconds` measurements, evenly spaced. Returns the default for none.
/// `min_launch_seconds`: a lower bound from another source, as long times alone do not determine the launch.
/// `max_compute_efficiency`: above 1 for work at typical rates, which a device can exceed (`has_critical_path`).
[[nodiscard]] roofline fit_roofline(const std::vector<timing>& timings, std::size_t max_seconds = 4000,
                                    double min_launch_seconds = 1e-7, double max_compute_efficiency = 1);

/// Isotonic regression: the nearest monotonic sequence in the mean square. Pools adjacent violators.
[[nodiscard]] std::vector<double> make_monotonic(const std::vector<double>& values);

/// A grid of `rows` rows that is monotonic along both axes, near in the mean square.
///
/// Projects on both axes in turn. Raises remaining violations to the largest preceding value.
[[nodiscard]] std::vector<double> make_monotonic(std::vector<double> grid, std::size_t rows);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/kernels/impl/fit.ipp>  // IWYU pragma: export
#endif
