// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>

// The two text formats of EdgeShard Profiler.
namespace llmcost {

namespace detail {

/// A node of EdgeShard's graph: an operation, or all calls of a module.
struct edgeshard_node {
    const graph_node* part;
    double seconds = 0;
    int calls = 0;

    [[nodiscard]] bool is_module() const noexcept { return part->kind == part_kind::module; }
    [[nodiscard]] std::string type_name(const operator_graph& graph) const;
    /// Milliseconds per call.
    [[nodiscard]] double mean() const noexcept { return 1e3 * seconds / calls; }
};
struct edgeshard_graph {
    std::vector<edgeshard_node> nodes;
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;  ///< one per pair of nodes
    std::size_t modules = 0;
};

template <class... Values>
[[nodiscard]] std::string printed(const char* format, Values... values) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
}

}  // namespace detail

/// A graph in the export format of EdgeShard Profiler: statistics, one line per node, edges; no final newline.
///
/// A module with several calls is one node with their mean time. Bytes of weights are those of their element type, for
/// which EdgeShard assumes two per parameter.
[[nodiscard]] std::string edgeshard_text(const operator_graph& graph, const node_graph& g);

/// The output of EdgeShard Profiler's `Graph.stats()`: numbers of nodes and edges, the five slowest modules.
[[nodiscard]] std::string edgeshard_stats(const operator_graph& graph, const node_graph& g);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/edgeshard.ipp>  // IWYU pragma: export
#endif
