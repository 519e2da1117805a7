// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/response.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

/// The name of a metric in llm-profiler.
LLMCOST_INLINE std::string profiler_title(const metric& m) {
    return m.name == "flops" ? "FLOPs (ADD and MULT)" : title_of(m);
}

LLMCOST_INLINE std::vector<std::string> column_names(const workload_totals& r) {
    std::vector<std::string> names;
    if (r.phases.size() > 1)
        for (const workload_phase& p : r.phases) names.push_back(p.name);
    names.emplace_back("total");
    return names;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE table query_table(const request& q) {
    const auto list = metrics_of(q.metrics, q.workload.is_training, q.workload.base_workload.has_multimodal_inputs());
    const workload_totals r = compute_scope(q, list);
    const auto names = detail::column_names(r);
    table t;
    t.columns.push_back({"scope"});
    if (names.size() > 1) t.columns.push_back({"phase"});
    for (const metric* m : list) t.columns.push_back({std::string(m->name), true});
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::vector<std::string> row{printable(detail::name_of_scope(q))};
        if (names.size() > 1) row.push_back(names[i]);
        for (const metric* m : list) row.push_back(digits(m->value_of(detail::column(r, i).front())));
        t.rows.push_back(std::move(row));
    }
    return t;
}

LLMCOST_INLINE std::string query_block(const request& q) {
    const auto list = metrics_of(q.metrics, q.workload.is_training, q.workload.base_workload.has_multimodal_inputs());
    const workload_totals r = compute_scope(q, list);
    std::string out = printable(detail::name_of_scope(q)) + ' ' + describe_workload(q) + ":\n";
    const auto names = detail::column_names(r);
    if (names.size() == 1) {
        for (const metric* m : list)
            out += "    " + detail::profiler_title(*m) + ":\t" + profiler_number(m->value_of(r.total.front())) + '\n';
        return out;
    }
    constexpr std::size_t first = 24, column_width = 12;
    out += std::string(first, ' ');
    for (const std::string& name : names) out += right(name, column_width);
    out += '\n';
    for (const metric* m : list) {
        out += left("    " + detail::profiler_title(*m) + ':', first);
        for (std::size_t i = 0; i < names.size(); ++i)
            out += right(scaled(m->value_of(detail::column(r, i).front())), column_width);
        out += '\n';
    }
    return out;
}

LLMCOST_INLINE std::vector<const metric*> listed_metrics(const metric_query& q) {
    if (!q.metrics.empty()) return q.metrics;
    return {find_metric("params"), find_metric("flops")};
}

LLMCOST_INLINE table scopes_table(const request& q) {
    const scope_results r = compute_scopes(q);
    const auto list = listed_metrics(q.metrics);
    if (needs_saved_bytes(list)) throw_usage("saved_bytes", "not available per module; use it with a scope");
    table t{{{"path"}, {"class"}, {"role"}}, {}};
    for (const metric* m : list) t.columns.push_back({std::string(m->name), true});
    for (std::size_t i = 0; i < r.listing.scopes.size(); ++i) {
        const scope_figures& s = r.listing.scopes[i];
        if (s.path.empty() || !is_requested(q, r.listing, i)) continue;
        std::vector<std::string> row{s.path, s.type,
                                     s.module_role == role::none ? "" : std::string(name_of(s.module_role))};
        for (const metric* m : list) row.push_back(digits(m->value_of(r.figures.total[i])));
        t.rows.push_back(std::move(row));
    }
    return t;
}

LLMCOST_INLINE table tensors_table(const request& q) {
    const workload& load = q.phases.front().parts.front().load;
    check_size(q.model, load);
    const model_listing listing = list_model(q.model, load);
    const std::string type(name_of(storage_types_of(q.model, load).weights));
    table t{{{"tensor"}, {"shape"}, {"dtype"}, {"params", true}}, {}};
    for (const tensor_shape& tensor : listing.tensors) {
        std::string sizes;
        count elements(1);
        for (const std::int64_t n : tensor.sizes) {
            sizes.append(sizes.empty() ? "" : "x").append(std::to_string(n));
            elements *= count(n);
        }
        t.rows.push_back({tensor.name, sizes,
                          q.stored_weights.is_applied ? q.stored_weights.bytes.type_of(tensor.name) : type,
                          digits(elements)});
    }
    for (const std::string& name : listing.tied) t.rows.push_back({name, "tied", type, "0"});
    return t;
}

}  // namespace llmcost::cli
