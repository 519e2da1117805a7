// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/graph_drawing.hpp>

// The graph of one layer as a picture: modules, operations and tensors.
namespace llmcost {

/// The nodes of a layer, and their external inputs.
struct layer_parts {
    std::string path;                          ///< of the layer's module
    std::vector<std::int32_t> internal_nodes;  ///< indices into the graph, in order
    std::vector<std::int32_t> external_nodes;  ///< nodes before the layer that it reads
    std::vector<graph_edge> edges;  ///< `from` and `to` index internal nodes, then external ones, then consumers
    [[nodiscard]] std::int32_t boxes() const {
        return static_cast<std::int32_t>(internal_nodes.size() + external_nodes.size()) + 1;
    }
};

/// The nodes of one module of a graph.
[[nodiscard]] layer_parts layer_parts_of(const operator_graph& graph, const node_graph& g, std::int32_t module);

namespace detail {

/// The type of a tensor: `1x1024x2048 bfloat16`.
[[nodiscard]] inline std::string type_label(const graph_edge& e) {
    return sizes_text(e.sizes) + " " + std::string(std::string_view(element_name(e.type)));
}
/// Type and size of a tensor: `1x1024x2048 bfloat16, 4.19 MB`.
[[nodiscard]] inline std::string tensor_label(const graph_edge& e) {
    return type_label(e) + ", " + three_digits(static_cast<double>(e.bytes), "B");
}
/// The name of a node relative to the layer.
[[nodiscard]] std::string name_in(std::string_view layer, std::string_view name);

}  // namespace detail

/// A drawing of the nodes from top to bottom, with an arrow per tensor. Nodes outside of the layer are dashed.
[[nodiscard]] svg_picture layer_drawing(const chart_text& text, const node_graph& g, const layer_parts& layer);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/layer_drawing.ipp>  // IWYU pragma: export
#endif
