// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
[[nodiscard]] inline count module_products(const observed_module& m) {
    const bool convolves = m.type.find("Conv") != std::string::npos;
    return (convolves ? m.weight_elements_times_positions : m.weight_elements_times_batch) +
           m.other_elements_times_positions;
}

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
    subtree_elements(const observed_pass& pass, bool trained) : pass_(pass), trained_(trained) {
        children_.resize(pass.places.size());
        for (std::size_t i = 1; i < pass.places.size(); ++i)
            children_[static_cast<std::size_t>(pass.places[i].parent)].push_back(i);
    }
    [[nodiscard]] count num_elements(std::size_t at) const {
        count n;
        std::vector<const module_node::owned_parameter*> tied, untied;
        collect_tied_parameters(at, tied, untied);
        for (const module_node::owned_parameter* p : untied) n += p->elements;
        for (std::size_t i = 0; i < tied.size(); ++i)
            if (!is_inside(tied[i]->sizes, untied) && !is_before(tied, i)) n += tied[i]->elements;
        return n;
    }
    [[nodiscard]] count num_direct_elements(std::size_t at) const {
        count n;
        for (const module_node::owned_parameter& p : pass_.places[at].parameters)
            if (p.trained || !trained_) n += p.elements;
        return n;
    }
    /// Sum over called modules of parameter elements that no descendant lists.
    [[nodiscard]] count listed() const {
        count leaves, rest;
        std::vector<count> below(pass_.places.size());  // listed by descendants, per module
        for (std::size_t i = pass_.places.size(); i-- > 0;) {
            const module_node& m = pass_.places[i];
            count mine;
            if (m.is_leaf && m.called) {
                mine = num_direct_elements(i);
                leaves += mine;
            } else if (!m.is_leaf && m.called) {
                const count all = num_elements(i);
                mine = all > below[i] ? all - below[i] : count{};
                rest += mine;
                mine += below[i];
            } else {
                mine = below[i];
            }
            if (i != 0) below[static_cast<std::size_t>(m.parent)] += mine;
        }
        return leaves + rest;
    }

private:
    void collect_tied_parameters(std::size_t at, std::vector<const module_node::owned_parameter*>& tied,
                                 std::vector<const module_node::owned_parameter*>& untied) const {
        const module_node& m = pass_.places[at];
        for (const module_node::owned_parameter& p : m.parameters)
            if (p.trained || !trained_) (p.tied ? tied : untied).push_back(&p);
        for (const std::size_t child : children_[at]) collect_tied_parameters(child, tied, untied);
    }
    [[nodiscard]] static bool is_inside(const std::vector<std::int64_t>& sizes,
                                        const std::vector<const module_node::owned_parameter*>& untied) {
        for (const module_node::owned_parameter* p : untied)
            if (p->sizes == sizes) return true;
        return false;
    }
    [[nodiscard]] static bool is_before(const std::vector<const module_node::owned_parameter*>& tied, std::size_t end) {
        for (std::size_t i = 0; i < end; ++i)
            if (tied[i]->sizes == tied[end]->sizes) return true;
        return false;
    }

    const observed_pass& pass_;
    bool trained_;
    std::vector<std::vector<std::size_t>> children_{};
};

[[nodiscard]] inline count hooked_parameters(const flop_counter& c, const observed_pass& pass) {
    count n;
    for (const module_node& m : pass.places)
        if (m.is_leaf && m.called && is_hooked(c, m.type))
            for (const module_node::owned_parameter& p : m.parameters) n += p.elements;
    return n;
}

[[nodiscard]] inline count leaf_bytes(const observed_pass& pass) {
    count n;
    for (const module_node& m : pass.places)
        if (m.is_leaf && m.called)
            for (const module_node::owned_parameter& p : m.parameters) n += p.elements;
    return n * count(4);
}

}  // namespace detail

/// A result of a counter.
struct convention_figure {
    std::string_view name;
    count value{};
};

/// A result of a counter that observes a pass, in float32. Not for closed formulas.
[[nodiscard]] inline count figure_value(const flop_counter& c, figure_source source, const observed_pass& pass,
                                        tensor_kind kind) {
    count n;
    switch (source) {
        case figure_source::first_prices:
        case figure_source::second_prices:
            for (const observed_call& call : pass.calls)
                if (const counter_rule* rule = find_rule(c, call, kind))
                    n += call_cost_of(source == figure_source::first_prices ? rule->first_cost : rule->second_cost,
                                      call.amounts);
            return n;
        case figure_source::parameters: return pass.parameters;
        case figure_source::trainable: return pass.trainable;
        case figure_source::hooked_parameters: return detail::hooked_parameters(c, pass);
        case figure_source::module_products:
            for (const observed_module& m : pass.modules) n += module_products(m);
            return n;
        case figure_source::listed_parameters: return detail::subtree_elements(pass, false).listed();
        case figure_source::listed_trainable: return detail::subtree_elements(pass, true).listed();
        case figure_source::twice_outputs:
            for (const observed_module& m : pass.modules) n += m.outputs;
            return n * count(8);
        case figure_source::listed_bytes: return detail::leaf_bytes(pass);
        case figure_source::formula_flops:
        case figure_source::formula_part: break;
    }
    return n;
}

/// All results of a counter for a pass, in the order of the counter.
[[nodiscard]] inline std::vector<convention_figure> counter_figures(const flop_counter& c, const observed_pass& pass,
                                                                    tensor_kind kind) {
    std::vector<convention_figure> out;
    for (const counter_figure_spec& row : c.figures) out.push_back({row.name, figure_value(c, row.source, pass, kind)});
    return out;
}

}  // namespace llmcost
