// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/serving/prediction_intervals.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// Shares of a step in which the parts of a device are busy at their peak: seconds at the peak over all seconds.
struct device_utilization {
    double compute = 0;                ///< of units of at least 16 bits
    double low_precision_compute = 0;  ///< of units of at most 8 bits
    double memory = 0;                 ///< of the memory bandwidth
    double links = 0;                  ///< of the bandwidth of links between devices
};
/// The utilization of a device in `seconds` of work.
[[nodiscard]] device_utilization utilization_of(const step_cost& done, double seconds) noexcept;

/// The power of a device as fractions of its thermal design power.
///
/// watts = design power · min(1, active + Σ fraction · utilization). `idle` applies while nothing runs.
/// The error is log2(measured / predicted) of models that took no part in the fit.
struct power_model {
    string_ref device{};  ///< empty: any other device
    double idle_fraction = 0;
    double active_fraction = 0;  ///< while kernels run, without their work
    double compute = 0;
    double low_precision_compute = 0;
    double memory = 0;
    double links = 0;
    relative_interval error{};

    /// Mean watts of work that takes `seconds`, at most the thermal design power.
    [[nodiscard]] double watts(const llmcost::device& d, const step_cost& done, double seconds) const noexcept;
};

// Idle: 124 W of an H200 of 700 W, in operator tables of vLLM 0.22.0, ai-dynamo/aiconfigurator @095f58a5.
// The others: .ci/fit_power.py, 245 runs of vLLM on H100 and B200, ml-energy/leaderboard @0cd52da. Held out by model,
// the median errors are 10 % and 11 %; held out by device, 15 %. The power of links is too small to be determined.
inline constexpr power_model power_models[]{
    {.idle_fraction = 0.18,
     .active_fraction = 0.571,
     .compute = 0.84,
     .low_precision_compute = 0.697,
     .memory = 0.193,
     .error = {-0.58, 0.33}},
    {.device = "h100_sxm",
     .idle_fraction = 0.18,
     .active_fraction = 0.638,
     .compute = 0.906,
     .low_precision_compute = 0.752,
     .memory = 0.0171,
     .error = {-0.23, 0.40}},
    {.device = "b200_sxm",
     .idle_fraction = 0.18,
     .active_fraction = 0.439,
     .compute = 0.562,
     .low_precision_compute = 0.466,
     .memory = 0.712,
     .links = 0.00733,
     .error = {-0.67, 0.14}},
};

/// The power model of a device: its own, or that of any other device.
[[nodiscard]] constexpr const power_model& power_model_of(const device& d) noexcept {
    for (const power_model& m : power_models)
        if (!m.device.empty() && m.device == d.names[0]) return m;
    return power_models[0];
}

/// Mean watts of each device in a step.
[[nodiscard]] inline double watts_of(const device& d, const step_cost& done, double seconds) noexcept {
    return power_model_of(d).watts(d, done, seconds);
}

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/power.ipp>  // IWYU pragma: export
#endif
