// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <llmcost/devices/device.hpp>
#include <llmcost/devices/networks.hpp>
#include <llmcost/serving/model_kernel.hpp>
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
                const device& device, kernel_source& kernels);
    /// For each stage except the last, whether a network connects it to the next one.
    [[nodiscard]] const std::vector<bool>& crosses_node() const noexcept { return leaves_node_; }
    [[nodiscard]] stage_transfer operator()(std::int64_t tokens) {
        return {seconds(intra_node_, tokens), seconds(inter_node_, tokens)};
    }
    /// Seconds from the first stage to the last.
    [[nodiscard]] double all(std::int64_t tokens);

private:
    [[nodiscard]] double seconds(std::optional<known_kernel>& kernel, std::int64_t tokens) const;

    std::int64_t hidden_size_ = 0;
    device device_{};
    std::vector<bool> leaves_node_;
    std::optional<known_kernel> intra_node_, inter_node_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/stage_links.ipp>  // IWYU pragma: export
#endif
