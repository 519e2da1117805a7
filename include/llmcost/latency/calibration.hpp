// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>

namespace llmcost {

/// How far predictions were from measurements that took no part in the fit, as log2(measured / predicted).
struct cross_validation_error {
    std::int64_t num_rows = 0;
    double median = 0;  ///< of |measured / predicted - 1|
    double low = 0;     ///< one in twenty is below
    double high = 0;    ///< one in twenty is above
};

/// What measurements say of one kernel of an engine on a device: a roofline, and how it deviates from it.
struct kernel_calibration {
    string_ref device{};    ///< that was measured
    string_ref family{};    ///< `gemm`
    string_ref software{};  ///< `trtllm`, `vllm`, `sglang`, `torch`
    string_ref version{};
    string_ref kernel{};  ///< as the software names it
    string_ref operand{};
    string_ref variant{};  ///< of families that have one: the cache's type, how tokens are spread, which collective
    double work_fraction =
        1;  ///< of the family's work that this kernel does: two of three matrices where nothing gates
    roofline roofline_model{};
    double past_bandwidth_efficiency = 0;  ///< of tokens before a prompt, where decoding says it; 0: the roofline's
    correction_table correction{};
    mixed_decode_kind mixed_decode_mode = mixed_decode_kind::separate_kernel;
    bool is_fallback_device = false;  ///< that stands in for one where nothing was measured
    cross_validation_error error{};
    cross_validation_error
        unseen_shape_error{};  ///< at sites that were left out whole; no rows where there were too few sites

    /// How far predictions at a site are off: where it was not measured, those of sites that were left out whole, or
    /// twice those of shapes.
    [[nodiscard]] cross_validation_error error_for(const std::int64_t* layer_shape) const noexcept {
        if (correction.has(layer_shape)) return error;
        const cross_validation_error& unseen_error = unseen_shape_error;
        if (unseen_error.num_rows == 0) return {error.num_rows, 2 * error.median, 2 * error.low, 2 * error.high};
        return {unseen_error.num_rows, unseen_error.median, unseen_error.low < error.low ? unseen_error.low : error.low,
                unseen_error.high > error.high ? unseen_error.high : error.high};
    }
};

/// A time with the interval that nine in ten measurements fall into, and what binds it.
struct latency_estimate {
    double seconds = 0;
    double lower = 0;
    double upper = 0;
    roofline_bound bound = roofline_bound::launch;
    double roofline_efficiency =
        0;  ///< the time at the datasheet's peak or bandwidth, whichever is longer, of the predicted
    bool is_calibrated = false;
    const kernel_calibration* calibration = nullptr;  ///< whose measurements say it; null: typical efficiencies
};

namespace detail {

/// What a kernel does of an operator's work.
[[nodiscard]] constexpr kernel_work work_of(const operator_shape& shape, const kernel_calibration* known) {
    kernel_work work = shape.work();
    if (known != nullptr) {
        work.flops *= known->work_fraction;
        work.bytes *= known->work_fraction;
    }
    return work;
}

/// log2 of the time of an operator by its kernel's roofline and residual.
[[nodiscard]] inline double log_seconds(const device& d, const operator_shape& shape, const kernel_calibration& c,
                                        const correction_table::layer_shape_position& layer_shape_position) {
    const datasheet_seconds s = roofline_terms(d, work_of(shape, &c));
    return std::log2(c.roofline_model(s.compute, s.memory)) + c.correction(layer_shape_position, shape.sizes);
}

/// Whether an operator is what a kernel's deviations were taken from: its device, type and word, at a measured site.
[[nodiscard]] inline bool was_measured(const device& d, const operator_shape& shape, const kernel_calibration& c) {
    return has_name(d, c.device) && c.variant == shape.variant && find_operand_type(c.operand) == shape.operand &&
           c.correction.has(shape.layer_shape());
}

/// Interpolated between the measured places around it along this axis and those behind it.
[[nodiscard]] inline double log_seconds_between(const device& d, const operator_shape& shape,
                                                const kernel_calibration& c,
                                                const correction_table::layer_shape_position& layer_shape_position,
                                                std::size_t axis) {
    if (axis == shape.type->num_axes) return log_seconds(d, shape, c, layer_shape_position);
    const correction_table::bracket at = c.correction.interpolate(axis, shape.sizes[axis]);
    operator_shape end = shape;
    end.sizes[axis] = at.low;
    const double low = log_seconds_between(d, end, c, layer_shape_position, axis + 1);
    if (at.share == 0) return low;
    end.sizes[axis] = at.high;
    return low + at.share * (log_seconds_between(d, end, c, layer_shape_position, axis + 1) - low);
}

/// The places along an axis that a size stands behind or between: the measured ones before it, and the next or itself.
struct places_before {
    std::size_t measured = 0;  ///< of them; one more is the last
    std::int64_t last = 0;
    double share = 1;  ///< of the last, the rest is of the one before
    places_before(const correction_table& r, std::size_t axis, std::size_t axes, std::int64_t size) noexcept
        : last(size) {
        if (axis >= axes || r.num_layer_shapes == 0) return;
        while (measured < r.length[axis] && r.axis[axis][measured] < size) ++measured;
        const correction_table::bracket at = r.interpolate(axis, size);
        if (at.share != 0) {
            last = at.high;
            share = at.share;
        }
    }
};

/// A time at sizes of a shape along its axes, as its logarithm: between the places of a table, at each of them no less
/// than at any measured one with less along the axes.
///
/// `log_seconds_at(shape, i, k)` says it at one place; it is the i-th and k-th measured one, if there are such.
template <class LogSecondsAt>
[[nodiscard]] double monotonic_seconds(const correction_table& r, operator_shape shape, LogSecondsAt&& log_seconds_at) {
    const std::size_t axes = shape.type->num_axes;
    const places_before a(r, 0, axes, shape.sizes[0]), b(r, 1, axes, shape.sizes[1]);
    double maximum[2][2]{{-HUGE_VAL, -HUGE_VAL},
                         {-HUGE_VAL, -HUGE_VAL}};  // up to the place before the last, and to the last
    for (std::size_t i = 0; i <= a.measured; ++i)
        for (std::size_t k = 0; k <= b.measured; ++k) {
            shape.sizes[0] = i < a.measured ? r.axis[0][i] : a.last;
            if (axes > 1) shape.sizes[1] = k < b.measured ? r.axis[1][k] : b.last;
            const double log_time = log_seconds_at(static_cast<const operator_shape&>(shape), i, k);
            for (std::size_t n = i < a.measured ? 0 : 1; n < 2; ++n)
                for (std::size_t m = k < b.measured ? 0 : 1; m < 2; ++m)
                    maximum[n][m] = std::fmax(maximum[n][m], log_time);
        }
    const auto interpolate = [](const places_before& p, double low, double high) {
        return p.share == 1 || p.measured == 0 ? high : low + p.share * (high - low);
    };
    return interpolate(a, interpolate(b, maximum[0][0], maximum[0][1]), interpolate(b, maximum[1][0], maximum[1][1]));
}

/// log2 of an operator's time, made to rise: a deviation that is laid on another roofline than it was taken from, or
/// mixed of several sites', may fall where that does not rise.
///
/// `known(i, k)` is that time at the i-th and k-th measured places, or NaN.
template <class Known>
[[nodiscard]] double log_seconds_risen(const device& d, const operator_shape& shape, const kernel_calibration& c,
                                       const correction_table::layer_shape_position& layer_shape_position,
                                       Known&& known) {
    const correction_table& r = c.correction;
    return monotonic_seconds(r, shape, [&](const operator_shape& at, std::size_t i, std::size_t k) {
        const bool is_measured = i < r.length[0] && at.sizes[0] == r.axis[0][i] &&
                                 (at.type->num_axes < 2 || (k < r.length[1] && at.sizes[1] == r.axis[1][k]));
        const double log_time = is_measured ? known(i, k) : NAN;
        return std::isnan(log_time) ? log_seconds(d, at, c, layer_shape_position) : log_time;
    });
}

/// The row of typical efficiencies for an operator.
[[nodiscard]] inline const default_efficiency_model& typical_of(const operator_shape& shape) noexcept {
    const bool quantises = shape.operand->weight_bytes < shape.operand->activation_bytes;
    return quantises ? shape.type->quantized_efficiency : shape.type->default_efficiency;
}
[[nodiscard]] inline typical_interval around_typical(const operator_shape& shape) {
    return shape.type->interval_of_variant != nullptr ? shape.type->interval_of_variant(shape.variant)
                                                      : typical_of(shape).interval;
}

}  // namespace detail

/// The shape without what only adds to it.
[[nodiscard]] inline operator_shape without_added(operator_shape shape) noexcept {
    if (const std::size_t added = shape.type->additive_size_index(); added < shape.type->size_count)
        shape.sizes[added] = 0;
    return shape;
}

/// Seconds that what is added to a shape takes by a roofline: what all units compute more, or, where that is longer,
/// what the parts of one unit are more (`flops_with_occupancy`), beside what is moved more. More of any size adds no
/// less.
///
/// The roofline is the kernel's own for tokens before a prompt, the typical one for proposed tokens: where each
/// sequence has one new token, measurements say nothing of products of several.
[[nodiscard]] inline double seconds_added(const device& d, const operator_shape& shape,
                                          const kernel_calibration* known) {
    const operator_type& family = *shape.type;
    const std::size_t added = family.additive_size_index();
    if (added == family.size_count || shape.sizes[added] == 0) return 0;
    const bool uses_measured_roofline = known != nullptr && family.sizes[added].is_past_length;
    roofline base = uses_measured_roofline ? known->roofline_model : detail::typical_of(shape).roofline_model;
    if (uses_measured_roofline && known->past_bandwidth_efficiency > 0)
        base.bandwidth_efficiency = known->past_bandwidth_efficiency;
    kernel_work added_work = detail::work_of(shape, known);
    const kernel_work base_work = detail::work_of(without_added(shape), known);
    added_work.flops -= base_work.flops;
    added_work.bytes -= base_work.bytes;
    added_work.max_tile_flops -= base_work.max_tile_flops;
    added_work.min_tile_flops -= base_work.min_tile_flops;
    const datasheet_seconds s = roofline_terms(d, added_work);
    return base(s.compute, s.memory) - base.launch;
}

/// Seconds of an operator on a device that can price it, by typical efficiencies where nobody has measured the kernel
/// (`known` is null); `where` is its site's place in the kernel's residual.
///
/// Between measured places along an axis the logarithm of the time is interpolated, so that where those rise with it
/// all do. Never less than `roofline_seconds`.
[[nodiscard]] inline double predicted_seconds(const device& d, const operator_shape& shape,
                                              const kernel_calibration* known,
                                              const correction_table::layer_shape_position& layer_shape_position) {
    const operator_shape bare = without_added(shape);
    double predicted = 0;
    if (known == nullptr || known->correction.num_layer_shapes == 0) {
        const datasheet_seconds s = roofline_terms(d, detail::work_of(bare, known));
        predicted =
            (known == nullptr ? detail::typical_of(shape).roofline_model : known->roofline_model)(s.compute, s.memory);
    } else {
        const auto unknown = [](std::size_t, std::size_t) { return NAN; };
        predicted = std::exp2(detail::was_measured(d, bare, *known)
                                  ? detail::log_seconds_between(d, bare, *known, layer_shape_position, 0)
                                  : detail::log_seconds_risen(d, bare, *known, layer_shape_position, unknown));
    }
    predicted += seconds_added(d, shape, known);
    const double minimum = roofline_seconds(d, detail::work_of(shape, known));
    return predicted < minimum ? minimum : predicted;
}

/// The time of an operator, which is predicted to be `seconds`, with its interval and what binds it.
[[nodiscard]] inline latency_estimate estimate_with_interval(double seconds, const device& d,
                                                             const operator_shape& shape,
                                                             const kernel_calibration* known) {
    const kernel_work work = detail::work_of(shape, known);
    const datasheet_seconds s = roofline_terms(d, work);
    const default_efficiency_model& typical = detail::typical_of(shape);
    const double minimum = roofline_seconds(d, work);
    latency_estimate e;
    e.seconds = seconds;
    typical_interval interval = detail::around_typical(shape);
    if (known != nullptr) {
        const cross_validation_error error = known->error_for(shape.layer_shape());
        interval = {error.low, error.high};
    }
    e.lower = e.seconds * std::exp2(interval.low);
    e.upper = e.seconds * std::exp2(interval.high);
    if (e.lower < minimum) e.lower = minimum;
    e.bound = (known != nullptr ? known->roofline_model : typical.roofline_model).bound(s.compute, s.memory);
    kernel_work divided = work;
    divided.num_tiles = 0;
    const datasheet_seconds at_best = roofline_terms(d, divided);
    const double at_datasheet = at_best.compute > at_best.memory ? at_best.compute : at_best.memory;
    e.roofline_efficiency = at_datasheet < e.seconds ? at_datasheet / e.seconds : 1;  // caches are faster than memory
    e.is_calibrated = known != nullptr && !known->is_fallback_device;
    e.calibration = known;
    return e;
}
/// The same by `predicted_seconds`.
[[nodiscard]] inline latency_estimate estimate(const device& d, const operator_shape& shape,
                                               const kernel_calibration* known) {
    const auto layer_shape_position = known == nullptr ? correction_table::layer_shape_position{}
                                                       : known->correction.find_position(shape.layer_shape());
    return estimate_with_interval(predicted_seconds(d, shape, known, layer_shape_position), d, shape, known);
}

}  // namespace llmcost
