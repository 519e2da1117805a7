// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/torch/joint_graph.hpp>

namespace llmcost {

/// Forward and backward graph of a training step. Nodes are indices in `joint_graph::nodes`, in the order of execution.
struct graph_partition {
    std::vector<std::int32_t> forward;
    std::vector<std::int32_t> backward;  ///< with the nodes that it recomputes
    std::vector<std::int32_t> saved;     ///< results of forward that backward reads, without inputs of the graph
    std::uint64_t saved_bytes = 0;       ///< of `saved`
    std::uint64_t num_recomputed = 0;    ///< nodes of both graphs
};

/// Divides a graph as torch.compile does: backward recomputes what a minimum cut by bytes does not save.
///
///     weight(node) = bytes · 1.1^min(distance to backward, 100), twice as much if only fused kernels read it
///
/// Operators outside of the list of recomputable ones, reductions, operators whose result backward materializes, those
/// used far apart and those at the end of long chains are not recomputed.
/// Source: torch/_functorch/partitioners.py, `min_cut_rematerialization_partition`, `solve_min_cut`.
[[nodiscard]] graph_partition partition_graph(const joint_graph& graph);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/partition.ipp>  // IWYU pragma: export
#endif
