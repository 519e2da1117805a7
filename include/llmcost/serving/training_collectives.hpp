// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <llmcost/devices/device.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/trace/collective.hpp>

// The time of the communication of a training step.
namespace llmcost {

/// Time and bytes of a collective over `size` ranks with distance `stride`, of which `node` share a node.
///
/// `bytes`: of the whole message: the gathered tensor, the reduced tensor, what a device sends in an all-to-all.
/// Rings of NCCL pass through all nodes, so that the slower of links and network bounds the time.
struct collective_time {
    double seconds = 0;
    double sent_bytes = 0;  ///< by a device; it receives as many
};
[[nodiscard]] collective_time time_collective(collective_kind kind, double bytes, std::int64_t size,
                                              std::int64_t stride, const execution& execution, const device& device,
                                              kernel_source& kernels);

/// Time and bytes of the dispatch of tokens to experts, or of their combination.
///
/// `token_bytes`: of the tokens of a device, each of which has `copies` experts. Devices of a node receive every copy.
/// A token crosses the network once for each node of its experts: (n − 1) · (1 − (1 − 1/n)^copies) nodes on average.
/// Source: DeepSeek-V3, arXiv 2412.19437, section 3.2.2 (DeepEP).
[[nodiscard]] collective_time time_token_exchange(double token_bytes, std::int64_t copies, std::int64_t size,
                                                  std::int64_t stride, const execution& execution, const device& device,
                                                  kernel_source& kernels);

/// Times of collectives on devices, each computed once.
class collective_times {
public:
    collective_times(const llmcost::execution& execution, const llmcost::device& device, kernel_source& kernels)
        : execution_(execution), device_(device), kernels_(kernels) {}

    [[nodiscard]] const llmcost::execution& execution() const noexcept { return execution_; }
    [[nodiscard]] const llmcost::device& device() const noexcept { return device_; }
    /// See `time_collective`.
    [[nodiscard]] collective_time collective(collective_kind kind, double bytes, std::int64_t size,
                                             std::int64_t stride);
    /// See `time_token_exchange`.
    [[nodiscard]] collective_time token_exchange(double token_bytes, std::int64_t copies, std::int64_t size,
                                                 std::int64_t stride);

private:
    /// Sizes of a collective. `copies`: of a token exchange, or 0.
    struct key {
        collective_kind kind;
        double bytes;
        std::int64_t size, stride, copies;
        friend bool operator==(const key&, const key&) = default;
    };
    struct key_hash {
        [[nodiscard]] std::size_t operator()(const key& k) const noexcept;
    };

    const llmcost::execution& execution_;
    const llmcost::device& device_;
    kernel_source& kernels_;
    std::unordered_map<key, collective_time, key_hash> times_{};
};

/// Seconds of communication that remain after all layers are computed.
///
/// The layers are computed one after the other. The message of a layer can be sent after its computation, and messages
/// follow each other: `end = max(end, computed) + message`.
[[nodiscard]] double exposed_after_layers(std::int64_t num_layers, double layer_seconds,
                                          double message_seconds) noexcept;

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/training_collectives.ipp>  // IWYU pragma: export
#endif
