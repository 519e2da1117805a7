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

/// What a row of an operator table is; in torch.fx's words where it has them.
enum class row_kind : std::uint8_t {
    module,    ///< executed by a module without children
    function,  ///< executed by a module that has children
    view,      ///< nothing executed: a tensor is read in other sizes than it was made in
    backward
};
[[nodiscard]] constexpr literal name_of(row_kind what) noexcept {
    constexpr literal names[]{"call_module", "call_function", "call_method", "backward"};
    return names[static_cast<std::size_t>(what)];
}

/// A tensor that a row reads or gives.
struct row_tensor {
    std::vector<std::int64_t> sizes{};
    dtype type = dtype::float32;
    bool is_parameter = false;
    friend bool operator==(const row_tensor&, const row_tensor&) = default;
};

/// What operations cost together: theirs, not those of backward.
struct row_costs {
    primitives<count> executes{};
    count torch_flops{};
    count bytes_read{}, bytes_written{};
    count parameters{};  ///< elements of parameters that nobody read before
    count kept{};        ///< bytes for backward, which nobody kept before
    double seconds = 0;

    [[nodiscard]] count flops() const { return executes.add + executes.mult; }
    [[nodiscard]] count macs() const { return torch_flops / count(2); }
    [[nodiscard]] count bytes() const { return bytes_read + bytes_written; }
    /// FLOPs of a byte that is moved; 0 where none is.
    [[nodiscard]] double intensity() const {
        return bytes() == count{} ? 0 : static_cast<double>(flops()) / static_cast<double>(bytes());
    }
    row_costs& operator+=(const row_costs& o) {
        for (const auto member : primitive_members<count>) executes.*member += o.executes.*member;
        torch_flops += o.torch_flops, bytes_read += o.bytes_read, bytes_written += o.bytes_written;
        parameters += o.parameters, kept += o.kept, seconds += o.seconds;
        return *this;
    }
    friend bool operator==(const row_costs&, const row_costs&) = default;
};

/// A line of an operator table: an operation, or several of like layers.
struct operator_row {
    row_kind what = row_kind::function;
    std::string name{};    ///< its module's path and the operation; numbers of layers are `*` where several are meant
    literal kind = "";     ///< the operation
    std::string target{};  ///< what is called: a module's class, else the operation
    std::vector<row_tensor> inputs{};
    std::vector<row_tensor> outputs{};
    std::uint64_t times = 1;  ///< operations that it stands for
    std::int32_t first = -1;  ///< the first of them in the graph
    row_costs costs{};        ///< of all of them
};

/// What a table shows besides operations, and in how many lines.
struct table_choice {
    bool backward = false;  ///< of a training step what goes back, behind the forward pass
    bool views = false;     ///< rows for tensors that are read in other sizes
    bool expand = false;    ///< every layer's operations by themselves
};

/// Seconds of each operation of a graph, of all its times; empty: not known.
struct seconds_of_operations {
    std::vector<double> forward{}, backward{};
};

/// An operator table and what its rows add up to.
struct operator_table {
    std::vector<operator_row> rows;
    row_costs forward{}, backward{};
    count unread{};  ///< elements of parameters that no operation reads
};

/// What operations are taken together by.
enum class row_group : std::uint8_t { kind, module, layer };

/// Operations taken together.
struct operator_group {
    std::string name{};       ///< an operation, or a path
    std::string type{};       ///< class of the module
    std::uint64_t times = 1;  ///< like modules that it stands for
    std::uint64_t operations = 0;
    std::int32_t module = -1;  ///< the first of them
    row_costs costs{};
};

namespace detail {

/// Costs of one operation, forwards.
[[nodiscard]] inline row_costs costs_of(const operator_graph& g, std::size_t i, const seconds_of_operations& time) {
    const graph_operation& o = g.operations[i];
    row_costs c;
    c.executes = o.done, c.torch_flops = o.done.torch_flops, c.kept = o.done.saved_bytes;
    c.bytes_read = count(o.bytes_read), c.bytes_written = count(o.bytes_written);
    for (std::size_t k = 0; k < o.inputs.size(); ++k) {
        const std::int32_t at = o.inputs[k].tensor;
        if (at < 0) continue;
        const graph_tensor& t = g.tensors[static_cast<std::size_t>(at)];
        if (t.origin != tensor_origin::parameter || t.consumers.front() != static_cast<std::int32_t>(i)) continue;
        bool seen = false;
        for (std::size_t before = 0; before < k; ++before) seen = seen || o.inputs[before].tensor == at;
        if (!seen) c.parameters += count(elements_of(t.sizes.data(), static_cast<int>(t.sizes.size())));
    }
    if (!time.forward.empty()) c.seconds = time.forward[i];
    return c;
}
/// The same of what goes back.
[[nodiscard]] inline row_costs backward_costs_of(const operator_graph& g, std::size_t i, const seconds_of_operations& time) {
    row_costs c;
    c.executes = g.operations[i].done.backward, c.torch_flops = g.operations[i].done.backward_torch_flops;
    if (!time.backward.empty()) c.seconds = time.backward[i];
    return c;
}
/// ADDs where gradients of one tensor meet, which are no operation's.
[[nodiscard]] inline count meeting_gradients(const operator_graph& g) {
    count all = g.total.backward.add;
    for (const graph_operation& o : g.operations) all -= o.done.backward.add;
    return all;
}

/// Writes rows down one by one, like ones together.
class table_builder {
public:
    table_builder(const operator_graph& g, const table_choice& choice, const seconds_of_operations& time)
        : graph_(g), choice_(choice), time_(time) {}

    [[nodiscard]] operator_table build() {
        name_operations();
        for (std::size_t i = 0; i < graph_.operations.size(); ++i) {
            if (choice_.views) add_views(i);
            add_operation(i);
        }
        if (choice_.backward) go_back();
        out_.unread = graph_.total.params - out_.forward.parameters;
        return std::move(out_);
    }

private:
    [[nodiscard]] const graph_module& module_of(const graph_operation& o) const {
        return graph_.modules[static_cast<std::size_t>(o.module)];
    }
    /// `add`, `add_1`: operations of a module that are called alike are numbered, as torch.fx numbers them.
    void name_operations() {
        std::unordered_map<std::string, int> seen;
        std::vector<std::string> folded(graph_.modules.size());
        for (std::size_t i = 0; i < folded.size(); ++i)
            folded[i] = choice_.expand ? graph_.modules[i].path : fold_indices(graph_.modules[i].path);
        for (const graph_operation& o : graph_.operations) {
            const std::string& path = folded[static_cast<std::size_t>(o.module)];
            std::string own(price_of(o.kind).name);
            const int n = seen[std::to_string(o.module) + '/' + own]++;
            if (n > 0) own += '_' + std::to_string(n);
            names_.push_back(path.empty() ? own : path + '.' + own);
        }
    }
    [[nodiscard]] row_tensor read_by(const graph_input& in) const {
        const bool parameter =
            in.tensor >= 0 && graph_.tensors[static_cast<std::size_t>(in.tensor)].origin == tensor_origin::parameter;
        return {in.sizes, in.type, parameter};
    }
    void add_operation(std::size_t i) {
        const graph_operation& o = graph_.operations[i];
        const graph_module& m = module_of(o);
        operator_row row;
        row.what = m.leaf ? row_kind::module : row_kind::function;
        row.name = names_[i], row.kind = price_of(o.kind).name;
        row.target = m.leaf ? m.type : std::string(row.kind);
        for (const graph_input& in : o.inputs) row.inputs.push_back(read_by(in));
        row.outputs.push_back({o.sizes, o.type});
        row.times = o.times, row.first = static_cast<std::int32_t>(i);
        row.costs = costs_of(graph_, i, time_);
        out_.forward += row.costs;
        put(std::move(row));
    }
    /// A row for each tensor that an operation reads in other sizes.
    void add_views(std::size_t i) {
        const graph_operation& o = graph_.operations[i];
        for (std::size_t k = 0; k < o.inputs.size(); ++k) {
            const graph_input& in = o.inputs[k];
            if (!in.is_view) continue;
            const graph_tensor& t = graph_.tensors[static_cast<std::size_t>(in.tensor)];
            operator_row row;
            row.what = row_kind::view;
            row.kind = kind_of_view(t.sizes, in.sizes), row.target = std::string(row.kind);
            row.name = names_[i] + ".input_" + std::to_string(k) + '.' + row.target;
            row.inputs.push_back({t.sizes, t.type, t.origin == tensor_origin::parameter});
            row.outputs.push_back({in.sizes, in.type, row.inputs[0].is_parameter});
            row.first = static_cast<std::int32_t>(i);
            put(std::move(row));
        }
    }
    /// What makes such sizes of those; of several views, one behind the other, what they come to.
    [[nodiscard]] static literal kind_of_view(std::vector<std::int64_t> from, std::vector<std::int64_t> to) {
        const auto elements = [](const std::vector<std::int64_t>& sizes) {
            return elements_of(sizes.data(), static_cast<int>(sizes.size()));
        };
        const std::uint64_t before = elements(from), after = elements(to);
        if (after != before) return after < before ? "slice" : "expand";
        std::sort(from.begin(), from.end()), std::sort(to.begin(), to.end());
        return from == to ? "transpose" : "view";
    }
    void go_back() {
        for (std::size_t i = graph_.operations.size(); i-- > 0;) {
            const graph_operation& o = graph_.operations[i];
            if (!o.goes_back) continue;
            operator_row row;
            row.what = row_kind::backward;
            row.name = names_[i] + ".backward", row.kind = price_of(o.kind).name, row.target = std::string(row.kind);
            row.inputs.push_back({o.sizes, o.type});
            for (const graph_input& in : o.inputs)
                if (in.wants_gradient) row.outputs.push_back(read_by(in));
            row.times = o.times, row.first = static_cast<std::int32_t>(i);
            row.costs = backward_costs_of(graph_, i, time_);
            out_.backward += row.costs;
            put(std::move(row));
        }
        operator_row meet;
        meet.what = row_kind::backward, meet.name = "gradients that meet", meet.kind = "add", meet.target = "add";
        meet.costs.executes.add = meeting_gradients(graph_);
        out_.backward += meet.costs;
        if (meet.costs.executes.add != count{}) put(std::move(meet));
    }
    /// Whether two rows say the same of like layers.
    [[nodiscard]] static bool alike(const operator_row& a, const row_costs& each, const operator_row& b) {
        return a.what == b.what && a.kind == b.kind && a.inputs == b.inputs && a.outputs == b.outputs && each == b.costs;
    }
    void put(operator_row row) {
        if (!choice_.expand) {
            std::vector<std::size_t>& same = by_name_[row.name];
            for (const std::size_t at : same)
                if (alike(out_.rows[at], each_[at], row)) {
                    out_.rows[at].times += row.times, out_.rows[at].costs += row.costs;
                    return;
                }
            same.push_back(out_.rows.size());
            each_.push_back(row.costs);
        }
        out_.rows.push_back(std::move(row));
    }

    const operator_graph& graph_;
    const table_choice choice_;
    const seconds_of_operations& time_;
    operator_table out_;
    std::vector<std::string> names_;
    std::vector<row_costs> each_;  ///< of the first operation of each row
    std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

}  // namespace detail

/// The operator table of a graph: a row for each operation, like layers folded unless they are to be expanded.
[[nodiscard]] inline operator_table operator_table_of(const operator_graph& g, const table_choice& choice = {},
                                                      const seconds_of_operations& time = {}) {
    return detail::table_builder(g, choice, time).build();
}

/// The module that stands for a layer: the outermost member of a list around it, or itself.
[[nodiscard]] inline std::int32_t layer_of(const operator_graph& g, std::int32_t module) {
    std::int32_t layer = module;
    for (std::int32_t at = module; at >= 0; at = g.modules[static_cast<std::size_t>(at)].parent)
        if (g.modules[static_cast<std::size_t>(at)].index >= 0) layer = at;
    return layer;
}

/// Operations of a kind, of a module by itself, or of a layer; like modules are one row unless they are to be expanded.
[[nodiscard]] inline std::vector<operator_group> operator_groups_of(const operator_graph& g, row_group by,
                                                                    const table_choice& choice = {},
                                                                    const seconds_of_operations& time = {}) {
    std::vector<operator_group> groups, folded;
    std::vector<std::int32_t> place(by == row_group::kind ? op_kinds : g.modules.size(), -1);
    for (std::size_t i = 0; i < g.operations.size(); ++i) {
        const graph_operation& o = g.operations[i];
        const std::int32_t module = by == row_group::layer ? layer_of(g, o.module) : o.module;
        std::int32_t& at =
            place[by == row_group::kind ? static_cast<std::size_t>(o.kind) : static_cast<std::size_t>(module)];
        if (at < 0) {
            at = static_cast<std::int32_t>(groups.size());
            operator_group made;
            if (by == row_group::kind) {
                made.name = std::string(price_of(o.kind).name);
            } else {
                const graph_module& m = g.modules[static_cast<std::size_t>(module)];
                made.name = m.path, made.type = m.type, made.module = module;
            }
            groups.push_back(std::move(made));
        }
        operator_group& into = groups[static_cast<std::size_t>(at)];
        into.operations += o.times;
        into.costs += detail::costs_of(g, i, time);
        if (choice.backward) into.costs += detail::backward_costs_of(g, i, time);
    }
    if (by == row_group::kind || choice.expand) return groups;
    std::vector<operator_group> each;  // the first module of each row
    for (operator_group& one : groups) {
        one.name = fold_indices(one.name);
        std::size_t at = 0;
        while (at < each.size() && !(each[at].name == one.name && each[at].type == one.type &&
                                     each[at].operations == one.operations && each[at].costs == one.costs))
            ++at;
        if (at == each.size()) {
            each.push_back(one);
            folded.push_back(std::move(one));
            continue;
        }
        ++folded[at].times, folded[at].operations += one.operations, folded[at].costs += one.costs;
    }
    return folded;
}

}  // namespace llmcost
