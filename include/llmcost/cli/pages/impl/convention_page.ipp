// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/convention_page.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/flop_counters/counter_report.hpp>
#include <llmcost/flop_counters/counter_table.hpp>
#include <llmcost/flop_counters/explain.hpp>
#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/flop_counters/llm_profiler.hpp>
#include <llmcost/flop_counters/verification.hpp>
#include <llmcost/json.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<std::string_view> counter_names(const program&) {
    std::vector<std::string_view> names;
    for (const flop_counter& c : flop_counters) names.push_back(c.name);
    return names;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE const llmcost::flop_counter& require_counter(std::string_view option, std::string_view name) {
    // classes of counters that are better known than their names here
    constexpr std::pair<std::string_view, std::string_view> class_names[]{{"flopcountermode", "flop_counter"},
                                                                          {"flopcountanalysis", "fvcore"}};
    if (const llmcost::flop_counter* found = find_counter(lower(name))) return *found;
    for (const auto& [class_name, counter] : class_names)
        if (lower(name) == class_name) return *find_counter(counter);
    name_suggestions near(name);
    for (const llmcost::flop_counter& c : flop_counters) near.add_candidate(c.name);
    throw_usage(option, "no counter " + quote(name) + near.suggestion_or_list());
}

LLMCOST_INLINE llama3_scaling scaling_of(const parsed_model& read) {
    try {
        return read.found.document.read_with(
            [&](config_view root) { return llama3_scaling::read(root, read.subject.config.head_dim); });
    } catch (const std::exception&) {
        return {};  // the result of llm-profiler for such a configuration is unknown
    }
}

LLMCOST_INLINE counter_variant run_counter_variant(const llmcost::flop_counter& c, const model& m, workload load,
                                                   const llama3_scaling& rope, attention_implementation attention,
                                                   tensor_kind tensor_kind) {
    load.implementation = attention;
    counter_variant way{attention, tensor_kind};
    try {
        way.reading = run_counter(c, observe_model(m, load, rope), tensor_kind);
    } catch (const description_error&) {
        way.reading.counter = &c;
        way.reading.undefined_reason = "llmcost does not support scaled_dot_product_attention for this model";
    }
    if (c.formula == closed_formula::none && load.past > 0)
        way.unverified_reason = "no recorded output has tokens in the KV cache";
    else if (c.formula == closed_formula::none)
        way.unverified_reason =
            unverified_reason({c.name, m.spec->model_type, attention == attention_implementation::sdpa, tensor_kind});
    return way;
}

/// All variants of a counter with different reports: eager attention and sdpa, real and meta tensors.
[[nodiscard]] LLMCOST_INLINE std::vector<counter_variant> counted_ways(const llmcost::flop_counter& c, const model& m,
                                                                       const workload& load,
                                                                       const llama3_scaling& rope) {
    std::vector<counter_variant> ways;
    for (const tensor_kind tensor_kind : {tensor_kind::real, tensor_kind::meta})
        for (const attention_implementation a : {attention_implementation::eager, attention_implementation::sdpa}) {
            counter_variant way = run_counter_variant(c, m, load, rope, a, tensor_kind);
            const auto has_equal_results = [&](const counter_variant& existing) {
                if (existing.reading.defined() != way.reading.defined()) return false;
                for (std::size_t i = 0; i < way.reading.figures.size(); ++i)
                    if (!(existing.reading.figures[i].value == way.reading.figures[i].value)) return false;
                return existing.unverified_reason == way.unverified_reason;
            };
            const bool formula = c.formula != closed_formula::none;
            if (ways.empty() || (!formula && !(tensor_kind == tensor_kind::meta &&
                                               has_equal_results(ways[static_cast<std::size_t>(a)]))))
                ways.push_back(std::move(way));
        }
    return ways;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

LLMCOST_INLINE void write_variant(json_writer& json, const counter_variant& way) {
    json.object().member("attention", attention_name(way.attention));
    json.member("tensors", tensors_names[static_cast<std::size_t>(way.tensor_kind)]);
    json.key("held");
    way.reading.counter->formula != closed_formula::none ? json.null() : json.value(way.unverified_reason.empty());
    json.key("why_not");
    way.unverified_reason.empty() ? json.null() : json.value(way.unverified_reason);
    json.key("undefined");
    way.reading.defined() ? json.null() : json.value(way.reading.undefined_reason);
    json.key("figures").object();
    for (const convention_figure& f : way.reading.figures) json.member(f.name, f.value);
    json.end_object();
}

LLMCOST_INLINE std::string_view reference_metric_name(reference_metric figure) {
    constexpr std::string_view names[]{"FLOPs (ADD and MULT)", "MACs", "torch FLOPs of a training step"};
    return names[static_cast<std::size_t>(figure)];
}

LLMCOST_INLINE workload one_pass(const request& q) {
    if (q.workload.kind != workload_kind::forward_pass)
        throw_usage("--convention", "supports a single forward pass; cannot be combined with --input or --ragged");
    workload load = q.workload.base_workload;
    load.weights = load.activations = load.cache = dtype::float32;
    return load;
}

LLMCOST_INLINE std::string pass_label(const model& m, const workload& load) {
    if (unit_of(m, load) != input_unit::token) return input_label(m, load);
    std::string out = "batch " + std::to_string(load.batch) + ", sequence " + std::to_string(load.sequence);
    if (load.past > 0) out += ", " + std::to_string(load.past) + " tokens in the KV cache";
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string convention_page(const request& q, const parsed_model& read, const llmcost::flop_counter& c) {
    if (!q.metrics.empty()) throw_usage("--convention", "cannot be combined with metrics or scopes");
    if (!q.adapter.empty()) throw_usage("--convention", "cannot be combined with --adapter");
    if (q.workload.is_training) throw_usage("--convention", "cannot be combined with --training");
    const workload load = detail::one_pass(q);
    const std::vector<counter_variant> ways = counted_ways(c, q.model, load, scaling_of(read));
    if (q.format == output_format::json) {
        json_writer json;
        json.object().member("model", q.name_of_model.name).member("convention", c.name).member("title", c.title);
        json.member("version", c.version).member("counts", c.counts);
        json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past);
        json.key("ways").array();
        for (const counter_variant& way : ways) {
            detail::write_variant(json, way);
            json.end_object();
        }
        return json.end_array().end_object().text() + '\n';
    }
    table t{{{"figure"}}, {}};
    for (const counter_variant& way : ways)
        t.columns.push_back({c.formula == closed_formula::none ? variant_label(way) : std::string("value"), true});
    for (std::size_t i = 0; i < c.figures.size(); ++i) {
        std::vector<std::string> row{std::string(c.figures[i].name)};
        for (const counter_variant& way : ways)
            row.push_back(i < way.reading.figures.size() ? digits(way.reading.figures[i].value) : "");
        t.rows.push_back(std::move(row));
    }
    if (q.format != output_format::text) return written(t, q.format);
    std::string out = q.name_of_model.name + ", " + detail::pass_label(q.model, load) + ", FLOPs counted as " +
                      std::string(c.title) + "\n" +
                      wrapped(std::array{std::string(c.version), std::string(c.counts)}, 80) + '\n';
    bool has_defined = false;
    for (const counter_variant& way : ways) has_defined = has_defined || way.reading.defined();
    if (has_defined) out += written(t, q.format);
    for (const counter_variant& way : ways) {
        const std::string prefix = c.formula == closed_formula::none ? variant_label(way) + ": " : std::string();
        if (!way.reading.defined())
            out += prefix + "no result: " + std::string(way.reading.undefined_reason) + '\n';
        else if (!way.unverified_reason.empty())
            out += prefix + "not verified against the tool: " + std::string(way.unverified_reason) + '\n';
    }
    return out + "\nllmcost why --against " + std::string(c.name) + " explains the difference\n";
}

}  // namespace llmcost::cli
