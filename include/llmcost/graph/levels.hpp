// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/graph/operator_table.hpp>

namespace llmcost {

/// Elements that a module reads and writes: activations without parameters. In-place results count as inputs only.
struct activation_elements {
    count in{}, out{};
    [[nodiscard]] count total() const { return in + out; }
};

/// A module with operations of its own, or several equal ones: a layer, as frameworks define it.
struct layer_level {
    operator_group group{};
    bool is_leaf = false;
    activation_elements activations{};  ///< of one of them
};

/// A model on three levels: total, layers, operator types.
struct model_levels {
    operator_costs total{};
    count parameters{};
    count total_activations{};  ///< inputs of the model, and outputs of all leaf modules
    count peak_activations{};   ///< maximum of inputs plus outputs over leaf modules
    std::string peak_at{};
    count largest_operation{};  ///< maximum of inputs plus outputs over single operations
    std::string largest_at{};
    std::vector<layer_level> layers{};
    std::vector<operator_group> operators{};
};

namespace detail {

/// Collects the tensors that a module's own operations read from outside, and those that they write for others.
class activation_counter {
public:
    explicit activation_counter(const operator_graph& g) : graph_(g), in_(g.modules.size()), out_(g.modules.size()) {
        for (const graph_operation& o : g.operations) {
            for (const graph_input& in : o.inputs) read(in, o.module);
            made_by(o);
        }
    }
    [[nodiscard]] activation_elements activations_of(std::int32_t module) const {
        activation_elements n;
        for (const std::int32_t t : in_[static_cast<std::size_t>(module)]) n.in += elements(t);
        for (const std::int32_t t : out_[static_cast<std::size_t>(module)]) n.out += elements(t);
        return n;
    }
    [[nodiscard]] count elements(std::int32_t t) const {
        const std::vector<std::int64_t>& sizes = graph_.tensors[static_cast<std::size_t>(t)].sizes;
        return count(num_elements(sizes.data(), static_cast<int>(sizes.size())));
    }
    /// The inputs and outputs of one operation, in elements.
    [[nodiscard]] activation_elements activations_of(const graph_operation& o) const {
        activation_elements n;
        if (o.output >= 0 && !o.in_place) n.out = elements(o.output);
        std::vector<std::int32_t> input_tensors;
        for (const graph_input& in : o.inputs) add(input_tensors, in.tensor);
        for (const std::int32_t t : input_tensors) n.in += elements(t);
        return n;
    }

private:
    [[nodiscard]] std::int32_t module_of(std::int32_t operation) const {
        return operation < 0 ? -1 : graph_.operations[static_cast<std::size_t>(operation)].module;
    }
    void add(std::vector<std::int32_t>& to, std::int32_t t) const {
        if (t < 0 || graph_.tensors[static_cast<std::size_t>(t)].source == tensor_origin::parameter) return;
        if (std::find(to.begin(), to.end(), t) == to.end()) to.push_back(t);
    }
    void read(const graph_input& in, std::int32_t module) {
        if (module_of(in.producer) != module) add(in_[static_cast<std::size_t>(module)], in.tensor);
    }
    void made_by(const graph_operation& o) {
        if (o.output < 0 || o.in_place) return;
        const graph_tensor& tensor = graph_.tensors[static_cast<std::size_t>(o.output)];
        bool leaves = o.output == graph_.output || tensor.is_cached;
        for (const std::int32_t reader : tensor.consumers) leaves = leaves || module_of(reader) != o.module;
        if (leaves) add(out_[static_cast<std::size_t>(o.module)], o.output);
    }

    const operator_graph& graph_;
    std::vector<std::vector<std::int32_t>> in_, out_;
};

/// Whether a costs more than b: by seconds if known, then by FLOPs, then by bytes.
[[nodiscard]] inline bool has_larger_cost(const operator_costs& a, const operator_costs& b) {
    if (a.seconds != b.seconds) return a.seconds > b.seconds;
    if (a.flops() != b.flops()) return a.flops() > b.flops();
    return a.bytes() > b.bytes();
}

}  // namespace detail

/// A graph on three levels, with the most expensive entries first.
///
/// Peak activations follow MIT 6.5940: the maximum of inputs plus outputs over layers, which are leaf modules.
[[nodiscard]] inline model_levels levels_of(const operator_graph& g, const seconds_of_operations& time = {}) {
    model_levels all;
    const detail::activation_counter activations(g);
    all.parameters = g.total_metrics.params;
    for (std::size_t i = 0; i < g.operations.size(); ++i) {
        all.total += detail::costs_of(g, i, time);
        const count num_activations = activations.activations_of(g.operations[i]).total();
        if (num_activations <= all.largest_operation) continue;
        const std::string& path = g.modules[static_cast<std::size_t>(g.operations[i].module)].path;
        all.largest_operation = num_activations;
        all.largest_at = (path.empty() ? "" : path + '.') + std::string(op_cost_of(g.operations[i].kind).name);
    }
    bool first = true;
    for (std::size_t m = 0; m < g.modules.size(); ++m) {
        const graph_module& module = g.modules[m];
        if (!module.is_leaf || module.first == module.end) continue;
        const activation_elements n = activations.activations_of(static_cast<std::int32_t>(m));
        if (first) all.total_activations += n.in;
        first = false;
        all.total_activations += n.out;
        if (n.total() > all.peak_activations) {
            all.peak_activations = n.total();
            all.peak_at = module.path;
        }
    }
    for (operator_group& group : operator_groups_of(g, row_group::module, {}, time)) {
        layer_level layer;
        layer.is_leaf = g.modules[static_cast<std::size_t>(group.module)].is_leaf;
        layer.activations = activations.activations_of(group.module);
        layer.group = std::move(group);
        all.layers.push_back(std::move(layer));
    }
    all.operators = operator_groups_of(g, row_group::kind, {}, time);
    std::stable_sort(all.layers.begin(), all.layers.end(), [](const layer_level& a, const layer_level& b) {
        return detail::has_larger_cost(a.group.costs, b.group.costs);
    });
    std::stable_sort(all.operators.begin(), all.operators.end(), [](const operator_group& a, const operator_group& b) {
        return detail::has_larger_cost(a.costs, b.costs);
    });
    return all;
}

}  // namespace llmcost
