// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/answers.hpp>
#include <llmcost/cli/roles.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>

// Answers in JSON; docs/cli.md has the contract.
namespace llmcost::cli {

namespace detail {

/// A report with one member more at its end; both are objects, written with the same indent.
inline std::string with_members(std::string report, const json_writer& more) {
    constexpr std::string_view end = "\n}\n";
    const std::string& text = more.text();
    report.resize(report.size() - end.size());
    return report + ',' + text.substr(1, text.size() - 3) + std::string(end);
}

inline std::string_view kind_name(const scope_word& scope) {
    switch (scope.kind) {
        case scope_kind::role: return "role";
        case scope_kind::type: return "class";
        case scope_kind::path: return "path";
        case scope_kind::parameter: break;
    }
    return "parameter";
}

inline void write_asked(json_writer& json, const std::vector<const metric*>& list, const figures& f) {
    for (const metric* m : list) json.member(m->name, m->of(f));
}

/// `"query": {"scope", "kind", "figures": {…}}`, for a whole request with `"phases": [{"name", "figures"}]`.
inline void write_query(json_writer& json, const question& q) {
    const auto list = metrics_of(q.asked, q.work.training, q.work.base.has_media());
    const job_reading r = read_scope(q, list);
    json.key("query").object().member("scope", printable(name_of_scope(q)));
    json.member("kind", kind_name(q.asked.scope.value_or(scope_word{}))).key("figures").object();
    write_asked(json, list, r.total.front());
    json.end_object();
    if (r.phases.size() > 1) {
        json.key("phases").array();
        for (std::size_t i = 0; i < r.phases.size(); ++i) {
            json.object().member("name", r.phases[i].name).key("figures").object();
            write_asked(json, list, r.by_phase[i].front());
            json.end_object().end_object();
        }
        json.end_array();
    }
    json.end_object();
}

/// `"roles": [{"scope", every metric}]`: the lines of the front page, what has no role as `other`.
inline void write_roles(json_writer& json, const roles_read& read) {
    const reading& total = read.sums.total;
    json.key("roles").array();
    const auto write = [&](std::string_view scope, const figures& f) {
        json.object().member("scope", scope);
        llmcost::detail::write_figures(json, f);
        json.end_object();
    };
    for (std::size_t line = 0; line < read.chains.size(); ++line) write(read.path(line), read.at(total, line));
    if (!read.chains.empty()) write("other", read.rest(total));
    json.end_array();
}

/// `"weights": {"as", "bytes", "elements", "quantized"}`, or null where they are all of one type.
inline void write_weights(json_writer& json, const question& q) {
    json.key("weights");
    if (!q.stored.applied) {
        json.null();
        return;
    }
    json.object().member("as", q.stored.words).member("bytes", q.stored.bytes.total);
    json.member("elements", q.stored.elements).member("quantized", q.stored.quantized).end_object();
}

inline void write_types(json_writer& json, const question& q) {
    const workload& load = q.work.base;
    const storage_types types = types_of(q.subject, load);
    json.member("logits", llmcost::detail::name_of(load.head)).member("attention", llmcost::detail::name_of(load.attention));
    json.member("dtype", name_of(types.weights)).member("activation_dtype", name_of(types.activations));
    json.member("cache_dtype", name_of(types.cache));
}

/// The workload of a job that is no single pass; `sequence` and `past` are null where groups differ.
inline void write_job(json_writer& json, const question& q) {
    const workload& load = q.work.base;
    json.key("workload").object();
    if (q.work.kind == job_kind::generation) {
        json.member("batch", load.batch).member("sequence", q.work.input).member("past", load.past);
        json.member("encoder_sequence", q.phases.front().parts.front().load.encoder_sequence);
        write_types(json, q);
        json.member("input", q.work.input).member("output", q.work.output);
    } else {
        count batch;
        for (const request_group& g : q.work.groups) batch += count(g.how_many);
        json.member("batch", batch).key("sequence").null().key("past").null();
        json.member("encoder_sequence", load.encoder_sequence);
        write_types(json, q);
        json.key("requests").array();
        for (const request_group& g : q.work.groups) {
            json.object().member("sequence", g.sequence).member("past", g.past).member("batch", g.how_many);
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

/// What the cache holds in the end: of every group side by side, of a request after its last step.
inline void write_cache(json_writer& json, const question& q) {
    std::vector<cached_layer> layers;
    const auto add = [&](workload load) {
        for (cached_layer& layer : list_cache(q.subject, load)) {
            cached_layer* known = nullptr;
            for (cached_layer& l : layers)
                if (l.path == layer.path) known = &l;
            if (known == nullptr)
                layers.push_back(std::move(layer));
            else
                for (auto& sizes : layer.tensors) known->tensors.push_back(std::move(sizes));
        }
    };
    if (q.work.kind == job_kind::generation) {
        const std::vector<stretch>& steps = q.phases.back().parts;
        workload last = steps.empty() ? q.phases.front().parts.back().load : steps.back().load;
        if (!steps.empty()) last.past += steps.back().steps - 1;
        add(last);
    } else {
        for (const stretch& s : q.phases.front().parts) add(s.load);
    }
    json.key("cache_layers").array();
    for (const cached_layer& layer : layers) {
        json.array(true);
        for (const auto& sizes : layer.tensors) llmcost::detail::write_sizes(json, sizes);
        json.end_array();
    }
    json.end_array();
}

/// The report of a job that is no single pass: the contract's members with the sums, and the figures of each phase.
inline std::string job_report(const question& q, const roles_read& roles) {
    const bool lists = q.scopes || q.tensors;
    const scopes_read read = lists ? read_scopes(q) : scopes_read{};
    const job_reading& r = lists ? read.figures : roles.sums;
    json_writer json;
    json.object().key("model").object();
    llmcost::detail::write_name(json, q.subject, q.who);
    json.member("architecture", roles.root).member("source", q.who.source).end_object();
    write_job(json, q);
    json.key("totals").object();
    llmcost::detail::write_figures(json, r.total.front());
    json.end_object();
    if (r.phases.size() > 1) {
        json.key("phases").array();
        for (std::size_t i = 0; i < r.phases.size(); ++i) {
            json.object().member("name", r.phases[i].name).key("figures").object();
            llmcost::detail::write_figures(json, r.by_phase[i].front());
            json.end_object().end_object();
        }
        json.end_array();
    }
    write_cache(json, q);
    if (q.scopes) {
        json.key("scopes").array();
        for (std::size_t i = 0; i < read.seen.scopes.size(); ++i) {
            const scope_figures& s = read.seen.scopes[i];
            if (s.path.empty()) continue;
            json.object().member("path", s.path).member("class", s.type).member("role", name_of(s.what));
            llmcost::detail::write_figures(json, r.total[i]);
            json.end_object();
        }
        json.end_array();
    }
    if (q.tensors)
        llmcost::detail::write_tensors(json, read.seen, types_of(q.subject, q.work.base),
                                       q.stored.applied ? &q.stored.bytes : nullptr);
    json.end_object();
    return json.text() + "\n";
}

}  // namespace detail

/// A question's answer in JSON: the contract, and what the words ask for as `query`.
[[nodiscard]] inline std::string json_answer(const question& q) {
    check_size(q.subject, q.phases.front().parts.front().load);
    const bool scopes = q.scopes || q.tree;
    std::string report;
    const roles_read roles = read_roles(q);
    if (q.work.kind == job_kind::pass) {
        report = json_report(q.subject, q.who, q.work.base,
                             {scopes, q.tensors, q.work.training, q.stored.applied ? &q.stored.bytes : nullptr});
    } else {
        question all = q;
        all.scopes = scopes;
        report = detail::job_report(all, roles);
    }
    json_writer more;
    more.object();
    detail::write_weights(more, q);
    if (!q.adapter.empty()) more.member("adapter", q.adapter);
    detail::write_roles(more, roles);
    if (!q.asked.empty()) detail::write_query(more, q);
    more.end_object();
    return detail::with_members(std::move(report), more);
}

}  // namespace llmcost::cli
