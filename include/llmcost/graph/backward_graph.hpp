// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/operator_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/ops.hpp>

// Backward as operations of a graph, with the tensors that each of them reads and the gradients that it computes.
namespace llmcost {

/// Whether backward passes a gradient on unchanged to an input of the same size as the output.
[[nodiscard]] constexpr bool passes_gradient_through(op kind, bool first_input) noexcept {
    return kind == op::add || kind == op::copy || kind == op::cat || (kind == op::sub && first_input);
}

namespace detail {

/// Visits the operations of a forward pass in reverse order and appends their backward operations.
class backward_builder {
public:
    explicit backward_builder(operator_graph& g) : graph_(g), output_gradients_(g.tensors.size()) {}

    void build();

private:
    [[nodiscard]] graph_tensor& add_tensor(std::int32_t i) { return graph_.tensors[static_cast<std::size_t>(i)]; }
    [[nodiscard]] std::int32_t next_operation() const noexcept {
        return static_cast<std::int32_t>(graph_.operations.size());
    }
    void accumulate_gradient(std::int32_t tensor, graph_input gradient);
    [[nodiscard]] graph_input add_tensor(std::vector<std::int64_t> sizes, dtype type, std::uint64_t bytes,
                                         std::int32_t producer);
    /// A gradient from outside of the pass: that of the loss.
    [[nodiscard]] graph_input saved_input(std::int32_t tensor_id);
    void read(graph_operation& n, graph_input in);
    /// The gradient of a tensor. Adds a sum if several gradients have arrived.
    [[nodiscard]] graph_input add_gradient_sum(std::int32_t tensor_id, std::int32_t module);
    /// Sets the gradients of a backward operation: new ones, or the arriving one if it is passed on.
    void set_gradient(graph_operation& n, const std::vector<graph_input>& to, const graph_input& arrived, bool passes);
    void add_backward_op(std::int32_t i);
    void add_autograd_function(const graph_function& f);

    operator_graph& graph_;
    std::vector<std::vector<graph_input>> output_gradients_;  ///< by tensor
    graph_input function_gradient_{};                         ///< gradient of the output of the current function
    std::int32_t function_ = -1;
};

}  // namespace detail

/// The graph of a training step: the forward pass, followed by backward in reverse order.
///
/// A backward operation reads the arriving gradient and the saved tensors, and computes a gradient for each input that
/// needs one. If several gradients of a tensor arrive, an addition precedes the operations that read their sum. FLOPs
/// are those of the trace: torch FLOPs sum to `total_metrics.backward_torch_flops`.
[[nodiscard]] operator_graph training_graph_of(const model& m, workload load);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/backward_graph.ipp>  // IWYU pragma: export
#endif
