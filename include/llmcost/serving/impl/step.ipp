// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/step.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/correction_factors.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>
#include <llmcost/serving/curve.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/model_kernel.hpp>

namespace llmcost {

LLMCOST_INLINE operator_shape known_kernel::companion_shape_at(const operator_shape& base_shape) const {
    operator_shape shape{.type = companion_type, .operand = base_shape.operand};
    shape.sizes[0] = base_shape.sizes[0];
    shape.sizes[1] = base_shape.sizes[is_collective() ? 1 : 2];
    return shape;
}

}  // namespace llmcost

namespace llmcost::detail {

/// Seconds of a product without the computation of scales, which its measurement of `seconds` includes.
[[nodiscard]] LLMCOST_INLINE double without_scales(double seconds, const device& d, const known_kernel& k,
                                                   const operator_shape& point, const measured_curve& of_scales) {
    const double minimum = roofline_seconds(d, point.work()),
                 left = seconds - predicted_seconds(of_scales, d, k.companion_shape_at(point), k.companion_calibration,
                                                    k.companion_position);
    return left > minimum ? left : minimum;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE measured_curve curve_of(const device& d, const known_kernel& k) {
    if (k.calibration == nullptr) return {};
    const operator_shape bare = without_added(k.kernel.shape);
    if (!k.includes_companion()) return {d, bare, *k.calibration, k.layer_shape_position};
    const measured_curve of_scales =
        k.companion_calibration == nullptr
            ? measured_curve{}
            : measured_curve{d, k.companion_shape(), *k.companion_calibration, k.companion_position};
    return {bare, k.calibration->correction, [&](const operator_shape& point) {
                const double seconds = std::exp2(detail::log_seconds(d, point, *k.calibration, k.layer_shape_position));
                return std::log2(detail::without_scales(seconds, d, k, point, of_scales));
            }};
}

}  // namespace llmcost

namespace llmcost::detail {

/// Seconds of a kernel without its `time_factor`.
[[nodiscard]] LLMCOST_INLINE double seconds_before_factor(const device& d, const known_kernel& k) {
    const operator_shape& shape = k.kernel.shape;
    if (k.includes_companion()) {
        const measured_curve computed_curve = k.curve.empty() ? curve_of(d, k) : measured_curve{};
        const measured_curve& curve = k.curve.empty() ? computed_curve : k.curve;
        if (const double seconds = curve.empty() ? NAN : curve(shape.sizes); !std::isnan(seconds))
            return std::fmax(seconds,
                             roofline_seconds(d, shape.work()));  // a roofline bends at the capacity of a cache
        const double seconds = predicted_seconds(d, shape, k.calibration, k.layer_shape_position);
        return std::fmax(without_scales(seconds, d, k, shape, {}),
                         curve.empty() ? 0 : curve.upper_index(shape.sizes[0]));
    }
    const double seconds = predicted_seconds(k.curve, d, shape, k.calibration, k.layer_shape_position);
    if (k.companion_type == nullptr) return seconds;
    const double companion_seconds =
        predicted_seconds(k.companion_curve, d, k.companion_shape(), k.companion_calibration, k.companion_position);
    return companion_seconds < seconds ? companion_seconds : seconds;
}

/// An estimate of a kernel without its `time_factor`.
[[nodiscard]] LLMCOST_INLINE latency_estimate estimate_before_factor(const device& d, const known_kernel& k) {
    const double seconds = seconds_before_factor(d, k);
    if (k.companion_type == nullptr || k.includes_companion())
        return estimate_with_interval(seconds, d, k.kernel.shape, k.calibration);
    const latency_estimate companion_estimate = estimate(d, k.companion_shape(), k.companion_calibration);
    return companion_estimate.seconds <= seconds ? companion_estimate
                                                 : estimate_with_interval(seconds, d, k.kernel.shape, k.calibration);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE double predicted_seconds(const device& d, const known_kernel& k) {
    return k.time_factor * detail::seconds_before_factor(d, k);
}

LLMCOST_INLINE latency_estimate estimate(const device& d, const known_kernel& k) {
    latency_estimate e = detail::estimate_before_factor(d, k);
    if (k.time_factor == 1) return e;
    e.seconds *= k.time_factor;
    e.lower *= k.time_factor;
    e.upper *= k.time_factor;
    e.roofline_efficiency /= k.time_factor;
    return e;
}

LLMCOST_INLINE step_cost& step_cost::add(const step_cost& cost, double times) noexcept {
    seconds += times * cost.seconds;
    flops += times * cost.flops;
    bytes += times * cost.bytes;
    launches += times * cost.launches;
    high_precision_busy += times * cost.high_precision_busy;
    low_precision_busy += times * cost.low_precision_busy;
    memory_busy += times * cost.memory_busy;
    link_busy += times * cost.link_busy;
    return *this;
}

LLMCOST_INLINE step_cost step_cost::issued_in(double seconds_per_launch) const noexcept {
    step_cost c = *this;
    if (launches * seconds_per_launch > seconds) c.seconds = launches * seconds_per_launch;
    return c;
}

/// The fraction of a kernel's bytes that memory moves.
///
/// Experts: those that receive tokens, if each token selects its experts independently. Kernel work counts the maximum.
[[nodiscard]] LLMCOST_INLINE double share_moved(const operator_shape& shape) {
    if (!shape.type->has_engine_specific_experts) return 1;
    const double tokens = static_cast<double>(shape.sizes[0]), experts = static_cast<double>(shape.sizes[4]);
    const double drawn = static_cast<double>(shape.sizes[3]) / experts;
    const double active_experts = drawn >= 1 ? experts : -experts * std::expm1(tokens * std::log1p(-drawn));
    const double priced = std::fmin(tokens * static_cast<double>(shape.sizes[3]), experts);
    return priced > 0 && active_experts < priced ? active_experts / priced : 1;
}

LLMCOST_INLINE step_cost cost_of(const device& d, const known_kernel& k) {
    const auto times = static_cast<double>(k.kernel.num_runs);
    const kernel_work work = detail::work_of(k.kernel.shape, k.calibration);
    step_cost c{times * predicted_seconds(d, k), times * work.flops, work.uses_links ? 0 : times * work.bytes,
                k.kernel.shared_launch_index == model_kernel::separate_launch ? times : 0};
    if (work.compute_unit != nullptr && d.*work.compute_unit > 0) {
        const bool is_low_precision = work.compute_unit == &device::fp8 || work.compute_unit == &device::int8 ||
                                      work.compute_unit == &device::fp4;
        (is_low_precision ? c.low_precision_busy : c.high_precision_busy) = c.flops / (d.*work.compute_unit * 1e12);
    }
    if (work.uses_links && !work.uses_network && bandwidth_of(d, work) > 0)
        c.link_busy = std::fmin(c.seconds, times * work.bytes / (bandwidth_of(d, work) * 1e9));
    const double moving = c.bytes * share_moved(k.kernel.shape) / (d.memory_bandwidth * 1e9);
    c.memory_busy = moving < c.seconds ? moving : c.seconds;  // the remainder is in caches
    return c;
}

LLMCOST_INLINE void summed_time::add(const latency_estimate& e, double times) noexcept {
    seconds_ += times * e.seconds;
    lower_variance_ += times * times * (e.seconds - e.lower) * (e.seconds - e.lower);
    upper_variance_ += times * times * (e.upper - e.seconds) * (e.upper - e.seconds);
    seconds_by_bound_[static_cast<std::size_t>(e.bound)] += times * e.seconds;
}

LLMCOST_INLINE step_time summed_time::issued_in(double host_seconds) const noexcept {
    step_time t{seconds_, seconds_ - std::sqrt(lower_variance_), seconds_ + std::sqrt(upper_variance_)};
    for (const roofline_bound b : {roofline_bound::compute, roofline_bound::memory})
        if (seconds_by_bound_[static_cast<std::size_t>(b)] > seconds_by_bound_[static_cast<std::size_t>(t.bound)])
            t.bound = b;
    if (host_seconds > t.seconds) {
        t.seconds = host_seconds;
        t.bound = roofline_bound::launch;
    }
    t.lower = t.lower > host_seconds / 2 ? t.lower : host_seconds / 2;
    t.upper = t.upper > host_seconds * 1.5 ? t.upper : host_seconds * 1.5;
    return t;
}

LLMCOST_INLINE double seconds_per_launch(const execution& execution, const device& device, kernel_source& kernels) {
    if (execution.launch == launch_mode::cuda_graph) return 0;
    if (execution.launch == launch_mode::eager) return framework_seconds_per_operation;
    constexpr std::int64_t launches = 1000;  // one launch alone includes a synchronization with the host
    operator_shape shape{
        .type = find_operator_type("launch"), .sizes = {launches, 1}, .operand = find_operand_type("bfloat16")};
    shape.variant = "stream";
    const kernel_calibration* known = kernels.find(shape);
    return predicted_seconds(device, shape, known,
                             known == nullptr ? correction_table::layer_shape_position{}
                                              : known->correction.find_position(shape.layer_shape())) /
           static_cast<double>(launches);
}

LLMCOST_INLINE std::vector<known_kernel> match_kernels(std::vector<model_kernel> all, const execution& execution,
                                                       kernel_source& kernels) {
    std::vector<known_kernel> out;
    out.reserve(all.size());
    for (model_kernel& k : all) {
        known_kernel known{std::move(k)};
        const operator_shape& shape = known.kernel.shape;
        known.calibration = kernels.find(shape);
        known.time_factor = kernels.time_factor(shape, execution.is_decode_step);
        const operator_type& family = *shape.type;
        const bool has_form = family.companion_variant.empty() || shape.variant == family.companion_variant;
        const bool collects = shape.work().uses_links;
        const bool applies = collects ? shape.sizes[1] <= execution::default_devices_per_node
                                      : execution.has_static_scales && shape.operand->has_per_tensor_scale;
        if (!family.companion_type.empty() && has_form && applies)
            known.companion_type = find_operator_type(family.companion_type);
        if (known.calibration != nullptr)
            known.layer_shape_position = known.calibration->correction.find_position(shape.layer_shape());
        if (known.companion_type != nullptr) {
            const operator_shape companion_shape = known.companion_shape();
            known.companion_calibration = kernels.find(companion_shape);
            if (known.companion_calibration != nullptr)
                known.companion_position =
                    known.companion_calibration->correction.find_position(companion_shape.layer_shape());
        }
        out.push_back(std::move(known));
    }
    return out;
}

}  // namespace llmcost
