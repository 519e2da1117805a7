// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/stage_links.hpp>

#include <cstdint>
#include <optional>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE stage_links::stage_links(std::int64_t stages, std::int64_t devices, std::int64_t hidden_size,
                                        const execution& execution, const device& device, kernel_source& kernels)
    : hidden_size_(hidden_size), device_(device) {
    device_.network_bandwidth = network_of(device);
    for (std::int64_t i = 1; i < stages; ++i) {  // whether any device has its counterpart in another node
        const bool leaves =
            (i - 1) * devices / execution.devices_per_node != ((i + 1) * devices - 1) / execution.devices_per_node;
        leaves_node_.push_back(leaves);
        std::optional<known_kernel>& kernel = leaves ? inter_node_ : intra_node_;
        if (kernel) continue;
        const std::int64_t devices_per_node = leaves ? 1 : 2;
        kernel = match_kernels(
                     make_collective_kernels("all_gather", 1, 2, 1, execution.unquantized_type(), devices_per_node),
                     execution, kernels)
                     .front();
        kernel->curve = curve_of(device_, *kernel);  // only the size along the message varies
    }
}

LLMCOST_INLINE double stage_links::all(std::int64_t tokens) {
    const stage_transfer transfer = (*this)(tokens);
    double sum = 0;
    for (const bool leaves : leaves_node_) sum += leaves ? transfer.inter_node_seconds : transfer.intra_node_seconds;
    return sum;
}

LLMCOST_INLINE double stage_links::seconds(std::optional<known_kernel>& kernel, std::int64_t tokens) const {
    if (!kernel || tokens == 0) return 0;
    kernel->kernel.shape.sizes[0] = checked_product(2, hidden_size_, tokens);
    return predicted_seconds(device_, *kernel);
}

}  // namespace llmcost
