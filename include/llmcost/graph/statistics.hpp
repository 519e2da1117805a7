// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

[[nodiscard]] graph_statistics statistics_of(const node_graph& g);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/statistics.ipp>  // IWYU pragma: export
#endif
