// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/graph/folded_path.hpp>
#include <llmcost/graph/operator_graph.hpp>

namespace llmcost {

/// The kind of a row in an operator table, with the names of torch.fx where they exist.
enum class operator_row_kind : std::uint8_t {
    module,    ///< executed by a leaf module
    function,  ///< executed by a module with children
    view,      ///< no operation: a tensor is read with other sizes
    backward
};
[[nodiscard]] constexpr literal name_of(operator_row_kind kind) noexcept {
    constexpr literal names[]{"call_module", "call_function", "call_method", "backward"};
    return names[static_cast<std::size_t>(kind)];
}

/// A tensor that a row reads or writes.
struct operator_tensor {
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    bool is_parameter = false;
    friend bool operator==(const operator_tensor&, const operator_tensor&) = default;
};

/// Costs of operations, without their backward.
struct operator_costs {
    primitives<count> executes{};
    count torch_flops{};
    count bytes_read{}, bytes_written{};
    count parameters{};   ///< elements of parameters that no earlier operation read
    count saved_bytes{};  ///< bytes saved for backward that no earlier operation saved
    double seconds = 0;

    [[nodiscard]] count flops() const { return executes.add + executes.mult; }
    [[nodiscard]] count macs() const { return torch_flops / count(2); }
    [[nodiscard]] count bytes() const { return bytes_read + bytes_written; }
    /// Arithmetic intensity: FLOPs per byte read or written; 0 if there are no bytes.
    [[nodiscard]] double intensity() const {
        return bytes() == count{} ? 0 : static_cast<double>(flops()) / static_cast<double>(bytes());
    }
    operator_costs& operator+=(const operator_costs& o) {
        for (const auto member : primitive_members<count>) executes.*member += o.executes.*member;
        torch_flops += o.torch_flops;
        bytes_read += o.bytes_read;
        bytes_written += o.bytes_written;
        parameters += o.parameters;
        saved_bytes += o.saved_bytes;
        seconds += o.seconds;
        return *this;
    }
    friend bool operator==(const operator_costs&, const operator_costs&) = default;
};

/// A row of an operator table: an operation, or the same operation in several equal layers.
struct operator_row {
    operator_row_kind row_type = operator_row_kind::function;
    std::string name{};    ///< path of the module and the operation; layer indices are `*` if several are combined
    literal kind = "";     ///< the operation
    std::string target{};  ///< call target: the class of a leaf module, otherwise the operation
    std::vector<operator_tensor> inputs{};
    std::vector<operator_tensor> outputs{};
    std::uint64_t times = 1;  ///< number of operations in the row
    std::int32_t first = -1;  ///< index of the first of them in the graph
    operator_costs costs{};   ///< of all of them
};

/// Which rows a table contains.
struct table_options {
    bool backward = false;  ///< training: appends backward operations
    bool views = false;     ///< adds rows for views
    bool expand = false;    ///< does not combine equal layers
};

/// Seconds of each operation of a graph, over all its repetitions; empty: unknown.
struct seconds_of_operations {
    std::vector<double> forward{}, backward{};
};

/// An operator table and its totals.
struct operator_table {
    std::vector<operator_row> rows;
    operator_costs forward{}, backward{};
    count unread{};  ///< elements of parameters that no operation reads
};

/// The key by which operations are grouped.
enum class row_group : std::uint8_t { kind, module, layer };

/// A group of operations.
struct operator_group {
    std::string name{};       ///< an operation, or a path
    std::string type{};       ///< class of the module
    std::uint64_t times = 1;  ///< number of equal modules in the group
    std::uint64_t operations = 0;
    std::int32_t module = -1;  ///< index of the first of them
    operator_costs costs{};
};

namespace detail {

/// Costs of one operation in forward.
[[nodiscard]] inline operator_costs costs_of(const operator_graph& g, std::size_t i,
                                             const seconds_of_operations& time) {
    const graph_operation& o = g.operations[i];
    operator_costs c;
    c.executes = o.metrics_of_op;
    c.torch_flops = o.metrics_of_op.torch_flops;
    c.saved_bytes = o.metrics_of_op.saved_bytes;
    c.bytes_read = count(o.bytes_read);
    c.bytes_written = count(o.bytes_written);
    for (std::size_t k = 0; k < o.inputs.size(); ++k) {
        const std::int32_t at = o.inputs[k].tensor;
        if (at < 0) continue;
        const graph_tensor& t = g.tensors[static_cast<std::size_t>(at)];
        if (t.source != tensor_origin::parameter || t.consumers.front() != static_cast<std::int32_t>(i)) continue;
        bool is_repeated = false;
        for (std::size_t previous = 0; previous < k; ++previous)
            is_repeated = is_repeated || o.inputs[previous].tensor == at;
        if (!is_repeated) c.parameters += count(num_elements(t.sizes.data(), static_cast<int>(t.sizes.size())));
    }
    if (!time.forward.empty()) c.seconds = time.forward[i];
    return c;
}
/// Costs of one operation in backward.
[[nodiscard]] inline operator_costs backward_costs_of(const operator_graph& g, std::size_t i,
                                                      const seconds_of_operations& time) {
    operator_costs c;
    c.executes = g.operations[i].metrics_of_op.backward;
    c.torch_flops = g.operations[i].metrics_of_op.backward_torch_flops;
    if (!time.backward.empty()) c.seconds = time.backward[i];
    return c;
}
/// ADDs that sum several gradients of one tensor. They belong to no operation.
[[nodiscard]] inline count gradient_sum_costs(const operator_graph& g) {
    count all = g.total_metrics.backward.add;
    for (const graph_operation& o : g.operations) all -= o.metrics_of_op.backward.add;
    return all;
}

/// Builds a table row by row and combines equal rows.
class table_builder {
public:
    table_builder(const operator_graph& g, const table_options& choice, const seconds_of_operations& time)
        : graph_(g), choice_(choice), time_(time) {}

    [[nodiscard]] operator_table build() {
        name_operations();
        for (std::size_t i = 0; i < graph_.operations.size(); ++i) {
            if (choice_.views) add_views(i);
            add_operation(i);
        }
        if (choice_.backward) go_back();
        out_.unread = graph_.total_metrics.params - out_.forward.parameters;
        return std::move(out_);
    }

private:
    [[nodiscard]] const graph_module& module_of(const graph_operation& o) const {
        return graph_.modules[static_cast<std::size_t>(o.module)];
    }
    /// Names operations as torch.fx does: `add`, `add_1` within a module.
    void name_operations() {
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
    [[nodiscard]] operator_tensor read_by(const graph_input& in) const {
        const bool parameter =
            in.tensor >= 0 && graph_.tensors[static_cast<std::size_t>(in.tensor)].source == tensor_origin::parameter;
        return {in.sizes, in.type, parameter};
    }
    void add_operation(std::size_t i) {
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
    /// Adds a row for each tensor that an operation reads with other sizes.
    void add_views(std::size_t i) {
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
    /// The kind of view that maps one shape to another; the combined effect if there are several views.
    [[nodiscard]] static literal kind_of_view(std::vector<std::int64_t> source_sizes, std::vector<std::int64_t> to) {
        const auto elements = [](const std::vector<std::int64_t>& sizes) {
            return num_elements(sizes.data(), static_cast<int>(sizes.size()));
        };
        const std::uint64_t num_elements_before = elements(source_sizes), num_elements_after = elements(to);
        if (num_elements_after != num_elements_before)
            return num_elements_after < num_elements_before ? "slice" : "expand";
        std::sort(source_sizes.begin(), source_sizes.end());
        std::sort(to.begin(), to.end());
        return source_sizes == to ? "transpose" : "view";
    }
    void go_back() {
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
        gradient_sum_row.name = "gradients that meet";
        gradient_sum_row.kind = "add";
        gradient_sum_row.target = "add";
        gradient_sum_row.costs.executes.add = gradient_sum_costs(graph_);
        out_.backward += gradient_sum_row.costs;
        if (gradient_sum_row.costs.executes.add != count{}) add_row(std::move(gradient_sum_row));
    }
    /// Whether two rows describe the same operation of equal layers.
    [[nodiscard]] static bool is_same_operator(const operator_row& a, const operator_costs& unit_costs,
                                               const operator_row& b) {
        return a.row_type == b.row_type && a.kind == b.kind && a.inputs == b.inputs && a.outputs == b.outputs &&
               unit_costs == b.costs;
    }
    void add_row(operator_row row) {
        if (!choice_.expand) {
            std::vector<std::size_t>& same_name_rows = by_name_[row.name];
            for (const std::size_t at : same_name_rows)
                if (is_same_operator(out_.rows[at], unit_costs_[at], row)) {
                    out_.rows[at].times += row.times;
                    out_.rows[at].costs += row.costs;
                    return;
                }
            same_name_rows.push_back(out_.rows.size());
            unit_costs_.push_back(row.costs);
        }
        out_.rows.push_back(std::move(row));
    }

    const operator_graph& graph_;
    const table_options choice_;
    const seconds_of_operations& time_;
    operator_table out_;
    std::vector<std::string> names_;
    std::vector<operator_costs> unit_costs_;  ///< of the first operation of each row
    std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

}  // namespace detail

/// The operator table of a graph: one row per operation. Equal layers are combined unless `expand` is set.
[[nodiscard]] inline operator_table operator_table_of(const operator_graph& g, const table_options& choice = {},
                                                      const seconds_of_operations& time = {}) {
    return detail::table_builder(g, choice, time).build();
}

/// The layer of a module: the outermost list item that contains it, or the module itself.
[[nodiscard]] inline std::int32_t layer_of(const operator_graph& g, std::int32_t module) {
    std::int32_t layer = module;
    for (std::int32_t at = module; at >= 0; at = g.modules[static_cast<std::size_t>(at)].parent)
        if (g.modules[static_cast<std::size_t>(at)].index >= 0) layer = at;
    return layer;
}

/// Groups operations by operator type, module or layer. Equal modules are combined unless `expand` is set.
[[nodiscard]] inline std::vector<operator_group> operator_groups_of(const operator_graph& g, row_group grouping,
                                                                    const table_options& choice = {},
                                                                    const seconds_of_operations& time = {}) {
    std::vector<operator_group> groups, folded;
    std::vector<std::int32_t> place(grouping == row_group::kind ? num_ops : g.modules.size(), -1);
    for (std::size_t i = 0; i < g.operations.size(); ++i) {
        const graph_operation& o = g.operations[i];
        const std::int32_t module = grouping == row_group::layer ? layer_of(g, o.module) : o.module;
        std::int32_t& at =
            place[grouping == row_group::kind ? static_cast<std::size_t>(o.kind) : static_cast<std::size_t>(module)];
        if (at < 0) {
            at = static_cast<std::int32_t>(groups.size());
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
        operator_group& group = groups[static_cast<std::size_t>(at)];
        group.operations += o.num_time_steps;
        group.costs += detail::costs_of(g, i, time);
        if (choice.backward) group.costs += detail::backward_costs_of(g, i, time);
    }
    if (grouping == row_group::kind || choice.expand) return groups;
    std::vector<operator_group> first_modules;  // the first module of each row
    for (operator_group& one : groups) {
        one.name = fold_indices(one.name);
        std::size_t at = 0;
        while (at < first_modules.size() &&
               !(first_modules[at].name == one.name && first_modules[at].type == one.type &&
                 first_modules[at].operations == one.operations && first_modules[at].costs == one.costs))
            ++at;
        if (at == first_modules.size()) {
            first_modules.push_back(one);
            folded.push_back(std::move(one));
            continue;
        }
        ++folded[at].times;
        folded[at].operations += one.operations;
        folded[at].costs += one.costs;
    }
    return folded;
}

}  // namespace llmcost
