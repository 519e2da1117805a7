// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/latency/calibration.hpp>

namespace llmcost {

/// The time of an operator for one layer shape, tabulated at the measured sizes of its axes.
///
/// Between them, a curve equals `predicted_seconds` before its lower bound. It is many times faster.
class measured_curve {
public:
    measured_curve() = default;
    /// Tabulates `log_seconds` at the measured sizes of `grid`, made monotonic along the axes.
    ///
    /// The sizes of `shape` along the axes are ignored. All others are constant.
    template <class LogSeconds>
    measured_curve(operator_shape shape, const correction_table& grid, LogSeconds&& log_seconds) {
        if (grid.num_layer_shapes == 0) return;
        for (std::size_t a = 0; a < shape.type->num_axes; ++a)
            for (std::size_t i = 0; i < grid.length[a]; ++i) at_[a].push_back(octave(grid.axis[a][i]));
        const std::size_t columns = at_[1].empty() ? 1 : at_[1].size();
        for (std::size_t i = 0; i < at_[0].size(); ++i)
            for (std::size_t k = 0; k < columns; ++k) {
                shape.sizes[0] = grid.axis[0][i];
                if (!at_[1].empty()) shape.sizes[1] = grid.axis[1][k];
                double maximum = log_seconds(std::as_const(shape));
                if (i > 0) maximum = std::fmax(maximum, log_seconds_[(i - 1) * columns + k]);
                if (k > 0) maximum = std::fmax(maximum, log_seconds_.back());
                log_seconds_.push_back(maximum);
            }
    }
    /// The curve of a kernel for the layer shape of `shape`.
    measured_curve(const device& device, const operator_shape& shape, const kernel_calibration& c,
                   const correction_table::layer_shape_position& layer_shape_position)
        : measured_curve(shape, c.correction, [&](const operator_shape& at) {
              return detail::log_seconds(device, at, c, layer_shape_position);
          }) {}

    [[nodiscard]] bool empty() const noexcept { return log_seconds_.empty(); }
    /// log2 of the seconds at measured sizes `i` and `k`.
    [[nodiscard]] double at(std::size_t i, std::size_t k) const noexcept {
        return log_seconds_[i * (at_[1].empty() ? 1 : at_[1].size()) + k];
    }
    /// Seconds at the largest measured size of the only axis, if `n` exceeds it; otherwise 0.
    [[nodiscard]] double upper_index(std::int64_t n) const noexcept {
        return octave(n) > at_[0].back() ? std::exp2(log_seconds_.back()) : 0;
    }
    /// Seconds for `sizes`; NaN outside of the measured sizes.
    [[nodiscard]] double operator()(const std::int64_t* sizes) const noexcept {
        const place a = position_of(at_[0], sizes[0]);
        if (at_[1].empty()) return a.is_outside ? NAN : std::exp2(interpolate(a, log_seconds_.data()));
        const place b = position_of(at_[1], sizes[1]);
        if (a.is_outside || b.is_outside) return NAN;
        const std::size_t columns = at_[1].size();
        const double* const row = log_seconds_.data() + a.low * columns;
        const double low = interpolate(b, row);
        return std::exp2(a.share == 0 ? low : low + a.share * (interpolate(b, row + columns) - low));
    }

private:
    struct place {
        std::size_t low = 0;
        double share = 0;
        bool is_outside = false;
    };
    static double octave(std::int64_t n) noexcept { return std::log2(static_cast<double>(n < 1 ? 1 : n)); }
    static place position_of(const std::vector<double>& at, std::int64_t n) noexcept {
        const double octaves = octave(n);
        if (octaves < at.front() || octaves > at.back()) return {0, 0, true};
        std::size_t low = 0, high = at.size() - 1;
        while (high - low > 1) {
            const std::size_t middle = low + (high - low) / 2;
            (at[middle] <= octaves ? low : high) = middle;
        }
        if (low == high) return {low, 0, false};
        return {low, (octaves - at[low]) / (at[high] - at[low]), false};
    }
    static double interpolate(const place& p, const double* values) noexcept {
        const double low = values[p.low];
        return p.share == 0 ? low : low + p.share * (values[p.low + 1] - low);
    }

    std::vector<double> at_[2];  ///< log2 of the measured sizes of each axis
    std::vector<double> log_seconds_;
};

/// Seconds of an operator by its curve. Outside of the curve, by its calibration.
[[nodiscard]] inline double predicted_seconds(const measured_curve& curve, const device& d, const operator_shape& shape,
                                              const kernel_calibration* known,
                                              const correction_table::layer_shape_position& layer_shape_position) {
    double seconds = curve.empty() ? NAN : curve(shape.sizes);
    if (std::isnan(seconds)) {
        if (curve.empty()) return predicted_seconds(d, shape, known, layer_shape_position);
        const operator_shape bare = without_added(shape);
        const auto at = [&](std::size_t i, std::size_t k) { return curve.at(i, k); };
        if (shape.type->num_axes == 1)  // above all measured sizes
            seconds = std::fmax(std::exp2(detail::log_seconds(d, bare, *known, layer_shape_position)),
                                curve.upper_index(bare.sizes[0]));
        else if (detail::was_measured(d, bare, *known))
            seconds = std::exp2(detail::log_seconds_between(d, bare, *known, layer_shape_position, 0));
        else
            seconds = std::exp2(detail::log_seconds_risen(d, bare, *known, layer_shape_position, at));
    }
    seconds += seconds_added(d, shape, known);
    const double minimum = roofline_seconds(d, detail::work_of(shape, known));
    return seconds < minimum ? minimum : seconds;
}

}  // namespace llmcost
