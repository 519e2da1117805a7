// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/families.hpp>
#include <llmcost/latency/operators.hpp>
#include <llmcost/latency/residuals.hpp>
#include <llmcost/latency/roofline.hpp>

namespace llmcost {

/// How far predictions were from measurements that took no part in the fit, as log2(measured / predicted).
struct held_out_error {
    std::int64_t rows = 0;
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
    string_ref variant{};   ///< of families that have one: the cache's type, how tokens are spread, which collective
    double work_share = 1;  ///< of the family's work that this kernel does: two of three matrices where nothing gates
    roofline base{};
    double past_bandwidth_efficiency = 0;  ///< of tokens before a prompt, where decoding says it; 0: the roofline's
    residual_table residual{};
    taken_decodes takes_decodes = taken_decodes::no;
    bool of_another_device = false;  ///< that stands in for one where nothing was measured
    held_out_error error{};
    held_out_error error_elsewhere{};  ///< at sites that were left out whole; no rows where there were too few sites

    /// How far predictions at a site are off: where it was not measured, those of sites that were left out whole, or twice
    /// those of shapes.
    [[nodiscard]] held_out_error error_at(const std::int64_t* site) const noexcept {
        if (residual.has(site)) return error;
        const held_out_error& there = error_elsewhere;
        if (there.rows == 0) return {error.rows, 2 * error.median, 2 * error.low, 2 * error.high};
        return {there.rows, there.median, there.low < error.low ? there.low : error.low,
                there.high > error.high ? there.high : error.high};
    }
};

/// A time with the interval that nine in ten measurements fall into, and what binds it.
struct latency_estimate {
    double seconds = 0;
    double lower = 0;
    double upper = 0;
    bound_by bound = bound_by::launch;
    double share_of_bound = 0;  ///< the time at the datasheet's peak or bandwidth, whichever is longer, of the predicted
    bool calibrated = false;
    const kernel_calibration* by = nullptr;  ///< whose measurements say it; null: typical efficiencies
};

namespace detail {

/// What a kernel does of an operator's work.
[[nodiscard]] constexpr kernel_work work_of(const operator_shape& shape, const kernel_calibration* known) {
    kernel_work work = shape.work();
    if (known != nullptr) work.flops *= known->work_share, work.bytes *= known->work_share;
    return work;
}

/// log2 of the time of an operator by its kernel's roofline and residual.
[[nodiscard]] inline double log_seconds(const device& d, const operator_shape& shape, const kernel_calibration& c,
                                        const residual_table::place_of_site& where) {
    const datasheet_seconds s = seconds_of(d, work_of(shape, &c));
    return std::log2(c.base(s.compute, s.memory)) + c.residual(where, shape.sizes);
}

/// Whether an operator is what a kernel's deviations were taken from: its device, type and word, at a measured site.
[[nodiscard]] inline bool was_measured(const device& d, const operator_shape& shape, const kernel_calibration& c) {
    return answers_to(d, c.device) && c.variant == shape.variant && find_operand(c.operand) == shape.operand &&
           c.residual.has(shape.site());
}

/// Interpolated between the measured places around it along this axis and those behind it.
[[nodiscard]] inline double log_seconds_between(const device& d, const operator_shape& shape, const kernel_calibration& c,
                                                const residual_table::place_of_site& where, std::size_t axis) {
    if (axis == shape.family->axes) return log_seconds(d, shape, c, where);
    const residual_table::bracket at = c.residual.around(axis, shape.sizes[axis]);
    operator_shape end = shape;
    end.sizes[axis] = at.low;
    const double low = log_seconds_between(d, end, c, where, axis + 1);
    if (at.share == 0) return low;
    end.sizes[axis] = at.high;
    return low + at.share * (log_seconds_between(d, end, c, where, axis + 1) - low);
}

/// The places along an axis that a size stands behind or between: the measured ones before it, and the next or itself.
struct places_before {
    std::size_t measured = 0;  ///< of them; one more is the last
    std::int64_t last = 0;
    double share = 1;  ///< of the last, the rest is of the one before
    places_before(const residual_table& r, std::size_t axis, std::size_t axes, std::int64_t here) noexcept : last(here) {
        if (axis >= axes || r.site_count == 0) return;
        while (measured < r.length[axis] && r.axis[axis][measured] < here) ++measured;
        const residual_table::bracket at = r.around(axis, here);
        if (at.share != 0) last = at.high, share = at.share;
    }
};

/// A time at sizes of a shape along its axes, as its logarithm: between the places of a table, at each of them no less than
/// at any measured one with less along the axes.
///
/// `log_seconds_at(shape, i, k)` says it at one place; it is the i-th and k-th measured one, if there are such.
template <class LogSecondsAt>
[[nodiscard]] double risen(const residual_table& r, operator_shape shape, LogSecondsAt&& log_seconds_at) {
    const std::size_t axes = shape.family->axes;
    const places_before a(r, 0, axes, shape.sizes[0]), b(r, 1, axes, shape.sizes[1]);
    double most[2][2]{{-HUGE_VAL, -HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}};  // up to the place before the last, and to the last
    for (std::size_t i = 0; i <= a.measured; ++i)
        for (std::size_t k = 0; k <= b.measured; ++k) {
            shape.sizes[0] = i < a.measured ? r.axis[0][i] : a.last;
            if (axes > 1) shape.sizes[1] = k < b.measured ? r.axis[1][k] : b.last;
            const double here = log_seconds_at(static_cast<const operator_shape&>(shape), i, k);
            for (std::size_t n = i < a.measured ? 0 : 1; n < 2; ++n)
                for (std::size_t m = k < b.measured ? 0 : 1; m < 2; ++m) most[n][m] = std::fmax(most[n][m], here);
        }
    const auto between = [](const places_before& p, double low, double high) {
        return p.share == 1 || p.measured == 0 ? high : low + p.share * (high - low);
    };
    return between(a, between(b, most[0][0], most[0][1]), between(b, most[1][0], most[1][1]));
}

/// log2 of an operator's time, made to rise: a deviation that is laid on another roofline than it was taken from, or mixed
/// of several sites', may fall where that does not rise.
///
/// `known(i, k)` is that time at the i-th and k-th measured places, or NaN.
template <class Known>
[[nodiscard]] double log_seconds_risen(const device& d, const operator_shape& shape, const kernel_calibration& c,
                                       const residual_table::place_of_site& where, Known&& known) {
    const residual_table& r = c.residual;
    return risen(r, shape, [&](const operator_shape& at, std::size_t i, std::size_t k) {
        const bool is_measured = i < r.length[0] && at.sizes[0] == r.axis[0][i] &&
                                 (at.family->axes < 2 || (k < r.length[1] && at.sizes[1] == r.axis[1][k]));
        const double here = is_measured ? known(i, k) : NAN;
        return std::isnan(here) ? log_seconds(d, at, c, where) : here;
    });
}

/// The row of typical efficiencies for an operator.
[[nodiscard]] inline const uncalibrated_kernel& typical_of(const operator_shape& shape) noexcept {
    const bool quantises = shape.operand->weight_bytes < shape.operand->activation_bytes;
    return quantises ? shape.family->quantised : shape.family->typical;
}
[[nodiscard]] inline typical_interval around_typical(const operator_shape& shape) {
    return shape.family->around != nullptr ? shape.family->around(shape.variant) : typical_of(shape).around;
}

}  // namespace detail

/// The shape without what only adds to it.
[[nodiscard]] inline operator_shape without_added(operator_shape shape) noexcept {
    if (const std::size_t added = shape.family->added(); added < shape.family->size_count) shape.sizes[added] = 0;
    return shape;
}

/// Seconds that what is added to a shape takes by a roofline: what all units compute more, or, where that is longer, what
/// the parts of one unit are more (`occupied_flops`), beside what is moved more. More of any size adds no less.
///
/// The roofline is the kernel's own for tokens before a prompt, the typical one for proposed tokens: where each sequence has
/// one new token, measurements say nothing of products of several.
[[nodiscard]] inline double seconds_added(const device& d, const operator_shape& shape, const kernel_calibration* known) {
    const operator_family& family = *shape.family;
    const std::size_t added = family.added();
    if (added == family.size_count || shape.sizes[added] == 0) return 0;
    const bool is_own = known != nullptr && family.sizes[added].past;
    roofline base = is_own ? known->base : detail::typical_of(shape).base;
    if (is_own && known->past_bandwidth_efficiency > 0) base.bandwidth_efficiency = known->past_bandwidth_efficiency;
    kernel_work more = detail::work_of(shape, known);
    const kernel_work before = detail::work_of(without_added(shape), known);
    more.flops -= before.flops, more.bytes -= before.bytes;
    more.largest_part -= before.largest_part, more.smallest_part -= before.smallest_part;
    const datasheet_seconds s = seconds_of(d, more);
    return base(s.compute, s.memory) - base.launch;
}

/// Seconds of an operator on a device that can price it, by typical efficiencies where nobody has measured the kernel
/// (`known` is null); `where` is its site's place in the kernel's residual.
///
/// Between measured places along an axis the logarithm of the time is interpolated, so that where those rise with it all do.
/// Never less than `least_seconds`.
[[nodiscard]] inline double predicted_seconds(const device& d, const operator_shape& shape, const kernel_calibration* known,
                                              const residual_table::place_of_site& where) {
    const operator_shape bare = without_added(shape);
    double predicted = 0;
    if (known == nullptr || known->residual.site_count == 0) {
        const datasheet_seconds s = seconds_of(d, detail::work_of(bare, known));
        predicted = (known == nullptr ? detail::typical_of(shape).base : known->base)(s.compute, s.memory);
    } else {
        const auto unknown = [](std::size_t, std::size_t) { return NAN; };
        predicted =
            std::exp2(detail::was_measured(d, bare, *known) ? detail::log_seconds_between(d, bare, *known, where, 0)
                                                            : detail::log_seconds_risen(d, bare, *known, where, unknown));
    }
    predicted += seconds_added(d, shape, known);
    const double least = least_seconds(d, detail::work_of(shape, known));
    return predicted < least ? least : predicted;
}

/// The time of an operator, which is predicted to be `seconds`, with its interval and what binds it.
[[nodiscard]] inline latency_estimate estimate_around(double seconds, const device& d, const operator_shape& shape,
                                                      const kernel_calibration* known) {
    const kernel_work work = detail::work_of(shape, known);
    const datasheet_seconds s = seconds_of(d, work);
    const uncalibrated_kernel& typical = detail::typical_of(shape);
    const double least = least_seconds(d, work);
    latency_estimate e;
    e.seconds = seconds;
    typical_interval around = detail::around_typical(shape);
    if (known != nullptr) {
        const held_out_error error = known->error_at(shape.site());
        around = {error.low, error.high};
    }
    e.lower = e.seconds * std::exp2(around.low);
    e.upper = e.seconds * std::exp2(around.high);
    if (e.lower < least) e.lower = least;
    e.bound = (known != nullptr ? known->base : typical.base).bound(s.compute, s.memory);
    kernel_work divided = work;
    divided.parts = 0;
    const datasheet_seconds at_best = seconds_of(d, divided);
    const double at_datasheet = at_best.compute > at_best.memory ? at_best.compute : at_best.memory;
    e.share_of_bound = at_datasheet < e.seconds ? at_datasheet / e.seconds : 1;  // caches are faster than memory
    e.calibrated = known != nullptr && !known->of_another_device;
    e.by = known;
    return e;
}
/// The same by `predicted_seconds`.
[[nodiscard]] inline latency_estimate estimate(const device& d, const operator_shape& shape,
                                               const kernel_calibration* known) {
    const auto where = known == nullptr ? residual_table::place_of_site{} : known->residual.locate(shape.site());
    return estimate_around(predicted_seconds(d, shape, known, where), d, shape, known);
}

}  // namespace llmcost
