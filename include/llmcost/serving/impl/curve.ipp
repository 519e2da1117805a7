// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/curve.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>

namespace llmcost {

LLMCOST_INLINE double measured_curve::operator()(const std::int64_t* sizes) const noexcept {
    const place a = position_of(axis_sizes_[0], sizes[0]);
    if (axis_sizes_[1].empty()) return a.is_outside ? NAN : std::exp2(interpolate(a, log_seconds_.data()));
    const place b = position_of(axis_sizes_[1], sizes[1]);
    if (a.is_outside || b.is_outside) return NAN;
    const std::size_t columns = axis_sizes_[1].size();
    const double* const row = log_seconds_.data() + a.low * columns;
    const double low = interpolate(b, row);
    return std::exp2(a.share == 0 ? low : low + a.share * (interpolate(b, row + columns) - low));
}

LLMCOST_INLINE measured_curve::place measured_curve::position_of(const std::vector<double>& sizes,
                                                                 std::int64_t n) noexcept {
    const double octaves = octave(n);
    if (octaves < sizes.front() || octaves > sizes.back()) return {0, 0, true};
    std::size_t low = 0, high = sizes.size() - 1;
    while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        (sizes[middle] <= octaves ? low : high) = middle;
    }
    if (low == high) return {low, 0, false};
    return {low, (octaves - sizes[low]) / (sizes[high] - sizes[low]), false};
}

LLMCOST_INLINE double measured_curve::interpolate(const place& p, const double* values) noexcept {
    const double low = values[p.low];
    return p.share == 0 ? low : low + p.share * (values[p.low + 1] - low);
}

LLMCOST_INLINE double predicted_seconds(const measured_curve& curve, const device& d, const operator_shape& shape,
                                        const kernel_calibration* known,
                                        const correction_table::layer_shape_position& layer_shape_position) {
    double seconds = curve.empty() ? NAN : curve(shape.sizes);
    if (std::isnan(seconds)) {
        if (curve.empty()) return predicted_seconds(d, shape, known, layer_shape_position);
        const operator_shape bare = without_added(shape);
        const auto value = [&](std::size_t i, std::size_t k) { return curve.at(i, k); };
        if (shape.type->num_axes == 1)  // above all measured sizes
            seconds = std::fmax(std::exp2(detail::log_seconds(d, bare, *known, layer_shape_position)),
                                curve.upper_index(bare.sizes[0]));
        else if (detail::was_measured(d, bare, *known))
            seconds = std::exp2(detail::log_seconds_between(d, bare, *known, layer_shape_position, 0));
        else
            seconds = std::exp2(detail::log_seconds_risen(d, bare, *known, layer_shape_position, value));
    }
    seconds += seconds_added(d, shape, known);
    const double minimum = roofline_seconds(d, detail::work_of(shape, known));
    return seconds < minimum ? minimum : seconds;
}

}  // namespace llmcost
