// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/step.hpp>

// The time of each operation of a forward pass, in the order of a graph's operations.
namespace llmcost {

/// Seconds of each operation of an eager forward pass, in the order of `graph_of`; 0 without a kernel.
///
/// They are the forward times of `operator_times_of`, so that all commands have equal times.
/// `execution` must not split the model.
[[nodiscard]] std::vector<double> operation_seconds(const model& m, workload load, const execution& execution,
                                                    const device& device, kernel_source& measurements);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/operation_times.ipp>  // IWYU pragma: export
#endif
