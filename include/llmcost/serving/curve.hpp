// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/latency/calibration.hpp>

namespace llmcost {

/// The time of one operator at one site, worked out at every measured place of its axes: between them it is what
/// `predicted_seconds` says before its bound, many times faster.
class measured_curve {
public:
    measured_curve() = default;
    /// Of the sizes of `shape` those along the axes do not count; all others stay as they are.
    measured_curve(const device& on, operator_shape shape, const kernel_calibration& c,
                   const residual_table::place_of_site& where) {
        const residual_table& r = c.residual;
        if (r.site_count == 0) return;
        for (std::size_t a = 0; a < shape.family->axes; ++a)
            for (std::size_t i = 0; i < r.length[a]; ++i) at_[a].push_back(octave(r.axis[a][i]));
        const std::size_t columns = at_[1].empty() ? 1 : at_[1].size();
        for (std::size_t i = 0; i < at_[0].size(); ++i)
            for (std::size_t k = 0; k < columns; ++k) {
                shape.sizes[0] = r.axis[0][i];
                if (!at_[1].empty()) shape.sizes[1] = r.axis[1][k];
                log_seconds_.push_back(detail::log_seconds(on, shape, c, where));
            }
    }

    [[nodiscard]] bool empty() const noexcept { return log_seconds_.empty(); }
    /// Seconds at some sizes; NaN beyond the measured places.
    [[nodiscard]] double operator()(const std::int64_t* sizes) const noexcept {
        const place a = place_of(at_[0], sizes[0]);
        if (at_[1].empty()) return a.beyond ? NAN : std::exp2(between(a, log_seconds_.data()));
        const place b = place_of(at_[1], sizes[1]);
        if (a.beyond || b.beyond) return NAN;
        const std::size_t columns = at_[1].size();
        const double* const row = log_seconds_.data() + a.low * columns;
        const double low = between(b, row);
        return std::exp2(a.share == 0 ? low : low + a.share * (between(b, row + columns) - low));
    }

private:
    struct place {
        std::size_t low = 0;
        double share = 0;
        bool beyond = false;
    };
    static double octave(std::int64_t n) noexcept { return std::log2(static_cast<double>(n < 1 ? 1 : n)); }
    static place place_of(const std::vector<double>& at, std::int64_t n) noexcept {
        const double here = octave(n);
        if (here < at.front() || here > at.back()) return {0, 0, true};
        std::size_t low = 0, high = at.size() - 1;
        while (high - low > 1) {
            const std::size_t middle = low + (high - low) / 2;
            (at[middle] <= here ? low : high) = middle;
        }
        if (low == high) return {low, 0, false};
        return {low, (here - at[low]) / (at[high] - at[low]), false};
    }
    static double between(const place& p, const double* values) noexcept {
        const double low = values[p.low];
        return p.share == 0 ? low : low + p.share * (values[p.low + 1] - low);
    }

    std::vector<double> at_[2];  ///< octaves of the axes
    std::vector<double> log_seconds_;
};

}  // namespace llmcost
