// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/backward_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/operator_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void backward_builder::build() {
    const std::size_t forward = graph_.operations.size();
    if (graph_.output >= 0) accumulate_gradient(graph_.output, saved_input(graph_.output));
    std::size_t functions = graph_.functions.size();
    for (std::size_t i = forward;; --i) {
        while (functions > 0 && static_cast<std::size_t>(graph_.functions[functions - 1].position) == i)
            add_autograd_function(graph_.functions[--functions]);
        if (i == 0) break;
        add_backward_op(static_cast<std::int32_t>(i) - 1);
    }
    for (std::size_t t = 0; t < output_gradients_.size(); ++t) {
        if (graph_.tensors[t].source != tensor_origin::parameter || output_gradients_[t].empty()) continue;
        const std::int32_t reader = graph_.tensors[t].consumers.empty() ? 0 : graph_.tensors[t].consumers.front();
        const graph_input sum =
            add_gradient_sum(static_cast<std::int32_t>(t), graph_.operations[static_cast<std::size_t>(reader)].module);
        if (add_tensor(sum.tensor).name.empty()) add_tensor(sum.tensor).name = graph_.tensors[t].name + ".grad";
        graph_.gradients.push_back(sum.tensor);
    }
    // saved tensors are read by backward operations, which are part of the graph
    for (graph_tensor& t : graph_.tensors) t.is_saved = false;
}

LLMCOST_INLINE void backward_builder::accumulate_gradient(std::int32_t tensor, graph_input gradient) {
    if (static_cast<std::size_t>(tensor) >= output_gradients_.size()) output_gradients_.resize(graph_.tensors.size());
    output_gradients_[static_cast<std::size_t>(tensor)].push_back(std::move(gradient));
}

LLMCOST_INLINE graph_input backward_builder::add_tensor(std::vector<std::int64_t> sizes, dtype type,
                                                        std::uint64_t bytes, std::int32_t producer) {
    graph_tensor t;
    t.sizes = std::move(sizes);
    t.type = type;
    t.bytes = bytes;
    t.producer = producer;
    t.source = producer < 0 ? tensor_origin::input : tensor_origin::operation;
    graph_input in;
    in.tensor = static_cast<std::int32_t>(graph_.tensors.size());
    in.producer = producer;
    in.sizes = t.sizes;
    in.type = type;
    in.bytes = bytes;
    in.requires_grad = false;
    graph_.tensors.push_back(std::move(t));
    return in;
}

LLMCOST_INLINE graph_input backward_builder::saved_input(std::int32_t tensor_id) {
    const graph_tensor& t = add_tensor(tensor_id);
    return add_tensor(t.sizes, t.type, t.bytes, -1);
}

LLMCOST_INLINE void backward_builder::read(graph_operation& n, graph_input in) {
    add_tensor(in.tensor).consumers.push_back(next_operation());
    n.inputs.push_back(std::move(in));
}

LLMCOST_INLINE graph_input backward_builder::add_gradient_sum(std::int32_t tensor_id, std::int32_t module) {
    std::vector<graph_input> all = std::move(output_gradients_[static_cast<std::size_t>(tensor_id)]);
    output_gradients_[static_cast<std::size_t>(tensor_id)].clear();
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
    graph_.operations.push_back(std::move(sum));
    return out;
}

LLMCOST_INLINE void backward_builder::set_gradient(graph_operation& n, const std::vector<graph_input>& to,
                                                   const graph_input& arrived, bool passes) {
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

LLMCOST_INLINE void backward_builder::add_backward_op(std::int32_t i) {
    const graph_operation forward_operation = graph_.operations[static_cast<std::size_t>(i)];
    const bool costs = forward_operation.metrics_of_op.backward != primitives<count>{} ||
                       forward_operation.metrics_of_op.backward_torch_flops != count{};
    if (!forward_operation.has_backward && !costs) return;
    bool requires_grad = false;
    for (const graph_input& in : forward_operation.inputs) requires_grad = requires_grad || in.requires_grad;
    graph_input arrived;
    if (forward_operation.output >= 0 &&
        !output_gradients_[static_cast<std::size_t>(forward_operation.output)].empty() && requires_grad) {
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
    graph_.operations.push_back(std::move(n));
}

LLMCOST_INLINE void backward_builder::add_autograd_function(const graph_function& f) {
    if (f.output < 0 || output_gradients_[static_cast<std::size_t>(f.output)].empty()) return;
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
    graph_.operations.push_back(std::move(n));
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE operator_graph training_graph_of(const model& m, workload load) {
    load.training = true;
    operator_graph g = graph_of(m, load);
    detail::backward_builder(g).build();
    return g;
}

}  // namespace llmcost
