// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/levels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

LLMCOST_INLINE activation_counter::activation_counter(const operator_graph& g)
    : graph_(g), module_inputs_(g.modules.size()), module_outputs_(g.modules.size()) {
    for (const graph_operation& o : g.operations) {
        for (const graph_input& in : o.inputs) read(in, o.module);
        made_by(o);
    }
}

LLMCOST_INLINE activation_elements activation_counter::activations_of(std::int32_t module) const {
    activation_elements n;
    for (const std::int32_t t : module_inputs_[static_cast<std::size_t>(module)]) n.in += elements(t);
    for (const std::int32_t t : module_outputs_[static_cast<std::size_t>(module)]) n.out += elements(t);
    return n;
}

LLMCOST_INLINE count activation_counter::elements(std::int32_t t) const {
    const std::vector<std::int64_t>& sizes = graph_.tensors[static_cast<std::size_t>(t)].sizes;
    return count(num_elements(sizes.data(), static_cast<int>(sizes.size())));
}

LLMCOST_INLINE activation_elements activation_counter::activations_of(const graph_operation& o) const {
    activation_elements n;
    if (o.output >= 0 && !o.in_place) n.out = elements(o.output);
    std::vector<std::int32_t> input_tensors;
    for (const graph_input& in : o.inputs) add(input_tensors, in.tensor);
    for (const std::int32_t t : input_tensors) n.in += elements(t);
    return n;
}

LLMCOST_INLINE void activation_counter::add(std::vector<std::int32_t>& to, std::int32_t t) const {
    if (t < 0 || graph_.tensors[static_cast<std::size_t>(t)].source == tensor_origin::parameter) return;
    if (std::find(to.begin(), to.end(), t) == to.end()) to.push_back(t);
}

LLMCOST_INLINE void activation_counter::made_by(const graph_operation& o) {
    if (o.output < 0 || o.in_place) return;
    const graph_tensor& tensor = graph_.tensors[static_cast<std::size_t>(o.output)];
    bool leaves = o.output == graph_.output || tensor.is_cached;
    for (const std::int32_t reader : tensor.consumers) leaves = leaves || module_of(reader) != o.module;
    if (leaves) add(module_outputs_[static_cast<std::size_t>(o.module)], o.output);
}

/// Whether a costs more than b: by seconds if known, then by FLOPs, then by bytes.
[[nodiscard]] LLMCOST_INLINE bool has_larger_cost(const operator_costs& a, const operator_costs& b) {
    if (a.seconds != b.seconds) return a.seconds > b.seconds;
    if (a.flops() != b.flops()) return a.flops() > b.flops();
    return a.bytes() > b.bytes();
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE model_levels levels_of(const operator_graph& g, const seconds_of_operations& time) {
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
