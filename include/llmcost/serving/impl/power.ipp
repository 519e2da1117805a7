// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/power.hpp>

#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE double power_model::watts(const device& d, const step_cost& done, double seconds) const noexcept {
    const double busy = compute * done.high_precision_busy + low_precision_compute * done.low_precision_busy +
                        memory * done.memory_busy;
    const double drawn = d.thermal_design_watts * (idle_fraction + busy / seconds);
    return drawn < d.thermal_design_watts ? drawn : d.thermal_design_watts;
}

}  // namespace llmcost
