// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/flop_counters/counter_report.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/flop_counters/observed_pass.hpp>

namespace llmcost {

LLMCOST_INLINE count module_products(const observed_module& m) {
    const bool convolves = m.type.find("Conv") != std::string::npos;
    return (convolves ? m.weight_elements_times_positions : m.weight_elements_times_batch) +
           m.other_elements_times_positions;
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE subtree_elements::subtree_elements(const observed_pass& pass, bool trained)
    : pass_(pass), only_trained_(trained) {
    children_.resize(pass.places.size());
    for (std::size_t i = 1; i < pass.places.size(); ++i)
        children_[static_cast<std::size_t>(pass.places[i].parent)].push_back(i);
}

LLMCOST_INLINE count subtree_elements::num_elements(std::size_t node) const {
    count n;
    std::vector<const module_node::owned_parameter*> tied, untied;
    collect_tied_parameters(node, tied, untied);
    for (const module_node::owned_parameter* p : untied) n += p->elements;
    for (std::size_t i = 0; i < tied.size(); ++i)
        if (!is_inside(tied[i]->sizes, untied) && !is_before(tied, i)) n += tied[i]->elements;
    return n;
}

LLMCOST_INLINE count subtree_elements::num_direct_elements(std::size_t node) const {
    count n;
    for (const module_node::owned_parameter& p : pass_.places[node].parameters)
        if (p.trained || !only_trained_) n += p.elements;
    return n;
}

LLMCOST_INLINE count subtree_elements::listed() const {
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

LLMCOST_INLINE void subtree_elements::collect_tied_parameters(
    std::size_t node, std::vector<const module_node::owned_parameter*>& tied,
    std::vector<const module_node::owned_parameter*>& untied) const {
    const module_node& m = pass_.places[node];
    for (const module_node::owned_parameter& p : m.parameters)
        if (p.trained || !only_trained_) (p.tied ? tied : untied).push_back(&p);
    for (const std::size_t child : children_[node]) collect_tied_parameters(child, tied, untied);
}

LLMCOST_INLINE bool subtree_elements::is_inside(const std::vector<std::int64_t>& sizes,
                                                const std::vector<const module_node::owned_parameter*>& untied) {
    for (const module_node::owned_parameter* p : untied)
        if (p->sizes == sizes) return true;
    return false;
}

LLMCOST_INLINE bool subtree_elements::is_before(const std::vector<const module_node::owned_parameter*>& tied,
                                                std::size_t end) {
    for (std::size_t i = 0; i < end; ++i)
        if (tied[i]->sizes == tied[end]->sizes) return true;
    return false;
}

[[nodiscard]] LLMCOST_INLINE count hooked_parameters(const flop_counter& c, const observed_pass& pass) {
    count n;
    for (const module_node& m : pass.places)
        if (m.is_leaf && m.called && is_hooked(c, m.type))
            for (const module_node::owned_parameter& p : m.parameters) n += p.elements;
    return n;
}

[[nodiscard]] LLMCOST_INLINE count leaf_bytes(const observed_pass& pass) {
    count n;
    for (const module_node& m : pass.places)
        if (m.is_leaf && m.called)
            for (const module_node::owned_parameter& p : m.parameters) n += p.elements;
    return n * count(4);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE count figure_value(const flop_counter& c, figure_source source, const observed_pass& pass,
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

LLMCOST_INLINE std::vector<convention_figure> counter_figures(const flop_counter& c, const observed_pass& pass,
                                                              tensor_kind kind) {
    std::vector<convention_figure> out;
    for (const counter_figure_spec& row : c.figures) out.push_back({row.name, figure_value(c, row.source, pass, kind)});
    return out;
}

}  // namespace llmcost
