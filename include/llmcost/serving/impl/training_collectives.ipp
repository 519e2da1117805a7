// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/training_collectives.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_simulation.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/rank_parameters.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost {

LLMCOST_INLINE collective_time time_collective(collective_kind kind, double bytes, std::int64_t size,
                                               std::int64_t stride, const execution& execution, const device& device,
                                               kernel_source& kernels) {
    if (size <= 1 || bytes <= 0) return {};
    const auto ranks = static_cast<double>(size);
    const operand_type* const half = find_operand_type("bfloat16");
    const std::int64_t node = execution.devices_per_node;
    const std::int64_t in_node = std::clamp<std::int64_t>(node / stride, 1, size);
    const bool is_all_to_all = kind == collective_kind::all_to_all;
    const bool is_message = kind == collective_kind::send || kind == collective_kind::recv;
    llmcost::device linked = device;
    linked.network_bandwidth = network_of(device);
    collective_time out;
    if (is_message) {
        out.sent_bytes = bytes;
        const double bandwidth = in_node > 1 ? linked.link_bandwidth : linked.network_bandwidth;
        constexpr double latency = 10e-6,
                         efficiency = 0.85;  // NCCL's send and receive, as in `make_collective_kernels`
        out.seconds = latency + bytes / (efficiency * std::max(bandwidth, 1.0) * 1e9);
        return out;
    }
    const literal name = kind == collective_kind::all_reduce       ? literal("all_reduce")
                         : kind == collective_kind::reduce_scatter ? literal("reduce_scatter")
                         : is_all_to_all                           ? literal("alltoall")
                                                                   : literal("all_gather");
    out.sent_bytes = bytes * (ranks - 1) / ranks * (kind == collective_kind::all_reduce ? 2 : 1);
    const auto elements = static_cast<std::int64_t>(bytes / half->activation_bytes);
    double links = 0, network = 0;
    for (const model_kernel& k :
         make_collective_kernels(name, std::max<std::int64_t>(elements, 1), size, stride, half, node)) {
        model_kernel sent = k;
        const bool is_network = k.shape.type == find_operator_type("network");
        // every device has a port of its own, through which it sends its messages to other nodes
        if (is_all_to_all && is_network) sent.shape.sizes[2] = 1;
        (is_network ? network : links) += cost_of(linked, match_kernels({sent}, execution, kernels).front()).seconds;
    }
    out.seconds = std::max(links, network);
    return out;
}

LLMCOST_INLINE collective_time time_token_exchange(double token_bytes, std::int64_t copies, std::int64_t size,
                                                   std::int64_t stride, const execution& execution,
                                                   const device& device, kernel_source& kernels) {
    const std::int64_t in_node = std::clamp<std::int64_t>(execution.devices_per_node / stride, 1, size);
    const std::int64_t nodes = (size + in_node - 1) / in_node;
    const auto k = static_cast<double>(copies), n = static_cast<double>(nodes);
    collective_time links =
        time_collective(collective_kind::all_to_all, token_bytes * k, in_node, 1, execution, device, kernels);
    if (nodes == 1) return links;
    const double remote_nodes = (n - 1) * (1 - std::pow(1 - 1 / n, k));
    constexpr double efficiency = 0.9, latency = 10e-6;  // of `network` kernels
    const double sent = token_bytes * remote_nodes;
    links.seconds = std::max(links.seconds, latency + sent / (efficiency * network_of(device) * 1e9));
    links.sent_bytes += sent;
    return links;
}

LLMCOST_INLINE std::size_t collective_times::key_hash::operator()(const key& k) const noexcept {
    std::uint64_t hash = std::bit_cast<std::uint64_t>(k.bytes);
    for (const std::int64_t value : {static_cast<std::int64_t>(k.kind), k.size, k.stride, k.copies})
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::size_t>(hash ^ (hash >> 32));
}

LLMCOST_INLINE collective_time collective_times::collective(collective_kind kind, double bytes, std::int64_t size,
                                                            std::int64_t stride) {
    if (size <= 1 || bytes <= 0) return {};
    const auto [found, is_new] = times_.try_emplace({kind, bytes, size, stride, 0});
    if (is_new) found->second = time_collective(kind, bytes, size, stride, execution_, device_, kernels_);
    return found->second;
}

LLMCOST_INLINE collective_time collective_times::token_exchange(double token_bytes, std::int64_t copies,
                                                                std::int64_t size, std::int64_t stride) {
    const auto [found, is_new] = times_.try_emplace({collective_kind::all_to_all, token_bytes, size, stride, copies});
    if (is_new) found->second = time_token_exchange(token_bytes, copies, size, stride, execution_, device_, kernels_);
    return found->second;
}

LLMCOST_INLINE double exposed_after_layers(std::int64_t num_layers, double layer_seconds,
                                           double message_seconds) noexcept {
    if (num_layers <= 0) return 0;
    const auto layers = static_cast<double>(num_layers);
    // messages wait for computation, or for each other
    const double end = message_seconds <= layer_seconds ? layers * layer_seconds + message_seconds
                                                        : layer_seconds + layers * message_seconds;
    return end - layers * layer_seconds;
}

}  // namespace llmcost
