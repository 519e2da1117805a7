// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include <llmcost/device.hpp>
#include <llmcost/latency/operators.hpp>
#include <llmcost/latency/residuals.hpp>
#include <llmcost/latency/roofline.hpp>
#include <llmcost/string_ref.hpp>

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
    string_ref family{};    ///< `gemm`
    string_ref software{};  ///< `trtllm`, `vllm`, `sglang`, `torch`
    string_ref version{};
    string_ref kernel{};  ///< as the software names it
    string_ref operand{};
    roofline base{};
    residual_table residual{};
    held_out_error error{};
};

/// A time with the interval that nine in ten measurements fall into, and what binds it.
struct latency_estimate {
    double seconds = 0;
    double lower = 0;
    double upper = 0;
    bound_by bound = bound_by::launch;
    double share_of_bound = 0;  ///< the least time that physics allows, of the predicted
    bool calibrated = false;
};

/// Efficiencies of a kernel that nobody has measured on this device.
struct uncalibrated_kernel {
    roofline base{};
    double low = 0;  ///< as of `held_out_error`, over every measured device
    double high = 0;
};

// Typical constants of matrix products on Hopper (docs/latency.md); the intervals are those of all rows of 16 bits, and of
// all others, on A100, H100, H200, B200 and L40S. What quantises its activations launches several kernels.
inline constexpr uncalibrated_kernel uncalibrated_gemm{{3.3e-6, 0.78, 0.82, 2.5}, -0.49, 0.61};
inline constexpr uncalibrated_kernel uncalibrated_quantised_gemm{{13.3e-6, 0.65, 0.81, 1.2}, -1.13, 2.36};

/// A matrix product (m, k) · (k, n).
struct gemm_shape {
    std::int64_t m = 1;
    std::int64_t n = 1;
    std::int64_t k = 1;
    const operand_row* operand = nullptr;

    [[nodiscard]] constexpr kernel_work work() const noexcept { return gemm_work(m, n, k, *operand); }
};

namespace detail {

/// log2 of the time of a product by its kernel's roofline and residual.
[[nodiscard]] inline double log_seconds(const device& d, const gemm_shape& shape, const kernel_calibration& c) noexcept {
    const datasheet_seconds s = seconds_of(d, shape.work());
    const std::int64_t site[] = {shape.n, shape.k};
    return std::log2(c.base(s.compute, s.memory)) + c.residual(site, &shape.m);
}

}  // namespace detail

/// The time of a matrix product on a device that has a unit for its operands, by typical efficiencies where nobody has
/// measured the kernel (`known` is null).
///
/// Between two measured m the logarithm of the time is interpolated, so that where those rise with m, as they are made to
/// at every measured (n, k), all do. Never less than `least_seconds`.
[[nodiscard]] inline latency_estimate estimate(const device& d, const gemm_shape& shape,
                                               const kernel_calibration* known) noexcept {
    const kernel_work work = shape.work();
    const datasheet_seconds s = seconds_of(d, work);
    const bool quantises = shape.operand->weight_bytes < shape.operand->activation_bytes;
    const uncalibrated_kernel& typical = quantises ? uncalibrated_quantised_gemm : uncalibrated_gemm;
    double predicted = 0;
    if (known == nullptr) {
        predicted = typical.base(s.compute, s.memory);
    } else {
        const residual_table::bracket at = known->residual.around(0, shape.m);
        gemm_shape low = shape, high = shape;
        low.m = at.low, high.m = at.high;
        double log = detail::log_seconds(d, low, *known);
        if (at.share != 0) log += at.share * (detail::log_seconds(d, high, *known) - log);
        predicted = std::exp2(log);
    }
    const double least = least_seconds(d, work);
    latency_estimate e;
    e.seconds = predicted < least ? least : predicted;
    e.lower = e.seconds * std::exp2(known != nullptr ? known->error.low : typical.low);
    e.upper = e.seconds * std::exp2(known != nullptr ? known->error.high : typical.high);
    if (e.lower < least) e.lower = least;
    e.bound = (known != nullptr ? known->base : typical.base).bound(s.compute, s.memory);
    e.share_of_bound = least / e.seconds;
    e.calibrated = known != nullptr;
    return e;
}

}  // namespace llmcost
