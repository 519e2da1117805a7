// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/operation_times.hpp>

#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/operator_times.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<double> operation_seconds(const model& m, workload load, const execution& execution,
                                                     const device& device, kernel_source& measurements) {
    load.training = false;
    return operator_times_of(m, load, execution, device, measurements).forward;
}

}  // namespace llmcost
