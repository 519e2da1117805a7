// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <llmcost/graph/graph_cuts.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>

// Pipeline parallelism: each device executes consecutive parts and sends the tensors that later parts read.
namespace llmcost {

/// A device of a pipeline: its time for each part, and its memory.
struct pipeline_device {
    std::vector<double> seconds{};       ///< device seconds of each part
    std::vector<double> host_seconds{};  ///< host seconds to launch each part; the device waits if they are larger
    std::uint64_t memory = ~std::uint64_t{};
};

/// A stage: consecutive parts on one device.
struct graph_stage {
    std::int32_t first = 0, end = 0;  ///< range of parts
    std::uint64_t received = 0;       ///< bytes from the previous device
    double link_seconds = 0;          ///< seconds to receive them
    double seconds = 0;               ///< of its parts
    std::uint64_t weights = 0, cache = 0;
    std::uint64_t live = 0;  ///< peak of other tensors, including those that are only forwarded

    [[nodiscard]] double all_seconds() const noexcept { return link_seconds + seconds; }
    [[nodiscard]] std::uint64_t memory() const noexcept { return weights + cache + live; }
};

/// A pass split over several devices.
struct graph_split {
    std::vector<graph_stage> stages;  ///< empty: no split in which each device has enough memory for its stage
    double slowest = 0;               ///< seconds between consecutive passes in steady state
    double pass_seconds = 0;          ///< latency of one pass through all devices
};

namespace detail {

/// Costs of all ranges of consecutive parts, independent of the device.
class pipeline_dp_table {
public:
    pipeline_dp_table(const operator_graph& graph, const node_graph& g);
    /// Calls `visit(stage)` for stages from `first` on with increasing length, until it returns false.
    template <class Visit>
    void each_stage(std::int32_t first, const pipeline_device& device, double bytes_per_second, Visit visit) const {
        graph_stage s;
        s.first = first;
        s.received = at_place(crossing_, first);
        if (s.received > 0) s.link_seconds = static_cast<double>(s.received) / bytes_per_second;
        double device_seconds = 0, host_seconds = 0;
        for (std::int32_t i = first; i < length_of(parts_); ++i) {
            const graph_node& p = at_place(parts_, i);
            for (const weight& w : at_place(weights_, i))
                if (w.previous_reader < first) s.weights += w.bytes;
            s.cache += p.cache_bytes;
            s.live = std::max(s.live, p.live_bytes);
            device_seconds += at_place(device.seconds, i);
            host_seconds += at_place(device.host_seconds, i);
            s.seconds = std::max(device_seconds, host_seconds);
            s.end = i + 1;
            if (!visit(s)) return;
        }
    }
    [[nodiscard]] std::int32_t parts() const { return length_of(parts_); }

private:
    struct weight {
        std::uint64_t bytes;
        std::int32_t previous_reader;  ///< the last earlier part that reads it; -1: none
    };
    const std::vector<graph_node>& parts_;
    std::vector<std::uint64_t> crossing_;  ///< by the first part after the cut
    std::vector<std::vector<weight>> weights_;
};

}  // namespace detail

/// The split with the smallest bottleneck over the given devices in order; ties are broken by the total time.
///
/// The time of a stage includes receiving its inputs. Each device gets at least one part and has enough memory for its
/// stage. `links`: bytes per second from each device to the next, one fewer than devices. The result is exact: the
/// better of two splits of the same parts over the same devices remains the better one for any continuation.
[[nodiscard]] graph_split partition_over(const operator_graph& graph, const node_graph& g,
                                         const std::vector<pipeline_device>& devices, const std::vector<double>& links);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/split.ipp>  // IWYU pragma: export
#endif
