// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/graph/pass_graph.hpp>

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
    explicit activation_counter(const operator_graph& g);
    [[nodiscard]] activation_elements activations_of(std::int32_t module) const;
    [[nodiscard]] count elements(std::int32_t t) const;
    /// The inputs and outputs of one operation, in elements.
    [[nodiscard]] activation_elements activations_of(const graph_operation& o) const;

private:
    [[nodiscard]] std::int32_t module_of(std::int32_t operation) const {
        return operation < 0 ? -1 : graph_.operations[static_cast<std::size_t>(operation)].module;
    }
    void add(std::vector<std::int32_t>& to, std::int32_t t) const;
    void read(const graph_input& in, std::int32_t module) {
        if (module_of(in.producer) != module) add(module_inputs_[static_cast<std::size_t>(module)], in.tensor);
    }
    void made_by(const graph_operation& o);

    const operator_graph& graph_;
    std::vector<std::vector<std::int32_t>> module_inputs_, module_outputs_;
};

}  // namespace detail

/// A graph on three levels, with the most expensive entries first.
///
/// Peak activations follow MIT 6.5940: the maximum of inputs plus outputs over layers, which are leaf modules.
[[nodiscard]] model_levels levels_of(const operator_graph& g, const seconds_of_operations& time = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/levels.ipp>  // IWYU pragma: export
#endif
