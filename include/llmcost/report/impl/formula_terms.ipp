// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/formula_terms.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/polynomial.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/graph/folded_path.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/trace.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void term_listener::on_module_enter(const recorder& r, const module_info& m) {
    share(r);
    parent_path_lengths_.push_back(path_.size());
    const std::string_view name = m.name;
    if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
    if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
    is_leaf_.push_back(m.is_leaf);
}

LLMCOST_INLINE void term_listener::on_module_leave(const recorder& r, const module_info&) {
    share(r);
    path_.resize(parent_path_lengths_.back());
    parent_path_lengths_.pop_back();
    is_leaf_.pop_back();
}

LLMCOST_INLINE void term_listener::on_op(const recorder& r, const operation& o) {
    if (is_leaf_.empty() || is_leaf_.back()) return;  // a leaf module is one term
    const trace_totals now = r.totals(), op_sums = now.difference_from(previous_sums_);
    previous_sums_ = now;
    trace_totals module_sums{};  // parameters and stored tensors of modules belong to no operation
    module_sums.parameters = op_sums.parameters;
    module_sums.active_parameters = op_sums.active_parameters;
    module_sums.cache_elements = op_sums.cache_elements;
    module_sums.encoder_cache_elements = op_sums.encoder_cache_elements;
    module_sums.module_output_elements = op_sums.module_output_elements;
    add(path_, module_sums);
    const std::string_view kind = op_cost_of(o.kind).name;
    add(path_.empty() ? std::string(kind) : path_ + '.' + std::string(kind), op_sums.difference_from(module_sums));
}

LLMCOST_INLINE std::vector<polynomial::int128> term_listener::take(const recorder& r) {
    share(r);
    return std::move(parts_);
}

LLMCOST_INLINE void term_listener::share(const recorder& r) {
    const trace_totals now = r.totals();
    add(path_, now.difference_from(previous_sums_));
    previous_sums_ = now;
}

LLMCOST_INLINE void term_listener::add(const std::string& name, const trace_totals& sums) {
    const auto n = static_cast<polynomial::int128>(metric_(model_metrics_of(sums, types_)).to_uint128());
    if (n == 0) return;
    const auto [found, fresh] = term_indices_.try_emplace(name, names_.size());
    if (fresh) names_.push_back(name);
    if (found->second >= parts_.size()) parts_.resize(found->second + 1);
    parts_[found->second] += n;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE const std::vector<polynomial::int128>& term_samples::at(const workload& load) {
    for (const auto& [known, parts] : samples_)
        if (known == load) return parts;
    const storage_types types = storage_types_of(model_, load);
    for (scope_query query = query_;;) {
        detail::term_listener listener{names_, term_indices_, types, metric_};
        trace t{with_storage_types(load, types), &listener, query};
        model_.trace_with_loss(t);
        if (t.has_match() || !query.is_text() || !query.try_next_kind())
            return samples_.emplace_back(load, listener.take(t)).second;
    }
}

LLMCOST_INLINE polynomial::int128 term_samples::part(const workload& load, std::size_t name) {
    const std::vector<polynomial::int128>& parts = at(load);
    return name < parts.size() ? parts[name] : 0;
}

LLMCOST_INLINE std::vector<formula_term> folded_terms(const std::vector<std::string>& names,
                                                      const std::vector<polynomial>& parts) {
    struct group {
        formula_term term;
        std::string first;                   ///< path of the first layer
        std::vector<std::string> numbers{};  ///< layer indices, if a path has exactly one
    };
    const auto number_in = [](const std::string& path, const std::string& folded) {
        const std::size_t star = folded.find('*');
        if (star == std::string::npos || folded.find('*', star + 1) != std::string::npos) return std::string();
        return path.substr(star, path.find('.', star) - star);
    };
    std::vector<group> groups;
    std::unordered_map<std::string, std::vector<std::size_t>> groups_by_path;  // by path without layer indices
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i] == polynomial{}) continue;
        std::string folded = fold_indices(names[i]);
        std::vector<std::size_t>& same_path_groups = groups_by_path[folded];
        std::size_t k = 0;
        while (k < same_path_groups.size() && !(groups[same_path_groups[k]].term.sum == parts[i])) ++k;
        if (k == same_path_groups.size()) {
            same_path_groups.push_back(groups.size());
            groups.push_back({{folded, 0, parts[i]}, names[i]});
        }
        group& target = groups[same_path_groups[k]];
        ++target.term.times;
        if (std::string number = number_in(names[i], folded); !number.empty())
            target.numbers.push_back(std::move(number));
    }
    std::vector<formula_term> out;
    for (group& g : groups) {
        const bool differ = groups_by_path[g.term.name].size() > 1;
        if (differ && !g.numbers.empty()) g.term.name.replace(g.term.name.find('*'), 1, number_ranges(g.numbers));
        if (g.term.times == 1) g.term.name = g.first;
        out.push_back(std::move(g.term));
    }
    return out;
}

}  // namespace llmcost
