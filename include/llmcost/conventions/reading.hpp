// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/conventions/convention.hpp>
#include <llmcost/conventions/heard_pass.hpp>

// What a counter prints of a pass that was heard.
namespace llmcost {

/// Whether a rule means a class; `*X` means those that end so.
[[nodiscard]] constexpr bool rule_means(std::string_view within, std::string_view type) noexcept {
    if (within.empty()) return true;
    if (within.front() != '*') return within == type;
    return type.ends_with(within.substr(1));
}

/// The rule of a counter for a call; null where it has none.
[[nodiscard]] constexpr const call_rule* rule_for(const convention& c, const heard_call& call, tensors on) noexcept {
    for (const call_rule& rule : c.rules) {
        const bool fits = rule.when == holds_for::both || (rule.when == holds_for::meta) == (on == tensors::meta);
        if (fits && rule.name == call.name && rule_means(rule.within, call.within)) return &rule;
    }
    return nullptr;
}

/// Amounts times their coefficients.
[[nodiscard]] constexpr count charge_of(const heard_price& p, const heard_amounts& a) {
    const auto times = [](std::int8_t coefficient, count n) {
        return coefficient <= 0 ? count{} : n * count(static_cast<int>(coefficient));
    };
    const auto less = [](std::int8_t coefficient, count n) {
        return coefficient < 0 ? n * count(-static_cast<int>(coefficient)) : count{};
    };
    const count all = times(p.products, a.products) + times(p.by_columns, a.by_columns) + times(p.inputs, a.inputs) +
                      times(p.outputs, a.outputs) + times(p.added, a.added) + times(p.biased_outputs, a.biased_outputs) +
                      times(p.addmm_outputs, a.addmm_outputs) + times(p.affine_inputs, a.affine_inputs) +
                      times(p.unfused_products, a.unfused_products) + times(p.places, a.places) +
                      times(p.path_flops, a.path_flops) - less(p.rows, a.rows);
    return p.divided_by == 1 ? all : all / count(static_cast<int>(p.divided_by));
}

/// What a module with parameters adds to torchinfo's mult-adds.
[[nodiscard]] inline count module_products(const heard_module& m) {
    const bool convolves = m.type.find("Conv") != std::string::npos;
    return (convolves ? m.weights_by_places : m.weights_by_batch) + m.parts_by_positions;
}

namespace detail {

/// Whether a module of this class has a hook: a rule names it.
[[nodiscard]] constexpr bool is_hooked(const convention& c, std::string_view type) noexcept {
    for (const call_rule& rule : c.rules)
        if (!rule.within.empty() && rule_means(rule.within, type)) return true;
    return false;
}

/// Elements of all parameters in a module and below it, one tensor once: a tied one where what it is tied to is outside.
class subtree_elements {
public:
    subtree_elements(const heard_pass& heard, bool trained) : heard_(heard), trained_(trained) {
        children_.resize(heard.places.size());
        for (std::size_t i = 1; i < heard.places.size(); ++i)
            children_[static_cast<std::size_t>(heard.places[i].parent)].push_back(i);
    }
    [[nodiscard]] count of(std::size_t at) const {
        count n;
        std::vector<const heard_place::owned*> tied, own;
        gather(at, tied, own);
        for (const heard_place::owned* p : own) n += p->elements;
        for (std::size_t i = 0; i < tied.size(); ++i)
            if (!is_inside(tied[i]->sizes, own) && !is_before(tied, i)) n += tied[i]->elements;
        return n;
    }
    [[nodiscard]] count own(std::size_t at) const {
        count n;
        for (const heard_place::owned& p : heard_.places[at].parameters)
            if (p.trained || !trained_) n += p.elements;
        return n;
    }
    /// Σ over modules that are called of what they own that nothing below them lists.
    [[nodiscard]] count listed() const {
        count leaves, rest;
        std::vector<count> below(heard_.places.size());  // listed below, by the module
        for (std::size_t i = heard_.places.size(); i-- > 0;) {
            const heard_place& m = heard_.places[i];
            count mine;
            if (m.leaf && m.called) {
                mine = own(i), leaves += mine;
            } else if (!m.leaf && m.called) {
                const count all = of(i);
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
    void gather(std::size_t at, std::vector<const heard_place::owned*>& tied,
                std::vector<const heard_place::owned*>& own) const {
        const heard_place& m = heard_.places[at];
        for (const heard_place::owned& p : m.parameters)
            if (p.trained || !trained_) (p.tied ? tied : own).push_back(&p);
        for (const std::size_t child : children_[at]) gather(child, tied, own);
    }
    [[nodiscard]] static bool is_inside(const std::vector<std::int64_t>& sizes,
                                        const std::vector<const heard_place::owned*>& own) {
        for (const heard_place::owned* p : own)
            if (p->sizes == sizes) return true;
        return false;
    }
    [[nodiscard]] static bool is_before(const std::vector<const heard_place::owned*>& tied, std::size_t end) {
        for (std::size_t i = 0; i < end; ++i)
            if (tied[i]->sizes == tied[end]->sizes) return true;
        return false;
    }

    const heard_pass& heard_;
    bool trained_;
    std::vector<std::vector<std::size_t>> children_{};
};

[[nodiscard]] inline count hooked_parameters(const convention& c, const heard_pass& heard) {
    count n;
    for (const heard_place& m : heard.places)
        if (m.leaf && m.called && is_hooked(c, m.type))
            for (const heard_place::owned& p : m.parameters) n += p.elements;
    return n;
}

[[nodiscard]] inline count leaf_bytes(const heard_pass& heard) {
    count n;
    for (const heard_place& m : heard.places)
        if (m.leaf && m.called)
            for (const heard_place::owned& p : m.parameters) n += p.elements;
    return n * count(4);
}

}  // namespace detail

/// A figure that a counter prints.
struct convention_figure {
    std::string_view name;
    count value{};
};

/// One figure of a counter that hears a pass, not of a closed formula; in float32, as counters run.
[[nodiscard]] inline count figure_value(const convention& c, figure_of what, const heard_pass& heard, tensors on) {
    count n;
    switch (what) {
        case figure_of::first_prices:
        case figure_of::second_prices:
            for (const heard_call& call : heard.calls)
                if (const call_rule* rule = rule_for(c, call, on))
                    n += charge_of(what == figure_of::first_prices ? rule->first : rule->second, call.amounts);
            return n;
        case figure_of::parameters: return heard.parameters;
        case figure_of::trainable: return heard.trainable;
        case figure_of::hooked_parameters: return detail::hooked_parameters(c, heard);
        case figure_of::module_products:
            for (const heard_module& m : heard.modules) n += module_products(m);
            return n;
        case figure_of::listed_parameters: return detail::subtree_elements(heard, false).listed();
        case figure_of::listed_trainable: return detail::subtree_elements(heard, true).listed();
        case figure_of::twice_outputs:
            for (const heard_module& m : heard.modules) n += m.outputs;
            return n * count(8);
        case figure_of::listed_bytes: return detail::leaf_bytes(heard);
        case figure_of::formula_flops:
        case figure_of::formula_part: break;
    }
    return n;
}

/// All figures that a counter prints of a pass, in its order.
[[nodiscard]] inline std::vector<convention_figure> figures_by(const convention& c, const heard_pass& heard, tensors on) {
    std::vector<convention_figure> out;
    for (const figure_row& row : c.figures) out.push_back({row.name, figure_value(c, row.what, heard, on)});
    return out;
}

}  // namespace llmcost
