// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operator_types.hpp>

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
            for (std::size_t i = 0; i < grid.length[a]; ++i) axis_sizes_[a].push_back(octave(grid.axis[a][i]));
        const std::size_t columns = axis_sizes_[1].empty() ? 1 : axis_sizes_[1].size();
        for (std::size_t i = 0; i < axis_sizes_[0].size(); ++i)
            for (std::size_t k = 0; k < columns; ++k) {
                shape.sizes[0] = grid.axis[0][i];
                if (!axis_sizes_[1].empty()) shape.sizes[1] = grid.axis[1][k];
                double maximum = log_seconds(std::as_const(shape));
                if (i > 0) maximum = std::fmax(maximum, log_seconds_[(i - 1) * columns + k]);
                if (k > 0) maximum = std::fmax(maximum, log_seconds_.back());
                log_seconds_.push_back(maximum);
            }
    }
    /// The curve of a kernel for the layer shape of `shape`.
    measured_curve(const device& device, const operator_shape& shape, const kernel_calibration& c,
                   const correction_table::layer_shape_position& layer_shape_position)
        : measured_curve(shape, c.correction, [&](const operator_shape& point) {
              return detail::log_seconds(device, point, c, layer_shape_position);
          }) {}

    [[nodiscard]] bool empty() const noexcept { return log_seconds_.empty(); }
    /// log2 of the seconds at measured sizes `i` and `k`.
    [[nodiscard]] double at(std::size_t i, std::size_t k) const noexcept {
        return log_seconds_[i * (axis_sizes_[1].empty() ? 1 : axis_sizes_[1].size()) + k];
    }
    /// Seconds at the largest measured size of the only axis, if `n` exceeds it; otherwise 0.
    [[nodiscard]] double upper_index(std::int64_t n) const noexcept {
        return octave(n) > axis_sizes_[0].back() ? std::exp2(log_seconds_.back()) : 0;
    }
    /// Seconds for `sizes`; NaN outside of the measured sizes.
    [[nodiscard]] double operator()(const std::int64_t* sizes) const noexcept;

private:
    struct place {
        std::size_t low = 0;
        double share = 0;
        bool is_outside = false;
    };
    static double octave(std::int64_t n) noexcept { return std::log2(static_cast<double>(n < 1 ? 1 : n)); }
    static place position_of(const std::vector<double>& sizes, std::int64_t n) noexcept;
    static double interpolate(const place& p, const double* values) noexcept;

    std::vector<double> axis_sizes_[2];  ///< log2 of the measured sizes of each axis
    std::vector<double> log_seconds_;
};

/// Seconds of an operator by its curve. Outside of the curve, by its calibration.
[[nodiscard]] double predicted_seconds(const measured_curve& curve, const device& d, const operator_shape& shape,
                                       const kernel_calibration* known,
                                       const correction_table::layer_shape_position& layer_shape_position);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/curve.ipp>  // IWYU pragma: export
#endif
