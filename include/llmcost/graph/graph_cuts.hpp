// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>

// Positions at which a pass can be cut in two, in execution order.
namespace llmcost {

/// A cut before a part: the sizes of both sides, and the tensors that cross it.
struct graph_cut {
    std::int32_t first_part = 0;  ///< the first part after the cut
    std::uint64_t bytes = 0;      ///< bytes of tensors written before and read after the cut, each once
    std::vector<std::int32_t> tensors{};
    std::uint64_t weights_before = 0, weights_after = 0;  ///< weights that both sides read count on both
    std::uint64_t cache_before = 0, cache_after = 0;
    double seconds_before = 0, seconds_after = 0;
};

/// The cuts of a graph: one before each part except the first that executes an operation.
///
/// Inputs of the model and outputs do not cross a cut. If only slices of a tensor are read after a cut, only these
/// cross.
[[nodiscard]] std::vector<graph_cut> find_cuts(const operator_graph& graph, const node_graph& g);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/graph_cuts.ipp>  // IWYU pragma: export
#endif
