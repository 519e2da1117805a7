// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/graph/operator_graph.hpp>

// Backward as operations of a graph: what each of them reads, and the gradients that it makes.
namespace llmcost {

/// Whether backward hands a gradient on as it is to an input that is as large as the result.
[[nodiscard]] constexpr bool hands_on_gradient(op kind, bool first_input) noexcept {
    return kind == op::add || kind == op::copy || kind == op::cat || (kind == op::sub && first_input);
}

namespace detail {

/// Goes back through the operations of a pass, last to first, and puts what backward executes behind them.
class backward_builder {
public:
    explicit backward_builder(operator_graph& g) : g_(g), arrived_(g.tensors.size()) {}

    void build() {
        const std::size_t forward = g_.operations.size();
        if (g_.returned >= 0) arrive(g_.returned, handed_in(g_.returned));
        std::size_t functions = g_.functions.size();
        for (std::size_t i = forward;; --i) {
            while (functions > 0 && static_cast<std::size_t>(g_.functions[functions - 1].behind) == i)
                go_through(g_.functions[--functions]);
            if (i == 0) break;
            go_back(static_cast<std::int32_t>(i) - 1);
        }
        for (std::size_t t = 0; t < arrived_.size(); ++t) {
            if (g_.tensors[t].origin != tensor_origin::parameter || arrived_[t].empty()) continue;
            const std::int32_t reader = g_.tensors[t].consumers.empty() ? 0 : g_.tensors[t].consumers.front();
            const graph_input sum =
                met(static_cast<std::int32_t>(t), g_.operations[static_cast<std::size_t>(reader)].module);
            if (tensor(sum.tensor).name.empty()) tensor(sum.tensor).name = g_.tensors[t].name + ".grad";
            g_.gradients.push_back(sum.tensor);
        }
        // what operations keep is read by their backward, which is there
        for (graph_tensor& t : g_.tensors) t.is_saved = false;
    }

private:
    [[nodiscard]] graph_tensor& tensor(std::int32_t i) { return g_.tensors[static_cast<std::size_t>(i)]; }
    [[nodiscard]] std::int32_t here() const noexcept { return static_cast<std::int32_t>(g_.operations.size()); }
    void arrive(std::int32_t at, graph_input gradient) {
        if (static_cast<std::size_t>(at) >= arrived_.size()) arrived_.resize(g_.tensors.size());
        arrived_[static_cast<std::size_t>(at)].push_back(std::move(gradient));
    }
    [[nodiscard]] graph_input made(std::vector<std::int64_t> sizes, dtype type, std::uint64_t bytes, std::int32_t by) {
        graph_tensor t;
        t.sizes = std::move(sizes), t.type = type, t.bytes = bytes, t.producer = by;
        t.origin = by < 0 ? tensor_origin::handed_in : tensor_origin::operation;
        graph_input in;
        in.tensor = static_cast<std::int32_t>(g_.tensors.size()), in.producer = by;
        in.sizes = t.sizes, in.type = type, in.bytes = bytes, in.wants_gradient = false;
        g_.tensors.push_back(std::move(t));
        return in;
    }
    /// A gradient that something outside of the pass makes: a loss.
    [[nodiscard]] graph_input handed_in(std::int32_t of) {
        const graph_tensor& t = tensor(of);
        return made(t.sizes, t.type, t.bytes, -1);
    }
    void read(graph_operation& n, graph_input in) {
        tensor(in.tensor).consumers.push_back(here());
        n.inputs.push_back(std::move(in));
    }
    /// The gradient of a tensor, which is nobody else's then: a sum where several have arrived.
    [[nodiscard]] graph_input met(std::int32_t of, std::int32_t module) {
        std::vector<graph_input> all = std::move(arrived_[static_cast<std::size_t>(of)]);
        arrived_[static_cast<std::size_t>(of)].clear();
        if (all.size() == 1) return std::move(all.front());
        graph_operation sum;
        sum.kind = op::add, sum.module = module, sum.pass = graph_pass::meeting;
        const graph_tensor& t = tensor(of);
        graph_input out = made(t.sizes, t.type, t.bytes, here());
        sum.output = out.tensor, sum.sizes = out.sizes, sum.type = out.type;
        for (graph_input& in : all) sum.bytes_read += in.bytes, read(sum, std::move(in));
        sum.bytes_written = out.bytes;
        g_.operations.push_back(std::move(sum));
        return out;
    }
    /// Gives a node its gradients: new ones, or what arrived where that is handed on.
    void give(graph_operation& n, const std::vector<graph_input>& to, const graph_input& arrived, bool passes) {
        for (std::size_t i = 0; i < to.size(); ++i) {
            if (!to[i].wants_gradient) continue;
            if (passes && hands_on_gradient(n.kind, i == 0) && to[i].bytes == arrived.bytes) {
                arrive(to[i].tensor, arrived);
                continue;
            }
            graph_input gradient = made(to[i].sizes, to[i].type, to[i].bytes, here());
            n.bytes_written += gradient.bytes;
            if (n.output < 0)
                n.output = gradient.tensor, n.sizes = gradient.sizes, n.type = gradient.type;
            else
                n.further.push_back(gradient.tensor);
            arrive(to[i].tensor, std::move(gradient));
        }
    }
    void go_back(std::int32_t i) {
        const graph_operation of = g_.operations[static_cast<std::size_t>(i)];
        const bool costs = of.done.backward != primitives<count>{} || of.done.backward_torch_flops != count{};
        if (!of.goes_back && !costs) return;
        bool wants = false;
        for (const graph_input& in : of.inputs) wants = wants || in.wants_gradient;
        graph_input arrived;
        if (of.output >= 0 && !arrived_[static_cast<std::size_t>(of.output)].empty() && wants) {
            arrived = met(of.output, of.module);
        } else if (costs && function_ >= 0) {  // inside of a function, whose gradient it reads
            arrived = through_;
        } else if (costs && of.output >= 0) {
            arrived = handed_in(of.output);
        } else {
            return;
        }
        graph_operation n;
        n.kind = of.kind, n.module = of.module, n.times = of.times, n.pass = graph_pass::backward, n.backward_of = i;
        static_cast<primitives<count>&>(n.done) = of.done.backward;
        n.done.torch_flops = of.done.backward_torch_flops;
        give(n, of.inputs, arrived, true);
        if (n.output < 0 && !costs) return;  // all is handed on
        n.bytes_read = arrived.bytes;
        read(n, arrived);
        for (const graph_input& kept : of.kept) n.bytes_read += kept.bytes, read(n, kept);
        g_.operations.push_back(std::move(n));
    }
    void go_through(const graph_function& f) {
        if (f.output < 0 || arrived_[static_cast<std::size_t>(f.output)].empty()) return;
        if (f.writes) {
            const graph_input whole = met(f.output, f.module);
            graph_input part = f.inputs.front();  // a view of it
            part.tensor = whole.tensor, part.producer = whole.producer, part.is_view = true;
            arrive(f.inputs.front().tensor, part);
            return arrive(f.output, whole);
        }
        through_ = met(f.output, f.module), function_ = f.behind;
        graph_operation n;
        n.kind = op::copy, n.module = f.module, n.pass = graph_pass::backward;
        give(n, f.inputs, through_, false);
        if (n.output < 0) return;
        n.bytes_read = through_.bytes;
        read(n, through_);
        for (const graph_input& kept : f.kept) n.bytes_read += kept.bytes, read(n, kept);
        g_.operations.push_back(std::move(n));
    }

    operator_graph& g_;
    std::vector<std::vector<graph_input>> arrived_;  ///< by tensor
    graph_input through_{};                          ///< what arrived at the function that is gone back through
    std::int32_t function_ = -1;
};

}  // namespace detail

/// The graph of a training step: the forward pass, and behind it what goes back, last to first.
///
/// Each operation of backward reads the gradient that arrives and what its forward operation kept, and makes a gradient for
/// each input that wants one; where several gradients of a tensor meet, an addition stands in front of whoever reads their
/// sum. FLOPs are those of the trace: torch's add up to `total.backward_torch_flops`.
[[nodiscard]] inline operator_graph training_graph_of(const model& m, workload load) {
    load.training = true;
    operator_graph g = graph_of(m, load);
    detail::backward_builder(g).build();
    return g;
}

}  // namespace llmcost
