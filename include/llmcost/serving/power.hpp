// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/devices/device.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// What a board draws, as shares of its design power: at rest, with its units at their peak, with its memory at its
/// bandwidth.
///
/// Fitted to boards of H200 (700 W) in operator tables with measured power (vLLM 0.22.0, ai-dynamo/aiconfigurator
/// @095f58a5): 124 W at rest, 0.46 pJ per FLOP in 16 bits and 0.19 in 8, 78 pJ per byte, off by 28 % on their mean.
/// Other boards are taken to divide their power alike.
struct power_model {
    double idle_fraction = 0.18;
    double compute = 0.65;
    double low_precision_compute = 0.54;  ///< of 8 bits and fewer
    double memory = 0.53;

    /// Watts over a time in which so much is done, up to the design power.
    [[nodiscard]] double watts(const device& d, const step_cost& done, double seconds) const noexcept {
        const double busy = compute * done.high_precision_busy + low_precision_compute * done.low_precision_busy +
                            memory * done.memory_busy;
        const double drawn = d.thermal_design_watts * (idle_fraction + busy / seconds);
        return drawn < d.thermal_design_watts ? drawn : d.thermal_design_watts;
    }
};

/// Watts of each device in a step: each kernel by its own unit.
[[nodiscard]] inline double watts_of(const device& d, const step_cost& done, double seconds) noexcept {
    return power_model{}.watts(d, done, seconds);
}

}  // namespace llmcost
