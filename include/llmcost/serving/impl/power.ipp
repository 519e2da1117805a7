// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/power.hpp>

#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE device_utilization utilization_of(const step_cost& done, double seconds) noexcept {
    return {done.high_precision_busy / seconds, done.low_precision_busy / seconds, done.memory_busy / seconds,
            done.link_busy / seconds};
}

LLMCOST_INLINE double power_model::watts(const llmcost::device& d, const step_cost& done,
                                         double seconds) const noexcept {
    const device_utilization u = utilization_of(done, seconds);
    const double fraction = active_fraction + compute * u.compute + low_precision_compute * u.low_precision_compute +
                            memory * u.memory + links * u.links;
    return d.thermal_design_watts * (fraction < 1 ? fraction : 1);
}

}  // namespace llmcost
