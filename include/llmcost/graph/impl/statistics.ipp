// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/graph/module_graph.hpp>

namespace llmcost {

LLMCOST_INLINE graph_statistics statistics_of(const node_graph& g) {
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
    for (auto operation = static_cast<std::int32_t>(last); operation >= 0;
         operation = detail::at_place(slowest, operation))
        s.critical_path.insert(s.critical_path.begin(), operation);
    return s;
}

}  // namespace llmcost
