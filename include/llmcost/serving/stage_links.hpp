// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <llmcost/devices/networks.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

/// The network bandwidth of a device in GB/s; by default, a port of 400 Gbit/s per device.
[[nodiscard]] constexpr double network_of(const device& device) noexcept {
    return device.network_bandwidth > 0 ? device.network_bandwidth : find_network("ib_ndr")->gigabytes_per_second;
}

/// Seconds to send a microbatch from one pipeline stage to the next.
struct stage_transfer {
    double intra_node_seconds = 0, inter_node_seconds = 0;
};

/// The links between pipeline stages. Each device sends hidden states to its counterpart in the next stage.
///
/// Measured as an all-gather of two devices, in which each sends as much as it receives. Links are bidirectional, so a
/// point-to-point message corresponds to half of an all-gather.
class stage_links {
public:
    /// A single stage.
    stage_links() = default;
    /// `stages` stages of `devices` devices each.
    stage_links(std::int64_t stages, std::int64_t devices, std::int64_t hidden_size, const execution& execution,
                const device& device, kernel_source& kernels)
        : hidden_size_(hidden_size), device_(device) {
        device_.network_bandwidth = network_of(device);
        for (std::int64_t i = 1; i < stages; ++i) {  // whether any device has its counterpart in another node
            const bool leaves =
                (i - 1) * devices / execution.devices_per_node != ((i + 1) * devices - 1) / execution.devices_per_node;
            leaves_node_.push_back(leaves);
            std::optional<known_kernel>& kernel = leaves ? between_nodes_ : in_node_;
            if (kernel) continue;
            const std::int64_t devices_per_node = leaves ? 1 : 2;
            kernel = match_kernels(
                         make_collective_kernels("all_gather", 1, 2, 1, execution.unquantized_type(), devices_per_node),
                         execution, kernels)
                         .front();
            kernel->curve = curve_of(device_, *kernel);  // only the size along the message varies
        }
    }
    /// For each stage except the last, whether a network connects it to the next one.
    [[nodiscard]] const std::vector<bool>& crosses_node() const noexcept { return leaves_node_; }
    [[nodiscard]] stage_transfer operator()(std::int64_t tokens) {
        return {seconds(in_node_, tokens), seconds(between_nodes_, tokens)};
    }
    /// Seconds from the first stage to the last.
    [[nodiscard]] double all(std::int64_t tokens) {
        const stage_transfer transfer = (*this)(tokens);
        double sum = 0;
        for (const bool leaves : leaves_node_)
            sum += leaves ? transfer.inter_node_seconds : transfer.intra_node_seconds;
        return sum;
    }

private:
    [[nodiscard]] double seconds(std::optional<known_kernel>& kernel, std::int64_t tokens) const {
        if (!kernel || tokens == 0) return 0;
        kernel->kernel.shape.sizes[0] = checked_product(2, hidden_size_, tokens);
        return predicted_seconds(device_, *kernel);
    }

    std::int64_t hidden_size_ = 0;
    device device_{};
    std::vector<bool> leaves_node_;
    std::optional<known_kernel> in_node_, between_nodes_;
};

}  // namespace llmcost
