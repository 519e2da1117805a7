// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/graph/backward_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>

// A forward pass as a graph of parts (modules, layers or operations), with all tensors between them.
namespace llmcost {

/// The parts of a graph.
///
/// - `layer`: each item of a layer list, and each leaf module outside of lists (EdgeShard's "module").
/// - `module`: each leaf module (EdgeShard's "layer").
/// - `operation`: each operation.
enum class graph_level : std::uint8_t { layer, module, operation };

/// The granularity of a graph: a level, or a depth.
///
/// With a depth, parts are modules that many levels below the model, and leaf modules above it.
struct graph_granularity {
    graph_level level = graph_level::layer;
    int depth = 0;  ///< 0: uses the level
};

/// The kind of a part: inputs of the model, a module call, an operation outside of module parts, outputs of the model.
enum class part_kind : std::uint8_t { input, module, operation, output };

/// A part of a pass: consecutive operations.
struct graph_node {
    part_kind kind = part_kind::operation;
    std::string name;                        ///< path of the module; of an operation: path of its module and its name
    std::string type;                        ///< class name, or the operation
    std::int32_t module = -1;                ///< index in `operator_graph::modules`
    std::int32_t first = 0, end = 0;         ///< range of indices in `operator_graph::operations`
    std::vector<std::int32_t> parameters{};  ///< parameters that it reads, or owns without a reader; each once
    std::uint64_t parameter_elements = 0, weight_bytes = 0;
    std::uint64_t cache_bytes = 0;   ///< bytes of its outputs that are in the cache after the pass
    std::uint64_t saved_bytes = 0;   ///< bytes of its outputs that are saved for backward
    std::uint64_t output_bytes = 0;  ///< bytes of its outputs that other parts read
    std::uint64_t live_bytes = 0;    ///< peak of all live tensors during its operations
    std::uint64_t bytes_read = 0, bytes_written = 0;
    model_metrics done{};  ///< primitives and FLOPs
    double seconds = 0;
};

/// A tensor that one part writes and a later one reads, with the sizes of the reader.
struct graph_edge {
    std::int32_t source = 0, to = 0;
    std::int32_t tensor = -1;    ///< index in `operator_graph::tensors`
    std::int32_t producer = -1;  ///< the operation that wrote it; -1: an input of the model
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    std::uint64_t bytes = 0;
};

/// Parts in execution order, with the inputs of the model first and its outputs last.
struct node_graph {
    std::vector<graph_node> parts;
    std::vector<graph_edge> edges;  ///< ordered by both ends
    bool timed = false;             ///< whether parts have seconds
};

namespace detail {

template <class Row>
[[nodiscard]] Row& at_place(std::vector<Row>& rows, std::int32_t i) {
    return rows[static_cast<std::size_t>(i)];
}
template <class Row>
[[nodiscard]] const Row& at_place(const std::vector<Row>& rows, std::int32_t i) {
    return rows[static_cast<std::size_t>(i)];
}
template <class Row>
[[nodiscard]] std::int32_t length_of(const std::vector<Row>& rows) {
    return static_cast<std::int32_t>(rows.size());
}

/// Groups the operations of a graph into parts.
class node_graph_builder {
public:
    node_graph_builder(const operator_graph& graph, graph_granularity grain);
    [[nodiscard]] node_graph take() { return std::move(out_); }

private:
    /// Finds the part module that contains each module; -1: none.
    void choose(graph_granularity grain);
    void cut();
    void add(part_kind kind, std::string name, std::string type, std::int32_t module, std::int32_t first);

    void connect();
    void add_parameter(std::int32_t part, std::int32_t tensor);
    /// Assigns parameters that no operation reads to the part in which their module would run.
    void assign_unread_parameters();
    void compute_metrics();
    /// Computes the live bytes of parts. A tensor is live from its write, or first read, to its last read.
    ///
    /// Cached tensors are excluded.
    void compute_live_bytes();

    const operator_graph& graph_;
    std::vector<std::int32_t> module_parts_;     ///< by module
    std::vector<std::int32_t> operation_parts_;  ///< by operation
    node_graph out_;
};

}  // namespace detail

/// The parts of a pass and the tensors between them.
///
/// Each tensor that a part reads and did not write is an edge, or a parameter, which may be shared with other parts.
[[nodiscard]] inline node_graph parts_of(const operator_graph& graph, graph_granularity grain = {}) {
    return detail::node_graph_builder(graph, grain).take();
}

/// Sets the seconds of parts from those of their operations.
void set_times(node_graph& g, const std::vector<double>& seconds_of_operations);

/// The sizes of a tensor as text, `2x9x2048`; empty for a scalar.
[[nodiscard]] std::string sizes_text(const std::vector<std::int64_t>& sizes, const char* separator = "x");

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/module_graph.ipp>  // IWYU pragma: export
#endif
