// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/torch/kernel.hpp>

namespace llmcost {

/// The launch of a kernel of a step: when the host issues it, and when the device runs it. All times in seconds.
struct torch_launch {
    torch_kernel kernel;
    double issue_begins = 0;
    double issue_duration = 0;  ///< of the host, for all repetitions
    double begins = 0;
    double duration = 0;  ///< on the device, of all repetitions
};

/// The launches of kernels, one after another on one stream.
///
/// A kernel begins after its launch and after the previous kernel. The host runs ahead of the device.
/// `host_microseconds`: per kernel; 0: a CUDA graph.
[[nodiscard]] std::vector<torch_launch> timeline_of(const std::vector<torch_kernel>& kernels, const device& device,
                                                    double host_microseconds, tf32_mode tf32);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/timeline.ipp>  // IWYU pragma: export
#endif
