// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/json_output.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/pages/response.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/listing.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

/// A JSON object `report`, extended by the members of another object with equal indentation.
LLMCOST_INLINE std::string with_members(std::string report, const json_writer& members) {
    constexpr std::string_view end = "\n}\n";
    const std::string& text = members.text();
    report.resize(report.size() - end.size());
    return report + ',' + text.substr(1, text.size() - 3) + std::string(end);
}

LLMCOST_INLINE std::string_view kind_name(const scope_selector& scope) {
    switch (scope.kind) {
        case scope_kind::role: return "role";
        case scope_kind::module_class: return "class";
        case scope_kind::path: return "path";
        case scope_kind::parameter: break;
    }
    return "parameter";
}

LLMCOST_INLINE void write_metrics(json_writer& json, const std::vector<const metric*>& list, const model_metrics& f) {
    for (const metric* m : list) json.member(m->name, m->value_of(f));
}

/// `"query": {"scope", "kind", "figures": {…}}`, and for a request `"phases": [{"name", "figures"}]`.
LLMCOST_INLINE void write_query(json_writer& json, const request& q) {
    const auto list = metrics_of(q.metrics, q.workload.is_training, q.workload.base_workload.has_multimodal_inputs());
    const workload_totals r = detail::compute_query(q, list);
    json.key("query").object().member("scope", printable(name_of_scope(q)));
    json.member("kind", kind_name(q.metrics.scope.value_or(scope_selector{}))).key("figures").object();
    write_metrics(json, list, r.total.front());
    json.end_object();
    if (r.phases.size() > 1) {
        json.key("phases").array();
        for (std::size_t i = 0; i < r.phases.size(); ++i) {
            json.object().member("name", r.phases[i].name).key("figures").object();
            for (const metric* m : list)
                if (has_figure(q, r, i, *m)) json.member(m->name, m->value_of(r.phase_metrics[i].front()));
            json.end_object().end_object();
        }
        json.end_array();
    }
    json.end_object();
}

/// Writes `"roles": [{"scope", every metric}]`: the lines of the front page. Each list of lines ends with `other`.
LLMCOST_INLINE void write_roles(json_writer& json, const role_results& read) {
    const metric_list& total = read.sums.total;
    json.key("roles").array();
    const auto write = [&](std::string_view scope, const model_metrics& f) {
        json.object().member("scope", scope);
        llmcost::detail::write_figures(json, f);
        json.end_object();
    };
    for (const role_line& line : read.lines(total)) write(line.path, line.metrics);
    json.end_array();
}

/// Writes `"weights": {"as", "bytes", "elements", "quantized"}`, or null for weights of one type.
LLMCOST_INLINE void write_weights(json_writer& json, const request& q) {
    json.key("weights");
    if (!q.stored_weights.is_applied) {
        json.null();
        return;
    }
    json.object().member("as", q.stored_weights.label).member("bytes", q.stored_weights.bytes.total);
    json.member("elements", q.stored_weights.elements).member("quantized", q.stored_weights.quantized).end_object();
}

LLMCOST_INLINE void write_types(json_writer& json, const request& q) {
    const workload& load = q.workload.base_workload;
    const storage_types types = storage_types_of(q.model, load);
    json.member("logits", llmcost::detail::name_of(load.head))
        .member("attention", llmcost::detail::name_of(load.attention));
    json.member("dtype", name_of(types.weights)).member("activation_dtype", name_of(types.activations));
    json.member("cache_dtype", name_of(types.cache));
}

/// Writes the workload of several passes; `sequence` and `past` are null if the groups differ.
LLMCOST_INLINE void write_job(json_writer& json, const request& q) {
    const workload& load = q.workload.base_workload;
    json.key("workload").object();
    if (q.workload.kind == workload_kind::generation) {
        json.member("batch", load.batch).member("sequence", q.workload.input_tokens).member("past", load.past);
        json.member("encoder_sequence", q.phases.front().parts.front().load.encoder_sequence);
        write_types(json, q);
        json.member("input", q.workload.input_tokens).member("output", q.workload.output_tokens);
    } else {
        count batch;
        for (const request_group& g : q.workload.request_groups) batch += count(g.num_requests);
        json.member("batch", batch).key("sequence").null().key("past").null();
        json.member("encoder_sequence", load.encoder_sequence);
        write_types(json, q);
        json.key("requests").array();
        for (const request_group& g : q.workload.request_groups) {
            json.object().member("sequence", g.sequence).member("past", g.past).member("batch", g.num_requests);
            if (g.image_width > 0)
                json.member("image_width", g.image_width)
                    .member("image_height", g.image_height)
                    .member("image_tokens", g.media_tokens);
            json.end_object();
        }
        json.end_array();
    }
    json.end_object();
}

/// Writes the final KV cache: of all request groups, or of a request after its last step.
LLMCOST_INLINE void write_cache(json_writer& json, const request& q) {
    std::vector<kv_cache_entry> layers;
    const auto add = [&](workload load) {
        for (kv_cache_entry& layer : list_kv_cache(q.model, load)) {
            kv_cache_entry* known = nullptr;
            for (kv_cache_entry& l : layers)
                if (l.path == layer.path) known = &l;
            if (known == nullptr)
                layers.push_back(std::move(layer));
            else
                for (auto& sizes : layer.tensors) known->tensors.push_back(std::move(sizes));
        }
    };
    if (q.workload.kind == workload_kind::generation) {
        const std::vector<repeated_step>& steps = q.phases.back().parts;
        workload last = steps.empty() ? q.phases.front().parts.back().load : steps.back().load;
        if (!steps.empty()) last.past += steps.back().steps - 1;
        add(last);
    } else {
        for (const repeated_step& s : q.phases.front().parts) add(s.load);
    }
    json.key("cache_layers").array();
    for (const kv_cache_entry& layer : layers) {
        json.array(true);
        for (const auto& sizes : layer.tensors) llmcost::detail::write_sizes(json, sizes);
        json.end_array();
    }
    json.end_array();
}

/// The JSON report of several passes: the usual members with the sums, and the figures of each phase.
LLMCOST_INLINE std::string job_report(const request& q, const role_results& roles) {
    const bool lists = q.lists_scopes || q.lists_tensors;
    const scope_results read = lists ? compute_scopes(q) : scope_results{};
    const workload_totals& r = lists ? read.figures : roles.sums;
    json_writer json;
    json.object().key("model").object();
    llmcost::detail::write_name(json, q.model, q.name_of_model);
    json.member("architecture", roles.root).member("source", q.name_of_model.source).end_object();
    write_job(json, q);
    json.key("totals").object();
    llmcost::detail::write_figures(json, r.total.front());
    json.end_object();
    if (r.phases.size() > 1) {
        json.key("phases").array();
        for (std::size_t i = 0; i < r.phases.size(); ++i) {
            json.object().member("name", r.phases[i].name).key("figures").object();
            llmcost::detail::write_figures(json, r.phase_metrics[i].front());
            json.end_object().end_object();
        }
        json.end_array();
    }
    write_cache(json, q);
    if (q.lists_scopes) {
        json.key("scopes").array();
        for (std::size_t i = 0; i < read.listing.scopes.size(); ++i) {
            const scope_figures& s = read.listing.scopes[i];
            if (s.path.empty()) continue;
            json.object().member("path", s.path).member("class", s.type).member("role", name_of(s.module_role));
            llmcost::detail::write_figures(json, r.total[i]);
            json.end_object();
        }
        json.end_array();
    }
    if (q.lists_tensors)
        llmcost::detail::write_tensors(json, read.listing, storage_types_of(q.model, q.workload.base_workload),
                                       q.stored_weights.is_applied ? &q.stored_weights.bytes : nullptr);
    json.end_object();
    return json.text() + "\n";
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string json_answer(const request& q) {
    check_size(q.model, q.phases.front().parts.front().load);
    const bool scopes = q.lists_scopes || q.has_tree;
    std::string report;
    const role_results roles = compute_role_totals(q);
    if (q.workload.kind == workload_kind::forward_pass) {
        report = json_report(q.model, q.name_of_model, q.workload.base_workload,
                             {scopes, q.lists_tensors, q.workload.is_training,
                              q.stored_weights.is_applied ? &q.stored_weights.bytes : nullptr});
    } else {
        request all = q;
        all.lists_scopes = scopes;
        report = detail::job_report(all, roles);
    }
    json_writer members;
    members.object();
    detail::write_weights(members, q);
    if (!q.adapter.empty()) members.member("adapter", q.adapter);
    detail::write_roles(members, roles);
    if (!q.metrics.empty()) detail::write_query(members, q);
    members.end_object();
    return detail::with_members(std::move(report), members);
}

}  // namespace llmcost::cli
