// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/operator_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/graph/folded_path.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

LLMCOST_INLINE operator_costs& operator_costs::operator+=(const operator_costs& o) {
    for (const auto member : primitive_members<count>) executes.*member += o.executes.*member;
    torch_flops += o.torch_flops;
    bytes_read += o.bytes_read;
    bytes_written += o.bytes_written;
    parameters += o.parameters;
    saved_bytes += o.saved_bytes;
    seconds += o.seconds;
    return *this;
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE operator_costs costs_of(const operator_graph& g, std::size_t i, const seconds_of_operations& time) {
    const graph_operation& o = g.operations[i];
    operator_costs c;
    c.executes = o.metrics_of_op;
    c.torch_flops = o.metrics_of_op.torch_flops;
    c.saved_bytes = o.metrics_of_op.saved_bytes;
    c.bytes_read = count(o.bytes_read);
    c.bytes_written = count(o.bytes_written);
    for (std::size_t k = 0; k < o.inputs.size(); ++k) {
        const std::int32_t tensor_index = o.inputs[k].tensor;
        if (tensor_index < 0) continue;
        const graph_tensor& t = g.tensors[static_cast<std::size_t>(tensor_index)];
        if (t.source != tensor_origin::parameter || t.consumers.front() != static_cast<std::int32_t>(i)) continue;
        bool is_repeated = false;
        for (std::size_t previous = 0; previous < k; ++previous)
            is_repeated = is_repeated || o.inputs[previous].tensor == tensor_index;
        if (!is_repeated) c.parameters += count(num_elements(t.sizes.data(), static_cast<int>(t.sizes.size())));
    }
    if (!time.forward.empty()) c.seconds = time.forward[i];
    return c;
}

/// Costs of one operation in backward.
[[nodiscard]] LLMCOST_INLINE operator_costs backward_costs_of(const operator_graph& g, std::size_t i,
                                                              const seconds_of_operations& time) {
    operator_costs c;
    c.executes = g.operations[i].metrics_of_op.backward;
    c.torch_flops = g.operations[i].metrics_of_op.backward_torch_flops;
    if (!time.backward.empty()) c.seconds = time.backward[i];
    return c;
}

/// ADDs that sum several gradients of one tensor. They belong to no operation.
[[nodiscard]] LLMCOST_INLINE count gradient_sum_costs(const operator_graph& g) {
    count all = g.total_metrics.backward.add;
    for (const graph_operation& o : g.operations) all -= o.metrics_of_op.backward.add;
    return all;
}

LLMCOST_INLINE operator_table table_builder::build() {
    name_operations();
    for (std::size_t i = 0; i < graph_.operations.size(); ++i) {
        if (choice_.views) add_views(i);
        add_operation(i);
    }
    if (choice_.backward) add_backward_rows();
    out_.unread = graph_.total_metrics.params - out_.forward.parameters;
    return std::move(out_);
}

LLMCOST_INLINE void table_builder::name_operations() {
    std::unordered_map<std::string, int> num_uses;
    std::vector<std::string> folded(graph_.modules.size());
    for (std::size_t i = 0; i < folded.size(); ++i)
        folded[i] = choice_.expand ? graph_.modules[i].path : fold_indices(graph_.modules[i].path);
    for (const graph_operation& o : graph_.operations) {
        const std::string& path = folded[static_cast<std::size_t>(o.module)];
        std::string operation_name(op_cost_of(o.kind).name);
        const int n = num_uses[std::to_string(o.module) + '/' + operation_name]++;
        if (n > 0) operation_name += '_' + std::to_string(n);
        names_.push_back(path.empty() ? operation_name : path + '.' + operation_name);
    }
}

LLMCOST_INLINE operator_tensor table_builder::read_by(const graph_input& in) const {
    const bool parameter =
        in.tensor >= 0 && graph_.tensors[static_cast<std::size_t>(in.tensor)].source == tensor_origin::parameter;
    return {in.sizes, in.type, parameter};
}

LLMCOST_INLINE void table_builder::add_operation(std::size_t i) {
    const graph_operation& o = graph_.operations[i];
    const graph_module& m = module_of(o);
    operator_row row;
    row.row_type = m.is_leaf ? operator_row_kind::module : operator_row_kind::function;
    row.name = names_[i];
    row.kind = op_cost_of(o.kind).name;
    row.target = m.is_leaf ? m.type : std::string(row.kind);
    for (const graph_input& in : o.inputs) row.inputs.push_back(read_by(in));
    row.outputs.push_back({o.sizes, o.type});
    row.times = o.num_time_steps;
    row.first = static_cast<std::int32_t>(i);
    row.costs = costs_of(graph_, i, time_);
    out_.forward += row.costs;
    add_row(std::move(row));
}

LLMCOST_INLINE void table_builder::add_views(std::size_t i) {
    const graph_operation& o = graph_.operations[i];
    for (std::size_t k = 0; k < o.inputs.size(); ++k) {
        const graph_input& in = o.inputs[k];
        if (!in.is_view) continue;
        const graph_tensor& t = graph_.tensors[static_cast<std::size_t>(in.tensor)];
        operator_row row;
        row.row_type = operator_row_kind::view;
        row.kind = kind_of_view(t.sizes, in.sizes);
        row.target = std::string(row.kind);
        row.name = names_[i] + ".input_" + std::to_string(k) + '.' + row.target;
        row.inputs.push_back({t.sizes, t.type, t.source == tensor_origin::parameter});
        row.outputs.push_back({in.sizes, in.type, row.inputs[0].is_parameter});
        row.first = static_cast<std::int32_t>(i);
        add_row(std::move(row));
    }
}

LLMCOST_INLINE literal table_builder::kind_of_view(std::vector<std::int64_t> source_sizes,
                                                   std::vector<std::int64_t> to) {
    const auto elements = [](const std::vector<std::int64_t>& sizes) {
        return num_elements(sizes.data(), static_cast<int>(sizes.size()));
    };
    const std::uint64_t num_elements_before = elements(source_sizes), num_elements_after = elements(to);
    if (num_elements_after != num_elements_before) return num_elements_after < num_elements_before ? "slice" : "expand";
    std::sort(source_sizes.begin(), source_sizes.end());
    std::sort(to.begin(), to.end());
    return source_sizes == to ? "transpose" : "view";
}

LLMCOST_INLINE void table_builder::add_backward_rows() {
    for (std::size_t i = graph_.operations.size(); i-- > 0;) {
        const graph_operation& o = graph_.operations[i];
        if (!o.has_backward) continue;
        operator_row row;
        row.row_type = operator_row_kind::backward;
        row.name = names_[i] + ".backward";
        row.kind = op_cost_of(o.kind).name;
        row.target = std::string(row.kind);
        row.inputs.push_back({o.sizes, o.type});
        for (const graph_input& in : o.inputs)
            if (in.requires_grad) row.outputs.push_back(read_by(in));
        row.times = o.num_time_steps;
        row.first = static_cast<std::int32_t>(i);
        row.costs = backward_costs_of(graph_, i, time_);
        out_.backward += row.costs;
        add_row(std::move(row));
    }
    operator_row gradient_sum_row;
    gradient_sum_row.row_type = operator_row_kind::backward;
    gradient_sum_row.name = "gradient sums";
    gradient_sum_row.kind = "add";
    gradient_sum_row.target = "add";
    gradient_sum_row.costs.executes.add = gradient_sum_costs(graph_);
    out_.backward += gradient_sum_row.costs;
    if (gradient_sum_row.costs.executes.add != count{}) add_row(std::move(gradient_sum_row));
}

LLMCOST_INLINE bool table_builder::is_same_operator(const operator_row& a, const operator_costs& unit_costs,
                                                    const operator_row& b) {
    return a.row_type == b.row_type && a.kind == b.kind && a.inputs == b.inputs && a.outputs == b.outputs &&
           unit_costs == b.costs;
}

LLMCOST_INLINE void table_builder::add_row(operator_row row) {
    if (!choice_.expand) {
        std::vector<std::size_t>& same_name_rows = rows_by_name_[row.name];
        for (const std::size_t index : same_name_rows)
            if (is_same_operator(out_.rows[index], unit_costs_[index], row)) {
                out_.rows[index].times += row.times;
                out_.rows[index].costs += row.costs;
                return;
            }
        same_name_rows.push_back(out_.rows.size());
        unit_costs_.push_back(row.costs);
    }
    out_.rows.push_back(std::move(row));
}

}  // namespace llmcost::detail

namespace llmcost {

/// Whether costs are equal except for their time: parts of fused kernels may differ between equal modules.
[[nodiscard]] LLMCOST_INLINE bool has_equal_counts(operator_costs a, const operator_costs& b) {
    a.seconds = b.seconds;
    return a == b;
}

/// The layer of a module: the outermost list item that contains it, or the module itself.
[[nodiscard]] LLMCOST_INLINE std::int32_t layer_of(const operator_graph& g, std::int32_t module) {
    std::int32_t layer = module;
    for (std::int32_t ancestor = module; ancestor >= 0; ancestor = g.modules[static_cast<std::size_t>(ancestor)].parent)
        if (g.modules[static_cast<std::size_t>(ancestor)].index >= 0) layer = ancestor;
    return layer;
}

LLMCOST_INLINE std::vector<operator_group> operator_groups_of(const operator_graph& g, row_group grouping,
                                                              const table_options& choice,
                                                              const seconds_of_operations& time) {
    std::vector<operator_group> groups, folded;
    std::vector<std::int32_t> place(grouping == row_group::kind ? num_ops : g.modules.size(), -1);
    for (std::size_t i = 0; i < g.operations.size(); ++i) {
        const graph_operation& o = g.operations[i];
        const std::int32_t module = grouping == row_group::layer ? layer_of(g, o.module) : o.module;
        std::int32_t& group_index =
            place[grouping == row_group::kind ? static_cast<std::size_t>(o.kind) : static_cast<std::size_t>(module)];
        if (group_index < 0) {
            group_index = static_cast<std::int32_t>(groups.size());
            operator_group made;
            if (grouping == row_group::kind) {
                made.name = std::string(op_cost_of(o.kind).name);
            } else {
                const graph_module& m = g.modules[static_cast<std::size_t>(module)];
                made.name = m.path;
                made.type = m.type;
                made.module = module;
            }
            groups.push_back(std::move(made));
        }
        operator_group& group = groups[static_cast<std::size_t>(group_index)];
        group.operations += o.num_time_steps;
        group.costs += detail::costs_of(g, i, time);
        if (choice.backward) group.costs += detail::backward_costs_of(g, i, time);
    }
    if (grouping == row_group::kind || choice.expand) return groups;
    std::vector<operator_group> first_modules;  // the first module of each row
    for (operator_group& one : groups) {
        one.name = fold_indices(one.name);
        std::size_t row = 0;
        while (row < first_modules.size() &&
               !(first_modules[row].name == one.name && first_modules[row].type == one.type &&
                 first_modules[row].operations == one.operations &&
                 has_equal_counts(first_modules[row].costs, one.costs)))
            ++row;
        if (row == first_modules.size()) {
            first_modules.push_back(one);
            folded.push_back(std::move(one));
            continue;
        }
        ++folded[row].times;
        folded[row].operations += one.operations;
        folded[row].costs += one.costs;
    }
    return folded;
}

}  // namespace llmcost
