// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/response.hpp>

#include <algorithm>
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
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/optimizer_primitives.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/trace_class.hpp>

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

LLMCOST_INLINE bool is_step_metric(const metric& m) noexcept {
    for (std::size_t i = 0; i < num_primitives; ++i)
        if (metrics[i].name == m.name) return true;
    return m.name == "flops" || m.name == "torch_flops" || m.name == "macs";
}

/// The primitives of one AdamW step of all trained parameters.
[[nodiscard]] LLMCOST_INLINE primitives<count> adamw_primitives(const model& m, const workload& step) {
    tape recorded;
    llmcost::detail::tape_listener listener{recorded};
    trace t{with_storage_types(step, storage_types_of(m, step)), &listener};
    (void)m.forward(t);
    std::erase_if(recorded.parameters, [](const tape_parameter& p) { return !p.is_trainable; });
    return llmcost::detail::step_primitives(*find_optimizer("adamw"), 0, recorded.parameters);
}

LLMCOST_INLINE workload_totals compute_query(const request& q, const std::vector<const metric*>& list) {
    workload_totals r = compute_scope(q, list);
    const bool is_complete = !q.metrics.scope || q.metrics.scope->name == "all";
    if (!q.workload.is_training || !is_complete || r.phases.size() != 1 ||
        std::none_of(list.begin(), list.end(), [](const metric* m) { return is_step_metric(*m); }))
        return r;
    workload step = q.workload.base_workload;
    step.training = true;
    const model_metrics trained = count_model(q.model, step);
    model_metrics backward = r.total.front(), optimizer = backward, all = backward;
    static_cast<primitives<count>&>(backward) = trained.backward;
    backward.torch_flops = trained.backward_torch_flops;
    static_cast<primitives<count>&>(optimizer) = adamw_primitives(q.model, step);
    optimizer.torch_flops = {};  // FlopCounterMode counts products only
    for (const auto member : primitive_members<count>) all.*member += backward.*member + optimizer.*member;
    all.torch_flops += backward.torch_flops;
    r.phase_metrics = {r.total, {backward}, {optimizer}};
    r.phases.resize(3, r.phases.front());
    for (std::size_t i = 0; const char* const name : {"forward", "backward", "optimizer"}) r.phases[i++].name = name;
    r.total = {all};
    return r;
}

LLMCOST_INLINE bool has_figure(const request& q, const workload_totals& r, std::size_t i, const metric& m) {
    const bool is_step = q.workload.is_training && r.phases.size() == 3;
    return !is_step || is_step_metric(m) || (i != 1 && i != 2);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE table query_table(const request& q) {
    const auto list = metrics_of(q.metrics, q.workload.is_training, q.workload.base_workload.has_multimodal_inputs());
    const workload_totals r = detail::compute_query(q, list);
    const auto names = detail::column_names(r);
    table t;
    t.columns.push_back({"scope"});
    if (names.size() > 1) t.columns.push_back({"phase"});
    for (const metric* m : list) t.columns.push_back({std::string(m->name), true});
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::vector<std::string> row{printable(detail::name_of_scope(q))};
        if (names.size() > 1) row.push_back(names[i]);
        for (const metric* m : list)
            row.push_back(detail::has_figure(q, r, i, *m) ? digits(m->value_of(detail::column(r, i).front())) : "");
        t.rows.push_back(std::move(row));
    }
    return t;
}

LLMCOST_INLINE std::string query_block(const request& q) {
    const auto list = metrics_of(q.metrics, q.workload.is_training, q.workload.base_workload.has_multimodal_inputs());
    const workload_totals r = detail::compute_query(q, list);
    std::string out = printable(detail::name_of_scope(q)) + ' ' + describe_workload(q) +
                      (q.workload.is_training && r.phases.size() == 1 && detail::is_step_metric(*list.front())
                           ? " (forward; backward is known for complete models)"
                           : "") +
                      ":\n";
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
            out += right(detail::has_figure(q, r, i, *m) ? scaled(m->value_of(detail::column(r, i).front())) : "-",
                         column_width);
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
