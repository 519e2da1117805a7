// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/metric_query.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/edit_distance.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/graph/folded_path.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli {

/// The scope that a name selects in a model: a role, class, path or pattern, or parameter, in this order.
[[nodiscard]] LLMCOST_INLINE std::optional<scope_selector> find_scope_by_name(const model& m, const workload& load,
                                                                              std::string_view name) {
    if (name.empty()) return std::nullopt;
    for (const scope_kind kind :
         {scope_kind::role, scope_kind::module_class, scope_kind::path, scope_kind::parameter}) {
        scope_selector scope{kind, std::string(name)};
        if (find_scope(m, load, scope).found) return scope;
    }
    return std::nullopt;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// The edit distance of a query to a path: to its last segment, or to a part of it between underscores plus one.
LLMCOST_INLINE int edit_distance_to_path(const name_suggestions& near, std::string_view path) {
    if (near.query().find('.') != std::string::npos)
        return std::min(near.distance(path), llmcost::detail::edit_distance(fold_indices(near.query()), lower(path)));
    std::string_view last = path.substr(path.rfind('.') + 1);
    int best = near.distance(last);
    while (!last.empty()) {
        const std::size_t bar = last.find('_');
        best = std::min(best, near.distance(last.substr(0, bar)) + 1);
        last.remove_prefix(bar == std::string_view::npos ? last.size() : bar + 1);
    }
    return best;
}

/// Whether a name abbreviates a text, as `attn` abbreviates `attention`: its letters in order, the same first letter.
LLMCOST_INLINE bool is_short_for(std::string_view name, std::string_view text) {
    if (name.size() < 3 || text.empty() || text.size() > 3 * name.size() || text.front() != name.front()) return false;
    std::size_t position = 0;
    for (const char c : text) position += position < name.size() && name[position] == c ? 1 : 0;
    return position == name.size();
}

/// Adds a metric or role as a candidate; an abbreviation has distance 1.
LLMCOST_INLINE void offer_name(name_suggestions& near, std::string_view name) {
    near.add_candidate(name, std::min(near.distance(name), is_short_for(name, near.query()) ? 1 : INT_MAX));
}

/// The roles that occur in a model, separated by commas.
LLMCOST_INLINE std::string roles_in(const model& m, const workload& load) {
    std::string out;
    for (const std::string_view name : role_names)
        if (find_scope(m, load, {scope_kind::role, std::string(name)}).found)
            out += (out.empty() ? "" : ", ") + std::string(name);
    return out;
}

LLMCOST_INLINE std::string all_metrics() {
    std::string out;
    for (const metric& m : metrics) out += (out.empty() ? "" : ", ") + std::string(m.name);
    return out;
}

/// Adds all scopes of a model as candidates: roles, classes, paths with folded indices; parameters if the query has
/// dots.
LLMCOST_INLINE void add_scope_candidates(name_suggestions& near, const model& m, const workload& load) {
    for (const std::string_view name : role_names)
        if (find_scope(m, load, {scope_kind::role, std::string(name)}).found) offer_name(near, name);
    check_size(m, load);
    const model_listing listing = list_model(m, load);
    for (const scope_figures& s : listing.scopes) {
        const std::string path = fold_indices(s.path);
        if (!path.empty()) near.add_candidate(path, edit_distance_to_path(near, path));
        near.add_candidate(s.type);
    }
    if (near.query().find('.') == std::string::npos) return;
    for (const tensor_shape& t : listing.tensors) {
        const std::string name = fold_indices(t.name);
        near.add_candidate(name, edit_distance_to_path(near, name));
    }
}

/// Throws: `usage` for a metric that is not defined for a parameter, and for a tied parameter, which is counted once.
LLMCOST_INLINE void validate_parameter_query(const metric_query& q, const model& m, const workload& load) {
    if (!q.scope || q.scope->kind != scope_kind::parameter) return;
    const std::string& name = q.scope->name;
    if (find_scope(m, load, *q.scope).only_tied)
        throw_usage({}, quote(name) + " is tied; its tensor is counted at its first name");
    for (const metric* requested : q.metrics)
        if (!is_parameter_metric(*requested))
            throw_usage({}, quote(name) + " is a parameter and supports params, active and weight_bytes; for " +
                                std::string(requested->name) + ", use its module " +
                                quote(name.substr(0, name.rfind('.'))));
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE metric_query read_query(const std::vector<std::string_view>& terms, const model& m,
                                       std::string_view name, const workload& load,
                                       std::span<const command* const> commands) {
    metric_query q;
    std::vector<std::string_view> unknown;
    for (const std::string_view text : terms) {
        if (const metric* known = find_metric(text)) {
            if (std::find(q.metrics.begin(), q.metrics.end(), known) == q.metrics.end()) q.metrics.push_back(known);
        } else if (auto scope = find_scope_by_name(m, load, text)) {
            if (q.scope) throw_usage({}, "expected one scope, found " + quote(q.scope->name) + " and " + quote(text));
            q.scope = std::move(scope);
        } else {
            unknown.push_back(text);
        }
    }
    if (unknown.empty()) {
        detail::validate_parameter_query(q, m, load);
        return q;
    }
    const std::string_view text = unknown.front();
    reject_misplaced_command(commands, text);
    if (role_from(text) != role::none && !q.scope)
        throw_usage({},
                    "no scope " + quote(text) + " in " + printable(name) + "; its roles: " + detail::roles_in(m, load));
    name_suggestions near(text);
    const bool scope_only = !q.metrics.empty() || text.find('.') != std::string_view::npos;
    if (!scope_only || q.scope)
        for (const metric& known : metrics) detail::offer_name(near, known.name);
    if (!q.scope) detail::add_scope_candidates(near, m, load);
    const char* prefix = q.scope ? "no metric " : scope_only ? "no scope " : "no metric or scope ";
    std::string all;
    if (!scope_only || q.scope) all += "; metrics: " + detail::all_metrics();
    if (!q.scope) all += "; scopes: " + detail::roles_in(m, load) + ", classes and paths";
    throw_usage({}, prefix + quote(text) + " in " + printable(name) + near.suggestion_text(all) +
                        (q.scope ? " (see llmcost --help)" : " (see llmcost --model … --tree)"));
}

LLMCOST_INLINE std::vector<const metric*> metrics_of(const metric_query& q, bool training, bool shows) {
    if (!q.metrics.empty()) return q.metrics;
    std::vector<const metric*> out;
    for (const metric& m : metrics) {
        if (m.name == "out" || (m.name == "saved_bytes" && !training) || (m.name == "encoder_cache_bytes" && !shows))
            continue;
        if (q.scope && q.scope->kind == scope_kind::parameter && !is_parameter_metric(m)) continue;
        out.push_back(&m);
    }
    return out;
}

}  // namespace llmcost::cli
