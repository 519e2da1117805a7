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
/// @095f58a5): 124 W at rest, 0.46 pJ per FLOP in 16 bits and 0.19 in 8, 78 pJ per byte, off by 28 % on their mean. Other
/// boards are taken to divide their power alike.
struct power_model {
    double idle = 0.18;
    double compute = 0.65;
    double memory = 0.53;

    /// Watts over a time in which so much is done by units of this peak (TFLOP/s), up to the design power.
    [[nodiscard]] double watts(const device& d, double peak, const step_cost& done, double seconds) const noexcept {
        const double of_peak = peak > 0 ? done.flops / (seconds * peak * 1e12) : 0;
        const double of_bandwidth = done.bytes / (seconds * d.memory_bandwidth * 1e9);
        const double drawn = d.watts * (idle + compute * of_peak + memory * of_bandwidth);
        return drawn < d.watts ? drawn : d.watts;
    }
};

/// Watts of each device in a step whose products have operands of a type.
[[nodiscard]] inline double watts_of(const device& d, const operand_row& products, const step_cost& done,
                                     double seconds) noexcept {
    power_model p;
    if (products.weight_bytes < 2 && products.unit != &device::bf16) p.compute = 0.54;
    return p.watts(d, d.*products.unit, done, seconds);
}

}  // namespace llmcost
