// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/kernels/fit.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/latency/roofline.hpp>

namespace llmcost::detail {

LLMCOST_INLINE roofline roofline_at(const roofline_point& p, double min_launch_seconds, double max_compute_efficiency) {
    const auto clamp_exp = [](double x, double low, double high) { return std::clamp(std::exp(x), low, high); };
    return {clamp_exp(p[0], min_launch_seconds, 1e-3), clamp_exp(p[1], 0.02, max_compute_efficiency),
            clamp_exp(p[2], 0.02, 2.5), clamp_exp(p[3], 0.5, 8)};
}

/// Mean soft absolute value of log(predicted / measured), robust against outliers.
LLMCOST_INLINE double roofline_loss(const std::vector<timing>& timings, const roofline_point& p,
                                    double min_launch_seconds, double max_compute_efficiency) {
    constexpr double soft = 0.1;
    const roofline r = roofline_at(p, min_launch_seconds, max_compute_efficiency);
    double sum = 0;
    for (const timing& t : timings) {
        const double deviation = std::log(r(t.compute, t.memory) / t.measured) / soft;
        sum += std::sqrt(1 + deviation * deviation) - 1;
    }
    return sum / static_cast<double>(timings.size());
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE roofline fit_roofline(const std::vector<timing>& timings, std::size_t max_seconds,
                                     double min_launch_seconds, double max_compute_efficiency) {
    if (timings.empty()) return {};
    std::vector<timing> sample;
    const std::size_t n = std::min(max_seconds, timings.size());
    for (std::size_t i = 0; i < n; ++i) sample.push_back(timings[i * timings.size() / n]);
    const auto loss = [&](const detail::roofline_point& p) {
        return detail::roofline_loss(sample, p, min_launch_seconds, max_compute_efficiency);
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
    return detail::roofline_at(best, min_launch_seconds, max_compute_efficiency);
}

LLMCOST_INLINE std::vector<double> make_monotonic(const std::vector<double>& values) {
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

LLMCOST_INLINE std::vector<double> make_monotonic(std::vector<double> grid, std::size_t rows) {
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
            double& value = grid[i * columns + k];
            if (i > 0) value = std::max(value, grid[(i - 1) * columns + k]);
            if (k > 0) value = std::max(value, grid[i * columns + k - 1]);
        }
    return grid;
}

}  // namespace llmcost
