// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/edgeshard.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

/// The EdgeShard name of an operation: Python's name of an operator, or the name of a torch function.
[[nodiscard]] LLMCOST_INLINE std::string edgeshard_name(const operator_graph& graph, const graph_operation& o) {
    const bool of_weight =
        o.inputs.size() > 1 && at_place(graph.tensors, o.inputs[1].tensor).source == tensor_origin::parameter;
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
            return at_place(graph.tensors, o.inputs[0].tensor).source == tensor_origin::parameter ? "embedding"
                                                                                                  : "GetItem";
        case op::convolution:
        case op::convolution_bias: return "conv2d";
        case op::attention: return "scaled_dot_product_attention";
        case op::layer_norm_weight:
        case op::layer_norm_affine: return "layer_norm";
        case op::batch_norm_affine: return "batch_norm";
        default: return std::string(op_cost_of(o.kind).name);
    }
}

LLMCOST_INLINE std::string edgeshard_node::type_name(const operator_graph& graph) const {
    return part->kind == part_kind::operation ? edgeshard_name(graph, at_place(graph.operations, part->first))
                                              : part->type;
}

[[nodiscard]] LLMCOST_INLINE edgeshard_graph edgeshard_nodes(const operator_graph& graph, const node_graph& g) {
    edgeshard_graph out;
    std::vector<std::int32_t> node_of;  // by part
    std::vector<std::int32_t> by_module(graph.modules.size(), -1);
    for (const graph_node& p : g.parts) {
        const bool is_module = p.kind == part_kind::module;
        std::int32_t node_index = is_module ? at_place(by_module, p.module) : -1;
        if (node_index < 0) {
            node_index = length_of(out.nodes);
            out.nodes.push_back({&p});
            out.modules += is_module;
        }
        if (is_module) at_place(by_module, p.module) = node_index;
        edgeshard_node& n = at_place(out.nodes, node_index);
        n.seconds += p.seconds;
        ++n.calls;
        node_of.push_back(node_index);
    }
    std::set<std::pair<std::int32_t, std::int32_t>> unique_edges;
    for (const graph_edge& e : g.edges) {
        const std::pair edge{at_place(node_of, e.source), at_place(node_of, e.to)};
        if (edge.first != edge.second && unique_edges.insert(edge).second) out.edges.push_back(edge);
    }
    return out;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::string edgeshard_text(const operator_graph& graph, const node_graph& g) {
    const detail::edgeshard_graph exported_graph = detail::edgeshard_nodes(graph, g);
    std::string out = "==== Stats ====\nTotal nodes: " + std::to_string(exported_graph.nodes.size()) +
                      " (modules=" + std::to_string(exported_graph.modules) +
                      ", ops=" + std::to_string(exported_graph.nodes.size() - exported_graph.modules) +
                      ")\nTotal edges: " + std::to_string(exported_graph.edges.size()) +
                      "\n================\nNodeID\tType\tAvgForward(ms)\tBackward(ms)\tParamSize\tDesc\tGPUMemory(MB)";
    for (std::size_t i = 0; i < exported_graph.nodes.size(); ++i) {
        const detail::edgeshard_node& n = exported_graph.nodes[i];
        const double megabytes = n.is_module() ? static_cast<double>(n.part->weight_bytes) / 1048576 : 0;
        out += '\n' + std::to_string(i + 1) + (n.is_module() ? "\tModule\t" : "\tOp\t") +
               detail::printed("%.3f", n.mean()) + "\t\t0.0\t\t" +
               (n.is_module() ? std::to_string(n.part->parameter_elements) : "-1") + '\t' + n.type_name(graph) + '\t' +
               detail::printed("%.3f", megabytes);
    }
    out += "\n-- Edges --";
    for (const auto& [a, b] : exported_graph.edges)
        out += '\n' + std::to_string(a + 1) + " -> " + std::to_string(b + 1);
    return out;
}

LLMCOST_INLINE std::string edgeshard_stats(const operator_graph& graph, const node_graph& g) {
    const detail::edgeshard_graph exported_graph = detail::edgeshard_nodes(graph, g);
    std::vector<std::size_t> slowest;
    for (std::size_t i = 0; i < exported_graph.nodes.size(); ++i)
        if (exported_graph.nodes[i].is_module()) slowest.push_back(i);
    std::ranges::stable_sort(slowest, [&](std::size_t a, std::size_t b) {
        return exported_graph.nodes[a].seconds > exported_graph.nodes[b].seconds;
    });
    if (slowest.size() > 5) slowest.resize(5);
    std::string out = "==== Graph Stats ====\nTotal nodes: " + std::to_string(exported_graph.nodes.size()) +
                      "\n  Module nodes: " + std::to_string(exported_graph.modules) +
                      "\n  Op nodes: " + std::to_string(exported_graph.nodes.size() - exported_graph.modules) +
                      "\nTotal edges: " + std::to_string(exported_graph.edges.size()) +
                      "\nTop 5 module forward times (ms total over epochs):\n";
    for (const std::size_t i : slowest) {
        const detail::edgeshard_node& n = exported_graph.nodes[i];
        out += detail::printed("  id=%-4zu %-25s total=%.2f avg=%.2f epochs=%d\n", i + 1, n.type_name(graph).c_str(),
                               1e3 * n.seconds, n.mean(), n.calls);
    }
    return out + "=====================\n";
}

}  // namespace llmcost
