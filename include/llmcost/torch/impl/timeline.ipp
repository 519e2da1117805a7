// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/timeline.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_time.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<torch_launch> timeline_of(const std::vector<torch_kernel>& kernels, const device& device,
                                                     double host_microseconds, tf32_mode tf32) {
    std::vector<torch_launch> out;
    out.reserve(kernels.size());
    double host_seconds = 0, device_seconds = 0;
    for (const torch_kernel& k : kernels) {
        torch_launch launch{.kernel = k};
        launch.kernel.tf32 = tf32;
        const auto times = static_cast<double>(k.num_repetitions);
        launch.issue_begins = host_seconds;
        launch.issue_duration = times * host_microseconds * 1e-6;
        host_seconds += launch.issue_duration;
        launch.begins = std::max(device_seconds, host_seconds);
        launch.duration = times * kernel_seconds(device, launch.kernel);
        device_seconds = launch.begins + launch.duration;
        out.push_back(std::move(launch));
    }
    return out;
}

}  // namespace llmcost
