// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/graph/operator_graph.hpp>

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
    explicit backward_builder(operator_graph& g) : g_(g), arrived_(g.tensors.size()) {}

    void build() {
        const std::size_t forward = g_.operations.size();
        if (g_.output >= 0) accumulate_gradient(g_.output, saved_input(g_.output));
        std::size_t functions = g_.functions.size();
        for (std::size_t i = forward;; --i) {
            while (functions > 0 && static_cast<std::size_t>(g_.functions[functions - 1].position) == i)
                add_autograd_function(g_.functions[--functions]);
            if (i == 0) break;
            add_backward_op(static_cast<std::int32_t>(i) - 1);
        }
        for (std::size_t t = 0; t < arrived_.size(); ++t) {
            if (g_.tensors[t].source != tensor_origin::parameter || arrived_[t].empty()) continue;
            const std::int32_t reader = g_.tensors[t].consumers.empty() ? 0 : g_.tensors[t].consumers.front();
            const graph_input sum =
                add_gradient_sum(static_cast<std::int32_t>(t), g_.operations[static_cast<std::size_t>(reader)].module);
            if (add_tensor(sum.tensor).name.empty()) add_tensor(sum.tensor).name = g_.tensors[t].name + ".grad";
            g_.gradients.push_back(sum.tensor);
        }
        // saved tensors are read by backward operations, which are part of the graph
        for (graph_tensor& t : g_.tensors) t.is_saved = false;
    }

private:
    [[nodiscard]] graph_tensor& add_tensor(std::int32_t i) { return g_.tensors[static_cast<std::size_t>(i)]; }
    [[nodiscard]] std::int32_t next_operation() const noexcept {
        return static_cast<std::int32_t>(g_.operations.size());
    }
    void accumulate_gradient(std::int32_t at, graph_input gradient) {
        if (static_cast<std::size_t>(at) >= arrived_.size()) arrived_.resize(g_.tensors.size());
        arrived_[static_cast<std::size_t>(at)].push_back(std::move(gradient));
    }
    [[nodiscard]] graph_input add_tensor(std::vector<std::int64_t> sizes, dtype type, std::uint64_t bytes,
                                         std::int32_t producer) {
        graph_tensor t;
        t.sizes = std::move(sizes);
        t.type = type;
        t.bytes = bytes;
        t.producer = producer;
        t.source = producer < 0 ? tensor_origin::input : tensor_origin::operation;
        graph_input in;
        in.tensor = static_cast<std::int32_t>(g_.tensors.size());
        in.producer = producer;
        in.sizes = t.sizes;
        in.type = type;
        in.bytes = bytes;
        in.requires_grad = false;
        g_.tensors.push_back(std::move(t));
        return in;
    }
    /// A gradient from outside of the pass: that of the loss.
    [[nodiscard]] graph_input saved_input(std::int32_t tensor_id) {
        const graph_tensor& t = add_tensor(tensor_id);
        return add_tensor(t.sizes, t.type, t.bytes, -1);
    }
    void read(graph_operation& n, graph_input in) {
        add_tensor(in.tensor).consumers.push_back(next_operation());
        n.inputs.push_back(std::move(in));
    }
    /// The gradient of a tensor. Adds a sum if several gradients have arrived.
    [[nodiscard]] graph_input add_gradient_sum(std::int32_t tensor_id, std::int32_t module) {
        std::vector<graph_input> all = std::move(arrived_[static_cast<std::size_t>(tensor_id)]);
        arrived_[static_cast<std::size_t>(tensor_id)].clear();
        if (all.size() == 1) return std::move(all.front());
        graph_operation sum;
        sum.kind = op::add;
        sum.module = module;
        sum.pass = graph_pass::gradient_sum;
        const graph_tensor& t = add_tensor(tensor_id);
        graph_input out = add_tensor(t.sizes, t.type, t.bytes, next_operation());
        sum.output = out.tensor;
        sum.sizes = out.sizes;
        sum.type = out.type;
        for (graph_input& in : all) {
            sum.bytes_read += in.bytes;
            read(sum, std::move(in));
        }
        sum.bytes_written = out.bytes;
        g_.operations.push_back(std::move(sum));
        return out;
    }
    /// Sets the gradients of a backward operation: new ones, or the arriving one if it is passed on.
    void set_gradient(graph_operation& n, const std::vector<graph_input>& to, const graph_input& arrived, bool passes) {
        for (std::size_t i = 0; i < to.size(); ++i) {
            if (!to[i].requires_grad) continue;
            if (passes && passes_gradient_through(n.kind, i == 0) && to[i].bytes == arrived.bytes) {
                accumulate_gradient(to[i].tensor, arrived);
                continue;
            }
            graph_input gradient = add_tensor(to[i].sizes, to[i].type, to[i].bytes, next_operation());
            n.bytes_written += gradient.bytes;
            if (n.output < 0) {
                n.output = gradient.tensor;
                n.sizes = gradient.sizes;
                n.type = gradient.type;
            } else
                n.extra_outputs.push_back(gradient.tensor);
            accumulate_gradient(to[i].tensor, std::move(gradient));
        }
    }
    void add_backward_op(std::int32_t i) {
        const graph_operation forward_operation = g_.operations[static_cast<std::size_t>(i)];
        const bool costs = forward_operation.metrics_of_op.backward != primitives<count>{} ||
                           forward_operation.metrics_of_op.backward_torch_flops != count{};
        if (!forward_operation.has_backward && !costs) return;
        bool requires_grad = false;
        for (const graph_input& in : forward_operation.inputs) requires_grad = requires_grad || in.requires_grad;
        graph_input arrived;
        if (forward_operation.output >= 0 && !arrived_[static_cast<std::size_t>(forward_operation.output)].empty() &&
            requires_grad) {
            arrived = add_gradient_sum(forward_operation.output, forward_operation.module);
        } else if (costs && function_ >= 0) {  // inside a function, whose gradient it reads
            arrived = function_gradient_;
        } else if (costs && forward_operation.output >= 0) {
            arrived = saved_input(forward_operation.output);
        } else {
            return;
        }
        graph_operation n;
        n.kind = forward_operation.kind;
        n.module = forward_operation.module;
        n.num_time_steps = forward_operation.num_time_steps;
        n.pass = graph_pass::backward;
        n.backward_of = i;
        static_cast<primitives<count>&>(n.metrics_of_op) = forward_operation.metrics_of_op.backward;
        n.metrics_of_op.torch_flops = forward_operation.metrics_of_op.backward_torch_flops;
        set_gradient(n, forward_operation.inputs, arrived, true);
        if (n.output < 0 && !costs) return;  // all gradients are passed on
        n.bytes_read = arrived.bytes;
        read(n, arrived);
        for (const graph_input& saved : forward_operation.saved) {
            n.bytes_read += saved.bytes;
            read(n, saved);
        }
        g_.operations.push_back(std::move(n));
    }
    void add_autograd_function(const graph_function& f) {
        if (f.output < 0 || arrived_[static_cast<std::size_t>(f.output)].empty()) return;
        if (f.writes_output) {
            const graph_input output_gradient = add_gradient_sum(f.output, f.module);
            graph_input part = f.inputs.front();  // a view of it
            part.tensor = output_gradient.tensor;
            part.producer = output_gradient.producer;
            part.is_view = true;
            accumulate_gradient(f.inputs.front().tensor, part);
            return accumulate_gradient(f.output, output_gradient);
        }
        function_gradient_ = add_gradient_sum(f.output, f.module);
        function_ = f.position;
        graph_operation n;
        n.kind = op::copy;
        n.module = f.module;
        n.pass = graph_pass::backward;
        set_gradient(n, f.inputs, function_gradient_, false);
        if (n.output < 0) return;
        n.bytes_read = function_gradient_.bytes;
        read(n, function_gradient_);
        for (const graph_input& saved : f.saved) {
            n.bytes_read += saved.bytes;
            read(n, saved);
        }
        g_.operations.push_back(std::move(n));
    }

    operator_graph& g_;
    std::vector<std::vector<graph_input>> arrived_;  ///< by tensor
    graph_input function_gradient_{};                ///< gradient of the output of the current function
    std::int32_t function_ = -1;
};

}  // namespace detail

/// The graph of a training step: the forward pass, followed by backward in reverse order.
///
/// A backward operation reads the arriving gradient and the saved tensors, and computes a gradient for each input that
/// needs one. If several gradients of a tensor arrive, an addition precedes the operations that read their sum. FLOPs
/// are those of the trace: torch FLOPs sum to `total_metrics.backward_torch_flops`.
[[nodiscard]] inline operator_graph training_graph_of(const model& m, workload load) {
    load.training = true;
    operator_graph g = graph_of(m, load);
    detail::backward_builder(g).build();
    return g;
}

}  // namespace llmcost
