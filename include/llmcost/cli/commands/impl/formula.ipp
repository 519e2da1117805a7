// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/formula.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/closed_form.hpp>
#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/shell.hpp>
#include <llmcost/cli/pages/response.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/formula_pieces.hpp>
#include <llmcost/report/formula_terms.hpp>
#include <llmcost/report/formula_text.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/report/named_sizes.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

/// The height and width of the images of a formula.
LLMCOST_INLINE std::pair<std::int64_t, std::int64_t> image_of(const request& q) {
    const workload& load = q.workload.base_workload;
    const auto& vision = q.model.config.vision;
    if (load.image_height > 0) return {load.image_height, load.image_width};
    return {vision.image_height, vision.image_width};
}

/// `224 × 224`.
LLMCOST_INLINE std::string image_label(const request& q) {
    const auto [height, width] = image_of(q);
    return grouped(count(height)) + " × " + grouped(count(width));
}

/// The label of a formula, e.g. `attn in meta-llama/Llama-3.2-1B, all logits`.
LLMCOST_INLINE std::string formula_label(const request& q) {
    std::string out = name_of_scope(q) + " in " + q.name_of_model.name;
    for (const std::string& set : q.overrides) out += " with " + set;
    const workload& load = q.workload.base_workload;
    if (reads_pixels(q.model)) return out + ", images of " + image_label(q);
    if (input_unit_of(q) == input_unit::sample) return out;
    if (load.attention == attention_scores::causal) out += ", visible scores only";
    out += load.head == logits::all    ? ", all logits"
           : load.head == logits::last ? ", logits of the last position"
                                       : ", no logits";
    if (load.encoder_sequence > 0) out += ", encoder sequence " + std::to_string(load.encoder_sequence);
    return out;
}

/// The meaning of the variables in formulas.
LLMCOST_INLINE std::string input_meanings(const request& q, formula_inputs inputs) {
    const std::string tokens = inputs == formula_inputs::batch ? "" : " with S text tokens each";
    const std::string past = inputs == formula_inputs::all ? ", P cached tokens each" : "";
    if (reads_pixels(q.model))
        return "B images of " + image_label(q) + tokens + past + "; height and width are fixed\n";
    if (input_unit_of(q) == input_unit::sound)
        return "B recordings of " + audio_label(q.workload.base_workload.audio_milliseconds) + '\n';
    if (inputs == formula_inputs::batch) return "B samples\n";
    return "B sequences, S new tokens each, P tokens each in the KV cache\n";
}

LLMCOST_INLINE void write_interval(json_writer& json, std::string_view name, const region::interval& in,
                                   std::int64_t maximum) {
    json.key(name).array().value(count(in.low));
    if (in.high >= maximum)
        json.null();
    else
        json.value(count(in.high));
    json.end_array();
}

LLMCOST_INLINE void write_terms(json_writer& json, const formula_piece& piece) {
    json.key("terms").array();
    for (const formula_term& term : piece.terms) {
        json.object().member("name", printable(term.name)).member("times", count(term.times)).key("expression");
        json.value(expression_in(term.sum, piece.domain.chunk != 0, formula_language::python)).end_object();
    }
    json.end_array();
}

LLMCOST_INLINE std::string formulas_json(const request& q, const std::vector<std::string>& names,
                                         const std::vector<std::vector<formula_piece>>& all, bool by_terms) {
    json_writer json;
    json.object().member("model", q.name_of_model.name).member("scope", printable(name_of_scope(q)));
    if (reads_pixels(q.model)) {
        const auto [height, width] = image_of(q);
        json.key("image").object().member("height", height).member("width", width).end_object();
    }
    json.key("formulas").array();
    for (std::size_t i = 0; i < all.size(); ++i) {
        json.object().member("figure", names[i]).key("pieces").array();
        for (const formula_piece& p : all[i]) {
            json.object();
            write_interval(json, "batch", p.domain.batch, max_input);
            write_interval(json, "sequence", p.domain.sequence, max_input);
            write_interval(json, "past", p.domain.past, max_input);
            write_interval(json, "sequence_and_past", p.domain.total, 2 * max_input);
            json.member("chunk", count(p.domain.chunk)).key("whole_chunks");
            p.domain.chunk == 0 || p.any_rest ? json.null() : json.value(p.domain.is_chunk_multiple);
            json.key("expression");
            if (p.known)
                json.value(expression_in(p, formula_language::python));
            else
                json.null();
            if (by_terms) write_terms(json, p);
            json.end_object();
        }
        json.end_array().end_object();
    }
    json.end_array().end_object();
    return json.text() + "\n";
}

/// Throws: `usage` for a sum over modules of a type below one byte: each term would be rounded up.
LLMCOST_INLINE void check_terms(const metric& m, const request& q) {
    const storage_types types = storage_types_of(q.model, q.workload.base_workload);
    const dtype type = m.name == "weight_bytes"          ? types.weights
                       : m.name == "cache_bytes"         ? types.cache
                       : m.name == "encoder_cache_bytes" ? types.activations
                                                         : dtype::float32;
    if (bits_of(type) % 8 != 0)
        throw_usage(option::formula_terms.name,
                    std::string(m.name) + " are rounded to bytes once, not per term; omit --terms");
}

/// The pieces of a metric with coefficients in named sizes.
LLMCOST_INLINE std::string named_formula(const request& q, const metric& m, const std::vector<formula_piece>& pieces,
                                         const std::string& name, formula_language language) {
    const scope_selector scope = q.metrics.scope.value_or(scope_selector{});
    const bool is_latex = language == formula_language::latex;
    std::vector<named_polynomial> named;
    std::string cases;
    for (const formula_piece& p : pieces) {
        if (!p.known) continue;
        named.push_back(
            named_polynomial_of(q.model, q.workload.base_workload, scope_query(scope.kind, scope.name), m.value_of, p));
        const std::string condition = condition_in(p, language),
                          sum = expression_in(named.back(), p.domain.chunk != 0, language);
        if (is_latex)
            cases += "  " + sum + (pieces.size() == 1 && condition.empty() ? "\n" : " & " + condition + " \\\\\n");
        else
            cases += (condition.empty() ? "" : "  " + condition + ":\n") + "    " + sum + '\n';
    }
    const bool has_cases = pieces.size() != 1 || !condition_in(pieces.front(), language).empty();
    const std::string sizes = meanings_of(named, q.model.config, language);
    if (!is_latex) return name + '\n' + (sizes.empty() ? "" : "  " + sizes + '\n') + cases;
    return "% " + name + '\n' + sizes + (sizes.empty() ? "" : "\n") + "\\[ \\mathrm{" + std::string(m.name) +
           "} =" + (has_cases ? " \\begin{cases}" : "") + '\n' + cases + (has_cases ? "\\end{cases} " : "") + "\\]\n";
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_formula(const arguments& args, const program& io) {
    const parsed_model read = io.read(args, io);
    const request q = understand(args, read, io.commands);
    const scope_selector scope = q.metrics.scope.value_or(scope_selector{});
    std::vector<const metric*> list = q.metrics.metrics;
    if (list.empty()) list.push_back(find_metric(scope.kind == scope_kind::parameter ? "params" : "flops"));
    const bool by_terms = args.has(option::formula_terms), names_sizes = args.has(option::named_sizes);
    if (names_sizes && by_terms) throw_usage(option::named_sizes.name, "cannot be combined with --terms");
    if (names_sizes && args.choice(option::formula_format) > 1)
        throw_usage(option::named_sizes.name, "expected --format text or latex");
    std::vector<std::string> names;
    std::vector<std::vector<formula_piece>> all;
    for (const metric* m : list) {
        if (m->name == "saved_bytes")
            throw_usage("saved_bytes", "not supported: it is not a polynomial, because tensors share storage");
        if (m->name == "weight_bytes" && q.stored_weights.is_applied)
            throw_usage("weight_bytes",
                        "not supported: it does not depend on the workload; use llmcost without a command");
        names.emplace_back(m->name);
        const scope_query part(scope.kind, scope.name);
        term_samples terms(q.model, part, m->value_of);
        if (by_terms) detail::check_terms(*m, q);
        all.push_back(
            formula_pieces(q.model, q.workload.base_workload, part, m->value_of, by_terms ? &terms : nullptr));
    }
    const int format = args.choice(option::formula_format);
    if (format == 4) return detail::formulas_json(q, names, all, by_terms);
    const auto language = static_cast<formula_language>(format);
    std::string out;
    formula_inputs inputs = formula_inputs::all;
    if (input_unit_of(q) != input_unit::token) {
        inputs = formula_inputs::batch;
        for (const auto& pieces : all) inputs = std::max(inputs, inputs_of(pieces));
    }
    if (language == formula_language::text) out = detail::input_meanings(q, inputs);
    for (std::size_t i = 0; names_sizes && i < all.size(); ++i) {
        const std::string title = printable(names[i] + " of " + detail::formula_label(q));
        out += (out.empty() ? "" : "\n") + detail::named_formula(q, *list[i], all[i], title, language);
    }
    for (std::size_t i = 0; !names_sizes && i < all.size(); ++i) {
        const std::string name =
            language == formula_language::text ? names[i] : names[i] + "_" + detail::name_of_scope(q);
        const std::string about = language == formula_language::text ? detail::formula_label(q)
                                                                     : names[i] + " of " + detail::formula_label(q);
        out += (out.empty() ? "" : "\n") + formula_in(language, name, printable(about), all[i], inputs);
    }
    return out;
}

LLMCOST_INLINE std::vector<std::string_view> formula_completions(const program&) {
    std::vector<std::string_view> completions;
    for (const metric& m : metrics) completions.push_back(m.name);
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) completions.push_back(name);
    return completions;
}

}  // namespace llmcost::cli
