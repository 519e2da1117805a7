// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/devices/device.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// The power of a device as fractions of its thermal design power: idle, units at peak, memory at its bandwidth.
///
/// Fitted to H200 boards (700 W): 124 W idle, 0.46 pJ per FLOP in 16 bits, 0.19 pJ in 8 bits, 78 pJ per byte.
/// The mean error is 28 %. Other devices are assumed to have the same fractions.
/// Source: measured power in operator tables of vLLM 0.22.0, ai-dynamo/aiconfigurator @095f58a5.
struct power_model {
    double idle_fraction = 0.18;
    double compute = 0.65;
    double low_precision_compute = 0.54;  ///< at most 8 bits
    double memory = 0.53;

    /// Mean watts of work that takes `seconds`, at most the thermal design power.
    [[nodiscard]] double watts(const device& d, const step_cost& done, double seconds) const noexcept;
};

/// Mean watts of each device in a step.
[[nodiscard]] inline double watts_of(const device& d, const step_cost& done, double seconds) noexcept {
    return power_model{}.watts(d, done, seconds);
}

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/power.ipp>  // IWYU pragma: export
#endif
