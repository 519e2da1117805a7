// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/graph/split.hpp>

// Graphs in DOT (Graphviz) and GraphML.
namespace llmcost {

namespace detail {

/// `4.19 MB`, `12.3 µs`: three significant digits and a unit.
[[nodiscard]] std::string three_digits(double n, std::string_view unit);

}  // namespace detail

/// A graph in DOT. With a split, each device has a cluster.
[[nodiscard]] std::string dot_of(const operator_graph& graph, const node_graph& g, std::string_view title,
                                 const graph_split& split = {}, const std::vector<std::string>& devices = {});

/// A graph in GraphML, for yEd, Gephi and NetworkX.
[[nodiscard]] std::string graphml_of(const operator_graph& graph, const node_graph& g);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/graph_drawing.ipp>  // IWYU pragma: export
#endif
