// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/device.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// What a board draws: a share of its design power at rest, and energy for each operation and byte, up to its limit.
///
/// Fitted to the boards of H200 in operator tables with measured power (vLLM 0.22.0, ai-dynamo/aiconfigurator @095f58a):
/// 124 W of 700, 0.46 pJ per FLOP in 16 bits and 0.19 in 8, 78 pJ per byte of memory; off by 28 % on their mean.
struct power_model {
    double idle_share = 0.18;
    double joules_per_flop = 0.46e-12;
    double joules_per_byte = 78e-12;
    double error = 0.3;  ///< share by which answers may be off

    /// Watts over a time in which so much is done.
    [[nodiscard]] double watts(const device& d, const step_cost& done, double seconds) const noexcept {
        const double drawn = idle_share * d.watts + (joules_per_flop * done.flops + joules_per_byte * done.bytes) / seconds;
        return drawn < d.watts ? drawn : d.watts;
    }
};

/// The model for products of an operand: what is narrower costs less per operation.
[[nodiscard]] inline power_model power_of(const operand_row& operand) noexcept {
    power_model p;
    if (operand.weight_bytes < 2 && operand.unit != &device::bf16) p.joules_per_flop = 0.19e-12;
    return p;
}

}  // namespace llmcost
