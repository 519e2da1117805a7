// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmcost {

/// A directed graph with capacities, and its minimum cut between a source and a sink.
///
/// Source: torch/_functorch/_activation_checkpointing/min_cut.py, `minimum_cut` (Dinic's algorithm).
class flow_network {
public:
    /// A capacity that no cut contains.
    static constexpr std::uint64_t infinite = std::uint64_t{1} << 62;

    explicit flow_network(std::size_t num_vertices) : edges_of_(num_vertices) {}
    void add_edge(std::size_t start, std::size_t end, std::uint64_t capacity);
    /// The vertices that still reach the sink if the flow is maximal: of equal cuts, the one nearest to the sink.
    [[nodiscard]] std::vector<bool> sink_side(std::size_t source, std::size_t sink);

private:
    struct edge {
        std::size_t end;
        std::uint64_t residual;
    };
    /// Distances from the source in the residual network; false: the sink is not reachable.
    [[nodiscard]] bool set_levels(std::size_t source, std::size_t sink);
    /// Sends flow along one path of the level graph; false: there is none.
    [[nodiscard]] bool augment(std::size_t source, std::size_t sink);

    std::vector<edge> edges_;  ///< each edge is followed by its reverse
    std::vector<std::vector<std::size_t>> edges_of_;
    std::vector<std::int64_t> levels_;
    std::vector<std::size_t> next_edges_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/minimum_cut.ipp>  // IWYU pragma: export
#endif
