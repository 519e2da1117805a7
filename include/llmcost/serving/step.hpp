// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/latency/calibration.hpp>
#include <llmcost/serving/curve.hpp>
#include <llmcost/serving/kernels.hpp>

namespace llmcost {

/// Where measured kernels come from.
class kernel_source {
public:
    /// What was measured of an operator's kernel; null where nobody measured it.
    virtual const kernel_calibration* find(const operator_shape&) = 0;

protected:
    ~kernel_source() = default;
};

/// A kernel of a model with what was measured of it.
struct known_kernel {
    model_kernel what;
    const kernel_calibration* known = nullptr;
    residual_table::place_of_site where{};
    const operator_family* other = nullptr;  ///< an all-reduce of the engine's own; what a product with known scales saves
    const kernel_calibration* other_known = nullptr;
    residual_table::place_of_site other_where{};
    measured_curve curve{}, other_curve{};  ///< of both, where sizes beside the axes stay as they are; else empty

    /// The other operator at sizes of this kernel's.
    [[nodiscard]] operator_shape other_at(const operator_shape& own) const {
        operator_shape shape{.family = other, .operand = own.operand};
        shape.sizes[0] = own.sizes[0], shape.sizes[1] = own.sizes[reduces() ? 1 : 2];
        return shape;
    }
    [[nodiscard]] operator_shape other_shape() const { return other_at(what.shape); }
    [[nodiscard]] bool reduces() const { return what.shape.work().between_devices; }
    /// Whether the other operator is part of what was measured, and need not run.
    [[nodiscard]] bool saves() const { return other != nullptr && !reduces(); }
};

namespace detail {

/// What is left of a product that takes `seconds` without computing scales, which its measurement includes.
[[nodiscard]] inline double without_scales(double seconds, const device& d, const known_kernel& k, const operator_shape& at,
                                           const measured_curve& of_scales) {
    const double least = least_seconds(d, at.work()),
                 left = seconds - predicted_seconds(of_scales, d, k.other_at(at), k.other_known, k.other_where);
    return left > least ? left : least;
}

}  // namespace detail

/// A kernel's time at the measured places, without what it saves there; empty where it was not measured.
[[nodiscard]] inline measured_curve curve_of(const device& d, const known_kernel& k) {
    if (k.known == nullptr) return {};
    const operator_shape bare = without_added(k.what.shape);
    if (!k.saves()) return {d, bare, *k.known, k.where};
    const measured_curve of_scales =
        k.other_known == nullptr ? measured_curve{} : measured_curve{d, k.other_shape(), *k.other_known, k.other_where};
    return {bare, k.known->residual, [&](const operator_shape& at) {
                const double seconds = std::exp2(detail::log_seconds(d, at, *k.known, k.where));
                return std::log2(detail::without_scales(seconds, d, k, at, of_scales));
            }};
}

/// Seconds of one of a model's kernels.
///
/// An engine takes its own all-reduce where that is faster than NCCL's. A product whose activations' scales are known
/// beforehand saves computing them: what both take at measured places, made to rise.
[[nodiscard]] inline double predicted_seconds(const device& d, const known_kernel& k) {
    const operator_shape& shape = k.what.shape;
    if (k.saves()) {
        const measured_curve here = k.curve.empty() ? curve_of(d, k) : measured_curve{};
        const measured_curve& curve = k.curve.empty() ? here : k.curve;
        if (const double seconds = curve.empty() ? NAN : curve(shape.sizes); !std::isnan(seconds))
            return std::fmax(seconds, least_seconds(d, shape.work()));  // which bends where a cache is full
        const double seconds = predicted_seconds(d, shape, k.known, k.where);
        return std::fmax(detail::without_scales(seconds, d, k, shape, {}),
                         curve.empty() ? 0 : curve.end_before(shape.sizes[0]));
    }
    const double seconds = predicted_seconds(k.curve, d, shape, k.known, k.where);
    if (k.other == nullptr) return seconds;
    const double other = predicted_seconds(k.other_curve, d, k.other_shape(), k.other_known, k.other_where);
    return other < seconds ? other : seconds;
}

/// The same with its interval and what binds it.
[[nodiscard]] inline latency_estimate estimate(const device& d, const known_kernel& k) {
    const double seconds = predicted_seconds(d, k);
    if (k.other == nullptr || k.saves()) return estimate_around(seconds, d, k.what.shape, k.known);
    const latency_estimate other = estimate(d, k.other_shape(), k.other_known);
    return other.seconds <= seconds ? other : estimate_around(seconds, d, k.what.shape, k.known);
}

/// What kernels cost together, one after the other.
struct step_cost {
    double seconds = 0;
    double flops = 0;
    double bytes = 0;     ///< to and from memory
    double launches = 0;  ///< kernels that somebody issues
    double wide_busy = 0, narrow_busy = 0;  ///< seconds that units of 16 bits and more, and of fewer, are busy at their peak
    double memory_busy = 0;                 ///< seconds that memory is at its bandwidth for what must be read and written

    step_cost& operator+=(const step_cost& other) noexcept { return add(other, 1); }
    /// So many of it.
    step_cost& add(const step_cost& other, double times) noexcept {
        seconds += times * other.seconds, flops += times * other.flops, bytes += times * other.bytes;
        launches += times * other.launches, wide_busy += times * other.wide_busy;
        narrow_busy += times * other.narrow_busy, memory_busy += times * other.memory_busy;
        return *this;
    }
    [[nodiscard]] step_cost operator*(double times) const noexcept { return step_cost{}.add(*this, times); }
    /// The same where the host takes so long to issue each kernel: it runs ahead of the device until that waits for it.
    [[nodiscard]] step_cost issued_in(double seconds_per_launch) const noexcept {
        step_cost c = *this;
        if (launches * seconds_per_launch > seconds) c.seconds = launches * seconds_per_launch;
        return c;
    }
};

/// The share of a kernel's bytes that memory moves: of experts those that some token is sent to, as many as there are at
/// most if each token draws its own by itself (fewer where some are drawn more often).
[[nodiscard]] inline double share_moved(const operator_shape& shape) {
    if (!shape.family->experts) return 1;
    const double tokens = static_cast<double>(shape.sizes[0]), experts = static_cast<double>(shape.sizes[4]);
    const double drawn = static_cast<double>(shape.sizes[3]) / experts;
    const double met = drawn >= 1 ? experts : -experts * std::expm1(tokens * std::log1p(-drawn));
    const double priced = std::fmin(tokens * static_cast<double>(shape.sizes[3]), experts);
    return priced > 0 && met < priced ? met / priced : 1;
}

/// What all runs of a model's kernel cost.
[[nodiscard]] inline step_cost cost_of(const device& d, const known_kernel& k) {
    const auto times = static_cast<double>(k.what.times);
    const kernel_work work = detail::work_of(k.what.shape, k.known);
    step_cost c{times * predicted_seconds(d, k), times * work.flops, work.between_devices ? 0 : times * work.bytes,
                k.what.launch == model_kernel::own_launch ? times : 0};
    if (work.unit != nullptr && d.*work.unit > 0) {
        const bool narrow = work.unit == &device::fp8 || work.unit == &device::int8 || work.unit == &device::fp4;
        (narrow ? c.narrow_busy : c.wide_busy) = c.flops / (d.*work.unit * 1e12);
    }
    const double moving = c.bytes * share_moved(k.what.shape) / (d.memory_bandwidth * 1e9);
    c.memory_busy = moving < c.seconds ? moving : c.seconds;  // the rest is in caches
    return c;
}

/// Seconds with the interval of all kernels behind them, and what binds most of them.
struct step_time {
    double seconds = 0;
    double lower = 0;
    double upper = 0;
    bound_by bound = bound_by::launch;
};

/// The time of kernels one behind the other: errors of different ones are taken as independent of each other, those of one
/// kernel's runs as the same.
class summed_time {
public:
    void add(const latency_estimate& e, double times) noexcept {
        seconds_ += times * e.seconds;
        below_ += times * times * (e.seconds - e.lower) * (e.seconds - e.lower);
        above_ += times * times * (e.upper - e.seconds) * (e.upper - e.seconds);
        by_[static_cast<std::size_t>(e.bound)] += times * e.seconds;
    }
    /// Where a host issues them in so many seconds, give or take half, the longer of both.
    [[nodiscard]] step_time issued_in(double host_seconds) const noexcept {
        step_time t{seconds_, seconds_ - std::sqrt(below_), seconds_ + std::sqrt(above_)};
        for (const bound_by b : {bound_by::compute, bound_by::memory})
            if (by_[static_cast<std::size_t>(b)] > by_[static_cast<std::size_t>(t.bound)]) t.bound = b;
        if (host_seconds > t.seconds) t.seconds = host_seconds, t.bound = bound_by::launch;
        t.lower = t.lower > host_seconds / 2 ? t.lower : host_seconds / 2;
        t.upper = t.upper > host_seconds * 1.5 ? t.upper : host_seconds * 1.5;
        return t;
    }

private:
    double seconds_ = 0, below_ = 0, above_ = 0, by_[3]{};
};

/// Host time of a framework for each operation that it dispatches, allocates for and launches: vLLM's all-reduce takes 20.5
/// µs by itself and 4.7 µs in a graph (ai-dynamo/aiconfigurator @095f58a5, custom_allreduce of vLLM 0.24.0 on H200).
inline constexpr double framework_seconds_per_operation = 16e-6;

/// Seconds that the host needs for each kernel; none in a graph.
[[nodiscard]] inline double seconds_per_launch(const execution& how, const device& on, kernel_source& from) {
    if (how.issued == issue::graph) return 0;
    if (how.issued == issue::eager) return framework_seconds_per_operation;
    operator_shape shape{.family = find_family("launch"), .sizes = {1, 1}, .operand = find_operand("bfloat16")};
    shape.variant = "stream";
    const kernel_calibration* known = from.find(shape);
    return predicted_seconds(on, shape, known,
                             known == nullptr ? residual_table::place_of_site{} : known->residual.locate(shape.site()));
}

/// A model's kernels with what was measured of them.
[[nodiscard]] inline std::vector<known_kernel> with_measurements(std::vector<model_kernel> all, const execution& how,
                                                                 kernel_source& from) {
    std::vector<known_kernel> out;
    out.reserve(all.size());
    for (model_kernel& k : all) {
        known_kernel known{std::move(k)};
        const operator_shape& shape = known.what.shape;
        known.known = from.find(shape);
        const operator_family& family = *shape.family;
        const bool has_form = family.beside_variant.empty() || shape.variant == family.beside_variant;
        const bool collects = shape.work().between_devices;
        const bool applies = collects ? shape.sizes[1] <= execution::most_devices_of_a_node
                                      : how.static_scales && shape.operand->scaled_per_tensor;
        if (!family.beside.empty() && has_form && applies) known.other = find_family(family.beside);
        if (known.known != nullptr) known.where = known.known->residual.locate(shape.site());
        if (known.other != nullptr) {
            const operator_shape other = known.other_shape();
            known.other_known = from.find(other);
            if (known.other_known != nullptr) known.other_where = known.other_known->residual.locate(other.site());
        }
        out.push_back(std::move(known));
    }
    return out;
}

}  // namespace llmcost
