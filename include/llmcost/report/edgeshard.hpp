// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/graph/module_graph.hpp>

// The two text files of EdgeShard Profiler.
namespace llmcost {

namespace detail {

/// An operation as EdgeShard calls it: Python's operators by their words, functions by torch's names.
[[nodiscard]] inline std::string edgeshard_name(const operator_graph& from, const graph_operation& o) {
    const bool of_weight =
        o.inputs.size() > 1 && at_place(from.tensors, o.inputs[1].tensor).origin == tensor_origin::parameter;
    const std::string in_place = o.in_place ? "(inplace)" : "";
    switch (o.kind) {
        case op::add: return "Add" + in_place;
        case op::sub: return "Sub" + in_place;
        case op::mul: return "Mul";
        case op::div: return "Div";
        case op::neg: return "Neg";
        case op::copy: return "Clone";
        case op::matmul:
        case op::matmul_bias: return of_weight ? "linear" : "matmul";
        case op::batched_matmul: return "matmul";
        case op::gather:
            return at_place(from.tensors, o.inputs[0].tensor).origin == tensor_origin::parameter ? "embedding" : "GetItem";
        case op::convolution:
        case op::convolution_bias: return "conv2d";
        case op::attention: return "scaled_dot_product_attention";
        case op::layer_norm_weight:
        case op::layer_norm_affine: return "layer_norm";
        case op::batch_norm_affine: return "batch_norm";
        default: return std::string(price_of(o.kind).name);
    }
}

}  // namespace detail

/// A graph as EdgeShard Profiler exports it: its statistics, a line for each node, its edges; no line's end behind the last.
///
/// A module that is called several times is one node with the mean time of its calls. Bytes of weights are those of their
/// element type, of which EdgeShard takes two for each parameter.
[[nodiscard]] inline std::string edgeshard_text(const operator_graph& from, const part_graph& g) {
    std::vector<std::int32_t> node_of;  // by part
    struct node {
        const graph_part* part;
        double seconds = 0;
        int calls = 0;
    };
    std::vector<node> nodes;
    std::vector<std::int32_t> by_module(from.modules.size(), -1);
    int modules = 0;
    for (const graph_part& p : g.parts) {
        const bool is_module = p.kind == part_kind::module;
        std::int32_t at = is_module ? detail::at_place(by_module, p.module) : -1;
        if (at < 0) {
            at = detail::length_of(nodes);
            nodes.push_back({&p});
            modules += is_module;
        }
        if (is_module) detail::at_place(by_module, p.module) = at;
        node& n = detail::at_place(nodes, at);
        n.seconds += p.seconds, ++n.calls;
        node_of.push_back(at);
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;
    std::set<std::pair<std::int32_t, std::int32_t>> told;
    for (const part_edge& e : g.edges) {
        const std::pair edge{detail::at_place(node_of, e.from), detail::at_place(node_of, e.to)};
        if (edge.first != edge.second && told.insert(edge).second) edges.push_back(edge);
    }
    std::string out = "==== Stats ====\nTotal nodes: " + std::to_string(nodes.size()) +
                      " (modules=" + std::to_string(modules) +
                      ", ops=" + std::to_string(nodes.size() - static_cast<std::size_t>(modules)) +
                      ")\nTotal edges: " + std::to_string(edges.size()) +
                      "\n================\nNodeID\tType\tAvgForward(ms)\tBackward(ms)\tParamSize\tDesc\tGPUMemory(MB)";
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const graph_part& p = *nodes[i].part;
        const bool is_module = p.kind == part_kind::module;
        const std::string words = p.kind == part_kind::operation
                                      ? detail::edgeshard_name(from, detail::at_place(from.operations, p.first))
                                      : p.type;
        std::array<char, 64> time{}, memory{};
        std::snprintf(time.data(), time.size(), "%.3f", 1e3 * nodes[i].seconds / nodes[i].calls);
        std::snprintf(memory.data(), memory.size(), "%.3f", is_module ? static_cast<double>(p.weight_bytes) / 1048576 : 0);
        out += '\n' + std::to_string(i + 1) + (is_module ? "\tModule\t" : "\tOp\t") + time.data() + "\t\t0.0\t\t" +
               (is_module ? std::to_string(p.parameter_elements) : "-1") + '\t' + words + '\t' + memory.data();
    }
    out += "\n-- Edges --";
    for (const auto& [a, b] : edges) out += '\n' + std::to_string(a + 1) + " -> " + std::to_string(b + 1);
    return out;
}

}  // namespace llmcost
