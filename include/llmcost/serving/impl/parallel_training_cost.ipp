// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/parallel_training_cost.hpp>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE double parallel_training_cost::exposed_seconds() const noexcept {
    double seconds = 0;
    for (const training_communication& c : communication) seconds += c.exposed_seconds;
    return seconds;
}

LLMCOST_INLINE double parallel_training_cost::model_flops_utilization(double peak) const noexcept {
    return peak > 0 && total.seconds > 0 ? model_flops / (peak * total.seconds) : 0;
}

LLMCOST_INLINE double parallel_training_cost::hardware_flops_utilization(double peak) const noexcept {
    return peak > 0 && total.seconds > 0 ? hardware_flops / (peak * total.seconds) : 0;
}

}  // namespace llmcost
