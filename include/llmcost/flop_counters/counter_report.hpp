// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/flop_counters/observed_pass.hpp>

// Results of a FLOP counter for an observed forward pass.
namespace llmcost {

/// True if a class matches a pattern: empty, a class name, or `*` and a suffix.
[[nodiscard]] constexpr bool rule_matches_class(std::string_view class_pattern, std::string_view type) noexcept {
    if (class_pattern.empty()) return true;
    if (class_pattern.front() != '*') return class_pattern == type;
    return type.ends_with(class_pattern.substr(1));
}

/// The first rule of a counter that matches a call. Null: none.
[[nodiscard]] constexpr const counter_rule* find_rule(const flop_counter& c, const observed_call& call,
                                                      tensor_kind kind) noexcept {
    for (const counter_rule& rule : c.rules) {
        const bool fits = rule.condition == tensor_condition::any ||
                          (rule.condition == tensor_condition::meta) == (kind == tensor_kind::meta);
        if (fits && rule.name == call.name && rule_matches_class(rule.module_class, call.module_class)) return &rule;
    }
    return nullptr;
}

/// Sum of amounts times coefficients.
[[nodiscard]] constexpr count call_cost_of(const call_cost& p, const call_amounts& a) {
    const auto times = [](std::int8_t coefficient, count n) {
        return coefficient <= 0 ? count{} : n * count(static_cast<int>(coefficient));
    };
    const auto negative_term = [](std::int8_t coefficient, count n) {
        return coefficient < 0 ? n * count(-static_cast<int>(coefficient)) : count{};
    };
    const count all = times(p.products, a.products) + times(p.input_elements_times_columns, a.by_columns) +
                      times(p.inputs, a.inputs) + times(p.outputs, a.outputs) + times(p.bias_elements, a.added) +
                      times(p.biased_outputs, a.biased_outputs) + times(p.addmm_outputs, a.addmm_outputs) +
                      times(p.affine_inputs, a.affine_inputs) + times(p.unfused_products, a.unfused_products) +
                      times(p.output_positions, a.places) + times(p.path_flops, a.path_flops) -
                      negative_term(p.rows, a.rows);
    return p.divided_by == 1 ? all : all / count(static_cast<int>(p.divided_by));
}

/// Multiply-adds of a module with parameters in torchinfo.
[[nodiscard]] count module_products(const observed_module& m);

namespace detail {

/// True if the counter has a hook for modules of this class: a rule with its name.
[[nodiscard]] constexpr bool is_hooked(const flop_counter& c, std::string_view type) noexcept {
    for (const counter_rule& rule : c.rules)
        if (!rule.module_class.empty() && rule_matches_class(rule.module_class, type)) return true;
    return false;
}

/// Number of parameter elements in a module and its descendants, each tensor once.
///
/// A tied parameter counts if the tensor it is tied to is outside.
class subtree_elements {
public:
    subtree_elements(const observed_pass& pass, bool trained);
    [[nodiscard]] count num_elements(std::size_t node) const;
    [[nodiscard]] count num_direct_elements(std::size_t node) const;
    /// Sum over called modules of parameter elements that no descendant lists.
    [[nodiscard]] count listed() const;

private:
    void collect_tied_parameters(std::size_t node, std::vector<const module_node::owned_parameter*>& tied,
                                 std::vector<const module_node::owned_parameter*>& untied) const;
    [[nodiscard]] static bool is_inside(const std::vector<std::int64_t>& sizes,
                                        const std::vector<const module_node::owned_parameter*>& untied);
    [[nodiscard]] static bool is_before(const std::vector<const module_node::owned_parameter*>& tied, std::size_t end);

    const observed_pass& pass_;
    bool only_trained_;
    std::vector<std::vector<std::size_t>> children_{};
};

}  // namespace detail

/// A result of a counter.
struct convention_figure {
    std::string_view name;
    count value{};
};

/// A result of a counter that observes a pass, in float32. Not for closed formulas.
[[nodiscard]] count figure_value(const flop_counter& c, figure_source source, const observed_pass& pass,
                                 tensor_kind kind);

/// All results of a counter for a pass, in the order of the counter.
[[nodiscard]] std::vector<convention_figure> counter_figures(const flop_counter& c, const observed_pass& pass,
                                                             tensor_kind kind);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/flop_counters/impl/counter_report.ipp>  // IWYU pragma: export
#endif
