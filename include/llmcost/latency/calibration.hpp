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

/// Prediction errors for measurements outside of the fit, as log2(measured / predicted).
struct cross_validation_error {
    std::int64_t num_rows = 0;
    double median = 0;  ///< of |measured / predicted - 1|
    double low = 0;     ///< 5 % quantile
    double high = 0;    ///< 95 % quantile
};

/// The calibration of one kernel of an engine on a device: a roofline and the deviations from it.
struct kernel_calibration {
    string_ref device{};    ///< measured device
    string_ref family{};    ///< operator type, as `gemm`
    string_ref software{};  ///< `trtllm`, `vllm`, `sglang`, `torch`
    string_ref version{};
    string_ref kernel{};  ///< name in the software
    string_ref operand{};
    string_ref variant{};  ///< if the operator type has variants: type of the KV cache, token distribution, collective
    double work_fraction = 1;  ///< fraction of the operator's work: 2/3 for experts without a gate
    roofline roofline_model{};
    double past_bandwidth_efficiency =
        0;  ///< for cached tokens before a prompt, from decode measurements; 0: that of the roofline
    correction_table correction{};
    mixed_decode_kind mixed_decode_mode = mixed_decode_kind::separate_kernel;
    bool is_fallback_device = false;  ///< measured on another device, as a fallback
    bool replaces_engines = true;     ///< may replace an unmeasured kernel of an engine
    cross_validation_error error{};
    cross_validation_error
        unseen_shape_error{};  ///< for layer shapes outside of the fit; `num_rows` is 0 if there are too few

    /// The error for a layer shape. Unmeasured shapes: that of left-out shapes, or twice that of measured ones.
    [[nodiscard]] cross_validation_error error_for(const std::int64_t* layer_shape) const noexcept {
        if (correction.has(layer_shape)) return error;
        const cross_validation_error& unseen_error = unseen_shape_error;
        if (unseen_error.num_rows == 0) return {error.num_rows, 2 * error.median, 2 * error.low, 2 * error.high};
        return {unseen_error.num_rows, unseen_error.median, unseen_error.low < error.low ? unseen_error.low : error.low,
                unseen_error.high > error.high ? unseen_error.high : error.high};
    }
};

/// A time with its interval, which contains 90 % of measurements, and its bound.
struct latency_estimate {
    double seconds = 0;
    double lower = 0;
    double upper = 0;
    roofline_bound bound = roofline_bound::launch;
    double roofline_efficiency = 0;  ///< (roofline time by the datasheet) / (predicted time)
    bool is_calibrated = false;
    const kernel_calibration* calibration = nullptr;  ///< source of the prediction; null: default efficiencies
};

namespace detail {

/// The work of an operator that a kernel does.
[[nodiscard]] constexpr kernel_work work_of(const operator_shape& shape, const kernel_calibration* known) {
    kernel_work work = shape.work();
    if (known != nullptr) {
        work.flops *= known->work_fraction;
        work.bytes *= known->work_fraction;
    }
    return work;
}

/// log2 of the seconds of an operator: roofline plus correction.
[[nodiscard]] inline double log_seconds(const device& d, const operator_shape& shape, const kernel_calibration& c,
                                        const correction_table::layer_shape_position& layer_shape_position) {
    const datasheet_seconds s = roofline_terms(d, work_of(shape, &c));
    return std::log2(c.roofline_model(s.compute, s.memory)) + c.correction(layer_shape_position, shape.sizes);
}

/// Whether the corrections of a kernel were measured for the device, type, variant and layer shape of an operator.
[[nodiscard]] inline bool was_measured(const device& d, const operator_shape& shape, const kernel_calibration& c) {
    return has_name(d, c.device) && c.variant == shape.variant && find_operand_type(c.operand) == shape.operand &&
           c.correction.has(shape.layer_shape());
}

/// log2 of the seconds, interpolated between the measured sizes of this and the following axes.
[[nodiscard]] inline double log_seconds_between(const device& d, const operator_shape& shape,
                                                const kernel_calibration& c,
                                                const correction_table::layer_shape_position& layer_shape_position,
                                                std::size_t axis) {
    if (axis == shape.type->num_axes) return log_seconds(d, shape, c, layer_shape_position);
    const correction_table::bracket bracket = c.correction.interpolate(axis, shape.sizes[axis]);
    operator_shape end = shape;
    end.sizes[axis] = bracket.low;
    const double low = log_seconds_between(d, end, c, layer_shape_position, axis + 1);
    if (bracket.share == 0) return low;
    end.sizes[axis] = bracket.high;
    return low + bracket.share * (log_seconds_between(d, end, c, layer_shape_position, axis + 1) - low);
}

/// The measured sizes of an axis before a size, and the next one or the size itself.
struct places_before {
    std::size_t measured = 0;  ///< number of them; `last` follows
    std::int64_t last = 0;
    double share = 1;  ///< weight of `last`; the remainder is that of the size before it
    places_before(const correction_table& r, std::size_t axis, std::size_t axes, std::int64_t size) noexcept
        : last(size) {
        if (axis >= axes || r.num_layer_shapes == 0) return;
        while (measured < r.length[axis] && r.axis[axis][measured] < size) ++measured;
        const correction_table::bracket bracket = r.interpolate(axis, size);
        if (bracket.share != 0) {
            last = bracket.high;
            share = bracket.share;
        }
    }
};

/// log2 of the seconds for a shape, made monotonic along the axes and interpolated between measured sizes.
///
/// At each measured size, the result is at least that of all smaller measured sizes.
/// `log_seconds_at(shape, i, k)`: the value at one point, which is the measured point i, k if there is one.
template <class LogSecondsAt>
[[nodiscard]] double monotonic_seconds(const correction_table& r, operator_shape shape, LogSecondsAt&& log_seconds_at) {
    const std::size_t axes = shape.type->num_axes;
    const places_before a(r, 0, axes, shape.sizes[0]), b(r, 1, axes, shape.sizes[1]);
    double maximum[2][2]{{-HUGE_VAL, -HUGE_VAL},
                         {-HUGE_VAL, -HUGE_VAL}};  // up to the size before the last one, and up to the last one
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

/// log2 of the seconds of an operator, made monotonic along the axes.
///
/// A correction may decrease where it is applied to another roofline, or is a mean over several layer shapes.
/// `known(i, k)`: the value at measured sizes i and k, or NaN.
template <class Known>
[[nodiscard]] double log_seconds_risen(const device& d, const operator_shape& shape, const kernel_calibration& c,
                                       const correction_table::layer_shape_position& layer_shape_position,
                                       Known&& known) {
    const correction_table& r = c.correction;
    return monotonic_seconds(r, shape, [&](const operator_shape& point, std::size_t i, std::size_t k) {
        const bool is_measured = i < r.length[0] && point.sizes[0] == r.axis[0][i] &&
                                 (point.type->num_axes < 2 || (k < r.length[1] && point.sizes[1] == r.axis[1][k]));
        const double log_time = is_measured ? known(i, k) : NAN;
        return std::isnan(log_time) ? log_seconds(d, point, c, layer_shape_position) : log_time;
    });
}

/// The efficiency of float32 convolutions, relative to the peak of TF32.
///
/// Median and range of forward and backward of ResNet-18, ResNet-50 and AlexNet: 11 to 27 % of the peak.
/// Source: tests/torch/h200_steps.jsonl.gz, 8 to 128 images on an H200.
inline constexpr default_efficiency_model tf32_convolution_efficiency{
    .roofline_model = {.launch = 6.1e-6, .compute_efficiency = 0.19, .bandwidth_efficiency = 0.82, .smoothness = 2.5},
    .interval = {-0.48, 0.82}};

/// The default efficiencies of an operator.
///
/// Quantized efficiencies include the quantization of the activations. A product with a weight-only type, whose
/// activations stay in 16 bits, has the efficiencies of an unquantized one. Those of routed experts are medians over
/// all quantized types, of which most are weight-only.
[[nodiscard]] inline const default_efficiency_model& typical_of(const operator_shape& shape) noexcept {
    if (shape.operand == &tf32_operands) return tf32_convolution_efficiency;
    const bool has_quantized_weights = shape.operand->weight_bytes < shape.operand->activation_bytes;
    const bool is_weight_only_product = is_weight_only(*shape.operand) && !shape.type->has_engine_specific_experts;
    return has_quantized_weights && !is_weight_only_product ? shape.type->quantized_efficiency
                                                            : shape.type->default_efficiency;
}
/// The interval of the default efficiencies. That of quantized types also applies to weight-only products, of which no
/// kernel was measured.
[[nodiscard]] inline typical_interval around_typical(const operator_shape& shape) {
    if (shape.type->interval_of_variant != nullptr) return shape.type->interval_of_variant(shape.variant);
    return is_weight_only(*shape.operand) ? shape.type->quantized_efficiency.interval : typical_of(shape).interval;
}

}  // namespace detail

/// The shape without its additive size.
[[nodiscard]] inline operator_shape without_added(operator_shape shape) noexcept {
    if (const std::size_t added = shape.type->additive_size_index(); added < shape.type->size_count)
        shape.sizes[added] = 0;
    return shape;
}

/// Seconds that the additive size of a shape takes, by a roofline.
///
/// The additional FLOPs of all units or of the busiest unit (`flops_with_occupancy`), and the additional bytes. The
/// result is monotonic in all sizes. Cached tokens before a prompt use the roofline of the kernel. Draft tokens use the
/// default roofline, because decode measurements with one token per sequence contain no products of several.
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

/// Seconds of an operator on a device. Default efficiencies if `known` is null.
///
/// log2 of the seconds is interpolated between the measured sizes of an axis, which preserves monotonicity.
/// At least `roofline_seconds`. Requires that the device has the peaks (`has_peak`).
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

/// The time of an operator predicted as `seconds`, with its interval and bound.
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
    e.bound = work.sequential_seconds > 0
                  ? roofline_bound::launch
                  : (known != nullptr ? known->roofline_model : typical.roofline_model).bound(s.compute, s.memory);
    kernel_work divided = work;
    divided.num_tiles = 0;
    divided.aligned_fraction = 1;
    const datasheet_seconds at_best = roofline_terms(d, divided);
    const double at_datasheet = at_best.compute > at_best.memory ? at_best.compute : at_best.memory;
    e.roofline_efficiency = at_datasheet < e.seconds ? at_datasheet / e.seconds : 1;  // caches are faster than memory
    e.is_calibrated = known != nullptr && !known->is_fallback_device;
    e.calibration = known;
    return e;
}
/// The time of an operator by `predicted_seconds`, with its interval and bound.
[[nodiscard]] inline latency_estimate estimate(const device& d, const operator_shape& shape,
                                               const kernel_calibration* known) {
    const auto layer_shape_position = known == nullptr ? correction_table::layer_shape_position{}
                                                       : known->correction.find_position(shape.layer_shape());
    return estimate_with_interval(predicted_seconds(d, shape, known, layer_shape_position), d, shape, known);
}

}  // namespace llmcost
