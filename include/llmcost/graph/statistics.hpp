// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/graph/module_graph.hpp>

namespace llmcost {

/// Statistics of a graph of parts.
struct graph_statistics {
    std::int32_t parts = 0, modules = 0, operations = 0, edges = 0;
    std::uint64_t edge_bytes = 0;               ///< bytes of all edges: a tensor counts once per reader
    std::int32_t depth = 0;                     ///< parts on the longest path
    std::int32_t width = 0;                     ///< maximum number of parts at the same depth
    std::int32_t max_readers = 0;               ///< maximum number of parts that read from one part
    std::int32_t max_read = 0;                  ///< index of that part
    double mean_readers = 0;                    ///< mean number of readers, over parts with readers
    double seconds = 0;                         ///< sum over all parts
    double critical_seconds = 0;                ///< of the critical path
    std::vector<std::int32_t> critical_path{};  ///< the slowest path; without times: the longest path
};

[[nodiscard]] inline graph_statistics statistics_of(const node_graph& g) {
    graph_statistics s;
    const std::size_t n = g.parts.size();
    s.parts = detail::length_of(g.parts);
    s.edges = detail::length_of(g.edges);
    std::vector<std::vector<std::int32_t>> predecessors(n), readers(n);
    for (const graph_edge& e : g.edges) {
        s.edge_bytes += e.bytes;
        detail::at_place(predecessors, e.to).push_back(e.source);
        std::vector<std::int32_t>& all = detail::at_place(readers, e.source);
        if (all.empty() || all.back() != e.to) all.push_back(e.to);  // edges are ordered by their ends
    }
    std::vector<std::int32_t> steps(n), of_level(n + 1), slowest(n, -1);
    std::vector<double> path_seconds(n);
    std::size_t read = 0, last = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const graph_node& p = g.parts[i];
        s.modules += p.kind == part_kind::module;
        s.operations += p.kind == part_kind::operation;
        s.seconds += p.seconds;
        for (const std::int32_t predecessor : predecessors[i]) {
            steps[i] = std::max(steps[i], 1 + detail::at_place(steps, predecessor));
            if (slowest[i] < 0 ||
                detail::at_place(path_seconds, predecessor) > detail::at_place(path_seconds, slowest[i]))
                slowest[i] = predecessor;
        }
        path_seconds[i] =
            (g.timed ? p.seconds : 1) + (slowest[i] >= 0 ? detail::at_place(path_seconds, slowest[i]) : 0);
        if (path_seconds[i] >= path_seconds[last]) last = i;
        s.depth = std::max(s.depth, steps[i] + 1);
        s.width = std::max(s.width, ++detail::at_place(of_level, steps[i]));
        const std::int32_t num_readers = detail::length_of(readers[i]);
        if (num_readers > s.max_readers) {
            s.max_readers = num_readers;
            s.max_read = static_cast<std::int32_t>(i);
        }
        if (num_readers > 0) {
            ++read;
            s.mean_readers += num_readers;
        }
    }
    if (read > 0) s.mean_readers /= static_cast<double>(read);
    if (n == 0) return s;
    if (g.timed) s.critical_seconds = path_seconds[last];
    for (auto at = static_cast<std::int32_t>(last); at >= 0; at = detail::at_place(slowest, at))
        s.critical_path.insert(s.critical_path.begin(), at);
    return s;
}

}  // namespace llmcost
