// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/graph/folded_path.hpp>
#include <llmcost/graph/operator_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/trace/ops.hpp>

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
    operator_costs& operator+=(const operator_costs& o);
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
[[nodiscard]] operator_costs costs_of(const operator_graph& g, std::size_t i, const seconds_of_operations& time);

/// Builds a table row by row and combines equal rows.
class table_builder {
public:
    table_builder(const operator_graph& g, const table_options& choice, const seconds_of_operations& time)
        : graph_(g), choice_(choice), time_(time) {}

    [[nodiscard]] operator_table build();

private:
    [[nodiscard]] const graph_module& module_of(const graph_operation& o) const {
        return graph_.modules[static_cast<std::size_t>(o.module)];
    }
    /// Names operations as torch.fx does: `add`, `add_1` within a module.
    void name_operations();
    [[nodiscard]] operator_tensor read_by(const graph_input& in) const;
    void add_operation(std::size_t i);
    /// Adds a row for each tensor that an operation reads with other sizes.
    void add_views(std::size_t i);
    /// The kind of view that maps one shape to another; the combined effect if there are several views.
    [[nodiscard]] static literal kind_of_view(std::vector<std::int64_t> source_sizes, std::vector<std::int64_t> to);
    void add_backward_rows();
    /// Whether two rows describe the same operation of equal layers.
    [[nodiscard]] static bool is_same_operator(const operator_row& a, const operator_costs& unit_costs,
                                               const operator_row& b);
    void add_row(operator_row row);

    const operator_graph& graph_;
    const table_options choice_;
    const seconds_of_operations& time_;
    operator_table out_;
    std::vector<std::string> names_;
    std::vector<operator_costs> unit_costs_;  ///< of the first operation of each row
    std::unordered_map<std::string, std::vector<std::size_t>> rows_by_name_;
};

}  // namespace detail

/// The operator table of a graph: one row per operation. Equal layers are combined unless `expand` is set.
[[nodiscard]] inline operator_table operator_table_of(const operator_graph& g, const table_options& choice = {},
                                                      const seconds_of_operations& time = {}) {
    return detail::table_builder(g, choice, time).build();
}

/// Groups operations by operator type, module or layer. Equal modules are combined unless `expand` is set.
[[nodiscard]] std::vector<operator_group> operator_groups_of(const operator_graph& g, row_group grouping,
                                                             const table_options& choice = {},
                                                             const seconds_of_operations& time = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/operator_table.ipp>  // IWYU pragma: export
#endif
