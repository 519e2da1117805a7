// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// A kernel of a step with its time.
struct timed_kernel {
    known_kernel kernel;
    latency_estimate estimate{};
};

/// A step with the time of each kernel.
struct timed_step : step_time {
    std::vector<timed_kernel> kernels;
    step_cost done{};
    std::size_t calibrated = 0;
    double weights = 0, cache = 0;  ///< bytes on each device at the end of the step
    double host_seconds = 0;        ///< of kernel launches; the longer of device and host counts
};

/// The time of one step with several groups of equal sequences.
[[nodiscard]] timed_step time_step(const model& model, const std::vector<workload>& sequence_groups,
                                   execution execution, const device& device, kernel_source& measurements);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/timed_step.ipp>  // IWYU pragma: export
#endif
