// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/why.hpp>

#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/convention_page.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/padded_vocabulary.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/flop_counters/counter_table.hpp>
#include <llmcost/flop_counters/explain.hpp>
#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/flop_counters/llm_profiler.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// The difference `theirs - ours` with its sign: `+12`, `-3`, `0`.
LLMCOST_INLINE std::string signed_difference(count ours, count theirs) {
    if (ours == theirs) return "0";
    return ours > theirs ? '-' + digits(ours - theirs) : '+' + digits(theirs - ours);
}

LLMCOST_INLINE std::string format_ratio(count ours, count theirs) {
    return ours == count{} ? "" : formatted("%.4g", static_cast<double>(theirs) / static_cast<double>(ours));
}

/// The recommendation of a padded vocabulary: no counter of FLOPs shows what it saves.
LLMCOST_INLINE std::string padding_note(const model& m) {
    const std::string advice = padding_advice(m);
    return advice.empty() ? "" : advice + '\n';
}

LLMCOST_INLINE std::string why_json(const request& q, const workload& load, const std::vector<counter_variant>& all) {
    json_writer json;
    json.object().member("model", q.name_of_model.name);
    json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past);
    json.key("counters").array();
    for (const counter_variant& way : all) {
        const counter_report& r = way.reading;
        write_variant(json, way);
        json.member("convention", r.counter->name).member("version", r.counter->version);
        json.member("compared_with", reference_metric_name(r.counter->compared));
        json.key("ours");
        r.defined() ? json.value(r.ours) : json.null();
        json.key("theirs");
        r.defined() ? json.value(r.theirs()) : json.null();
        json.key("lines").array();
        for (const difference_line& line : r.lines) {
            json.object().member("what", line.label).member("ours", line.ours).member("theirs", line.theirs);
            json.member("difference", signed_difference(line.ours, line.theirs));
            json.member("reason", line.reason).member("source", line.source).end_object();
        }
        json.end_array().end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

/// A table of all counters.
LLMCOST_INLINE std::string compare_all_counters(const request& q, const workload& load,
                                                const std::vector<counter_variant>& all) {
    table t{{{"counter"},
             {"figure"},
             {"theirs", true},
             {"ours", true},
             {"ratio", true},
             {q.format == output_format::text ? "verified" : "held"}},
            {}};
    for (const counter_variant& way : all) {
        const counter_report& r = way.reading;
        const bool formula = r.counter->formula != closed_formula::none;
        const std::string verified = !r.defined()                    ? "no result"
                                     : formula                       ? "formula"
                                     : way.unverified_reason.empty() ? "yes"
                                                                     : "no";
        std::vector<std::string> row{std::string(r.counter->name), std::string(r.counter->figures.front().name)};
        for (const std::string& s :
             {r.defined() ? digits(r.theirs()) : std::string(), r.defined() ? digits(r.ours) : std::string(),
              r.defined() ? format_ratio(r.ours, r.theirs()) : std::string(), verified})
            row.push_back(s);
        t.rows.push_back(std::move(row));
    }
    if (q.format != output_format::text) return written(t, q.format);
    return q.name_of_model.name + ", " + pass_label(q.model, load) + ", " +
           std::string(attention_name(all.front().attention)) + " attention\n" + written(t, q.format) +
           "\nverified: yes if equal to a recorded output of the counter for this model type\n"
           "Line by line: llmcost why --against COUNTER\n" +
           padding_note(q.model);
}

/// The difference from one counter, line by line.
LLMCOST_INLINE std::string compare_one_counter(const request& q, const workload& load, const counter_variant& way) {
    const counter_report& r = way.reading;
    const bool text = q.format == output_format::text;
    table t{{{"what"}, {"ours", true}, {"theirs", true}, {"difference", true}, {"reason"}}, {}};
    if (!text) t.columns.push_back({"source"});
    std::vector<std::string> sources;
    for (const difference_line& line : r.lines) {
        std::vector<std::string> row{line.label, digits(line.ours), digits(line.theirs),
                                     signed_difference(line.ours, line.theirs), std::string(line.reason)};
        if (!text) row.emplace_back(line.source);
        t.rows.push_back(std::move(row));
        if (std::find(sources.begin(), sources.end(), line.source) == sources.end()) sources.emplace_back(line.source);
    }
    t.rows.push_back({"all", digits(r.ours), digits(r.theirs()), signed_difference(r.ours, r.theirs()), ""});
    if (!text) t.rows.back().emplace_back();
    if (!text) return written(t, q.format);
    std::string out = q.name_of_model.name + ", " + pass_label(q.model, load) + ": " + std::string(r.counter->title) +
                      " compared with llmcost\n";
    if (!r.defined()) return out + "no result: " + std::string(r.undefined_reason) + '\n';
    const bool formula = r.counter->formula != closed_formula::none;
    std::vector<std::string> parts{std::string(r.counter->version),
                                   "ours: " + std::string(reference_metric_name(r.counter->compared)),
                                   "theirs: " + std::string(r.counter->figures.front().name)};
    if (!formula) parts.push_back(variant_label(way));
    out += wrapped(parts, 80);
    if (!way.unverified_reason.empty())
        out += "not verified against the tool: " + std::string(way.unverified_reason) + '\n';
    return out + '\n' + written(t, q.format) + "\nsources: " + wrapped(sources, 71, "         ") +
           padding_note(q.model);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_why(const arguments& args, const program& io) {
    const llmcost::flop_counter* const requested =
        args.has(option::counter) ? &require_counter("--against", args.text(option::counter)) : nullptr;
    const parsed_model read = io.read(args, io);
    const request q = understand(args, read, io.commands);
    if (!q.metrics.empty()) throw_usage("why", "supports only the complete model; omit metrics and scopes");
    const workload load = detail::one_pass(q);
    const auto attention = static_cast<attention_implementation>(args.choice(option::counted_attention));
    const tensor_kind tensor_kind = args.choice(option::counted_tensors) == 1 ? tensor_kind::meta : tensor_kind::real;
    const llama3_scaling rope = scaling_of(read);
    std::vector<counter_variant> all;
    for (const llmcost::flop_counter& c : flop_counters)
        if (requested == nullptr || requested == &c)
            all.push_back(run_counter_variant(c, q.model, load, rope, attention, tensor_kind));
    if (q.format == output_format::json) return detail::why_json(q, load, all);
    return requested == nullptr ? detail::compare_all_counters(q, load, all)
                                : detail::compare_one_counter(q, load, all.front());
}

}  // namespace llmcost::cli
