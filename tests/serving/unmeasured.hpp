// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/devices/all.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost::testing {

inline const device& h200 = *find_device("h200_sxm");

/// Nobody has measured anything.
struct unmeasured final : kernel_source {
    const kernel_calibration* find(const operator_shape&) override { return nullptr; }
};
inline unmeasured no_kernels;

}  // namespace llmcost::testing
