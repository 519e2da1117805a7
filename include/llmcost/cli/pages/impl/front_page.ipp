// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/front_page.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/pages/front_page_model.hpp>
#include <llmcost/cli/pages/response.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/custom/custom_model.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/model/multimodal_inputs.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string table_line(std::string_view name, const std::vector<std::string>& fields) {
    std::string out = left(name, 14);
    for (const std::string& f : fields) out += right(f, 11);
    return out + '\n';
}

/// The multimodal inputs of a sequence, one line per modality: input size, encoder input size, number of tokens.
LLMCOST_INLINE std::vector<std::string> media_lines(const request& q) {
    const workload& load = q.workload.base_workload;
    if (q.model.spec->compute_media_shapes == nullptr || !load.has_multimodal_inputs()) return {};
    const media_shapes shapes = q.model.spec->compute_media_shapes(q.model, load);
    const auto size = [](std::int64_t width, std::int64_t height) { return number(width) + " × " + number(height); };
    const auto tokens = [](std::int64_t n) { return n > 0 ? ": " + number(n) + (n == 1 ? " token" : " tokens") : ""; };
    const std::string past = load.past > 0 ? " (in the KV cache)" : "";
    std::vector<std::string> out;
    const auto add_line = [&](std::int64_t n, std::string_view one, std::string original_size,
                              const media_shape& shape) {
        std::string line = number(n) + ' ' + std::string(one) + (n == 1 ? "" : "s") + past;
        if (!original_size.empty()) line += " of " + original_size;
        if (shape.height > 0)
            line += ", resized to " + (shape.num_tiles > 1 ? number(shape.num_tiles) + " of " : "") +
                    size(shape.width, shape.height);
        out.push_back(line + tokens(shape.num_tokens) + (n > 1 && shape.num_tokens > 0 ? " each" : ""));
    };
    if (load.images > 0)
        add_line(load.images, "image", load.image_height > 0 ? size(load.image_width, load.image_height) : "",
                 shapes.image);
    if (load.videos > 0)
        add_line(load.videos, "video",
                 number(load.video_frames) + " frames of " + size(load.video_width, load.video_height), shapes.video);
    if (load.audio_milliseconds > 0) {
        std::string line = audio_label(load.audio_milliseconds) + past;
        if (shapes.audio.num_frames > 0) line += ", " + number(shapes.audio.num_frames) + " frames";
        out.push_back(line + tokens(shapes.audio.num_tokens));
    }
    return out;
}

/// The input tensors of a custom model; empty for a single one.
LLMCOST_INLINE std::string inputs_line(const request& q) {
    if (q.custom == nullptr) return {};
    const auto inputs = q.custom->inputs(q.workload.base_workload);
    if (inputs.size() < 2) return {};
    std::vector<std::string> input_texts;
    for (const auto& [name, sizes] : inputs) {
        std::string text(name);
        for (int i = 0; i < sizes.rank; ++i) text += (i == 0 ? " " : " × ") + number(sizes.size[i]);
        input_texts.push_back(std::move(text));
    }
    return dim(q, "input ") + wrapped(input_texts, line_width(q) - 6, "      ");
}

LLMCOST_INLINE std::string work_title(const request& q, const model_metrics& total) {
    const workload& load = q.workload.base_workload;
    const std::string batch = ", batch " + number(load.batch);
    const std::string past = load.past > 0 ? " after " + number(load.past) : "";
    if (input_unit_of(q) != input_unit::token) return "Forward pass, " + input_label(q.model, load);
    if (q.workload.kind == workload_kind::generation)
        return "Request" + batch + ", input " + number(q.workload.input_tokens) + past + ", output " +
               number(q.workload.output_tokens);
    if (q.workload.kind == workload_kind::ragged_batch)
        return "One step of " + number(static_cast<std::int64_t>(q.workload.request_groups.size())) +
               " groups of requests";
    const char* kind = load.past == 0 ? "Prefill" : load.sequence == 1 ? "Decode" : "Extension";
    if (load.past == 0 && total.cache_elements == count{}) kind = "Forward pass";  // the model has no cache
    const std::int64_t num_media_tokens = load.past == 0 ? q.workload.num_media_tokens : 0;
    return kind + batch + ", sequence " + number(load.sequence) +
           (num_media_tokens > 0 ? " + " + number(num_media_tokens) + " multimodal" : "") + past;
}

LLMCOST_INLINE count tokens_of(const request& q) {
    const workload& load = q.workload.base_workload;
    if (input_unit_of(q) != input_unit::token) return count(load.batch);
    if (q.workload.kind == workload_kind::generation)
        return count(load.batch) *
               count(q.workload.input_tokens + q.workload.num_media_tokens + q.workload.output_tokens - 1);
    count n;
    if (q.workload.kind == workload_kind::ragged_batch)
        for (const request_group& g : q.workload.request_groups)
            n += count(g.sequence + g.media_tokens) * count(g.num_requests);
    return q.workload.kind == workload_kind::ragged_batch
               ? n
               : count(load.batch) * count(load.sequence + (load.past == 0 ? q.workload.num_media_tokens : 0));
}

/// The table line of a scope.
LLMCOST_INLINE std::string counts_line(std::string_view name, const model_metrics& f) {
    std::vector<std::string> fields;
    for (const std::string_view metric : page_metrics) fields.push_back(scaled(find_metric(metric)->value_of(f)));
    return table_line(name, fields);
}

LLMCOST_INLINE bool has_counts(const model_metrics& f) {
    for (const std::string_view metric : page_metrics)
        if (find_metric(metric)->value_of(f) != count{}) return true;
    return false;
}

/// The counts of the model, then of each role.
LLMCOST_INLINE std::string counts_table(const request& q, const role_results& read) {
    const model_metrics& total = read.sums.total.front();
    std::vector<std::string> titles;
    for (const std::string_view metric : page_metrics)
        titles.push_back(metric == "flops" ? "FLOPs" : title_of(*find_metric(metric)));
    std::string out = table_line("", titles) + counts_line("all", total);
    for (const role_line& l : read.lines(read.sums.total))
        if (has_counts(l.metrics)) out += counts_line(std::string(2 + l.depth * 2, ' ') + l.name, l.metrics);
    std::vector<std::string> besides;
    for (const std::string_view name : {"log", "tanh", "erf", "trig", "pow", "neg", "cmp"})
        if (const count n = find_metric(name)->value_of(total); n != count{})
            besides.push_back(title_of(*find_metric(name)) + ' ' + scaled(n));
    besides.push_back("PyTorch FLOPs " + scaled(total.torch_flops));
    besides.push_back("act " + scaled(total.module_output_elements));
    out += dim(q, "other:   ") + wrapped(besides, line_width(q) - 9, "         ");
    if (total.unrouted_flops != count{})
        out += "eager computes every expert for every token; the routed experts need\n" + scaled(total.active_flops()) +
               " of the FLOPs (active_flops)\n";
    return out;
}

/// The figures of a request by phase: prefill, decode and total.
LLMCOST_INLINE std::string phases_table(const request& q, const workload_totals& r) {
    const auto names = column_names(r);
    std::string out = table_line("", names);
    for (const metric& m : metrics) {
        if (m.name == "params" || m.name == "active" || m.name == "weight_bytes" || m.name == "saved_bytes" ||
            m.name == "out" || (m.name == "active_flops" && column(r, 0).front().unrouted_flops == count{}))
            continue;
        std::vector<std::string> fields;
        bool has_nonzero = false;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const count n = m.value_of(column(r, i).front());
            has_nonzero = has_nonzero || n != count{};
            fields.push_back(m.name.ends_with("cache_bytes") ? in_bytes(n) : scaled(n));
        }
        if (has_nonzero) out += table_line(m.name == "flops" ? "FLOPs" : title_of(m), fields);
    }
    return out + dim(q, "cache: KV cache at the end of each phase") + '\n';
}

LLMCOST_INLINE model_metrics training_step(const request& q) {
    workload step = q.workload.base_workload;
    step.training = true;
    return count_model(q.model, step);
}

/// The figures of a training step, with the names of their columns.
LLMCOST_INLINE std::vector<named_count> training_figures(const request& q) {
    const model_metrics f = training_step(q);
    model_metrics backward;
    static_cast<primitives<count>&>(backward) = f.backward;
    backward.torch_flops = f.backward_torch_flops;
    std::vector<named_count> out{{"saved_bytes", f.saved_bytes}};
    for (std::size_t i = 0; i < num_primitives; ++i)
        out.push_back({"backward_" + std::string(metrics[i].name), metrics[i].value_of(backward)});
    for (const std::string_view name : {"flops", "torch_flops"})
        out.push_back({"backward_" + std::string(name), find_metric(name)->value_of(backward)});
    return out;
}

LLMCOST_INLINE std::string training_line(const request& q) {
    const model_metrics f = training_step(q);
    const std::vector<std::string> parts{
        "Training step: " + in_bytes(f.saved_bytes) + " saved for backward",
        "FLOPs " + scaled(f.flops()) + " forward, " + scaled(f.backward.add + f.backward.mult) + " backward",
        "PyTorch FLOPs " + scaled(f.torch_flops) + " forward, " + scaled(f.backward_torch_flops) + " backward"};
    return '\n' + wrapped(parts, line_width(q), "  ");
}

/// The parameters of the multi-token prediction layers of the checkpoint.
LLMCOST_INLINE count mtp_parameters(const request& q) {
    model with_mtp = q.model, without_mtp = q.model;
    with_mtp.config.mtp_layers = q.mtp_layers;
    without_mtp.config.mtp_layers = 0;
    return count_model(with_mtp, {}).params - count_model(without_mtp, {}).params;
}

/// A note about multi-token prediction layers, which the reference implementation does not execute.
LLMCOST_INLINE std::string mtp_note(const request& q) {
    if (q.mtp_layers == 0) return {};
    const bool one = q.mtp_layers == 1;
    const std::string layers = number(q.mtp_layers) + " multi-token prediction layer" + (one ? "" : "s");
    if (q.model.config.mtp_layers > 0)
        return '\n' + layers + (one ? " is" : " are") + " counted in scope mtp: " + grouped(mtp_parameters(q)) +
               " parameters.\n";
    const std::string object_pronoun = one ? "it" : "them";
    std::string out = "\nThe checkpoint has " + layers + (one ? ", which is" : ", which are") +
                      " not counted:\nthe reference does not execute " + object_pronoun + '.';
    if (q.model.text_model_spec().multi_token_prediction != nullptr && q.model.config.head != head_kind::none)
        out += " With --mtp: " + grouped(mtp_parameters(q)) + " parameters.";
    return out + '\n';
}

/// The assumptions of the figures: source, convention, workload and element types.
LLMCOST_INLINE std::string provenance(const request& q, const role_results& read) {
    const bool caches = read.sums.total.front().cache_elements != count{};
    const workload& load = q.workload.base_workload;
    std::vector<std::string> parts{q.name_of_model.source};
    for (const std::string& set : q.overrides) parts.push_back("with " + set);
    if (q.model.text_model_spec().is_remote_code)
        parts.push_back(std::string(q.model.text_model_spec().model_type) + " is " + std::string(not_verified));
    if (!q.adapter.empty()) parts.push_back("adapter " + q.adapter);
    parts.emplace_back(!read.has_attention()                      ? "eager"
                       : load.attention == attention_scores::full ? "eager, all scores"
                                                                  : "causal, visible scores only");
    parts.emplace_back("FLOPs = ADD + MULT");
    if (const input_unit unit = input_unit_of(q); unit == input_unit::token || unit == input_unit::sound)
        parts.emplace_back(load.head == logits::all    ? "all logits"
                           : load.head == logits::last ? "logits of the last position"
                                                       : "no logits");
    const workload& first = q.phases.front().parts.front().load;
    if (std::find(read.chains.begin(), read.chains.end(), role_chain{role::encoder}) != read.chains.end() &&
        !reads_pixels(q.model) && load.audio_milliseconds == 0)
        parts.push_back(first.encoder_sequence > 0 ? "encoder sequence " + number(first.encoder_sequence)
                                                   : "encoder sequence as the decoder");
    if (load.weights == dtype::unspecified && q.model.config.dtype_of_weights == dtype::unspecified)
        parts.emplace_back("float32 assumed");
    if (q.has_default_audio) parts.push_back(audio_label(load.audio_milliseconds) + " assumed (--audio)");
    if (exceeds_context(q.model, longest_sequence(q.workload, q.phases)))
        parts.emplace_back("exceeds the context length");
    if (q.disables_cache && caches) parts.emplace_back("KV cache counted, although use_cache is false");
    if (q.stored_weights.is_applied) parts.push_back(q.stored_weights.label);
    if (q.model.config.quantized && !q.stored_weights.is_applied) parts.emplace_back("quantization_config not applied");
    return wrapped(parts, line_width(q));
}

/// Arguments of a suggested next command.
LLMCOST_INLINE std::string suggested_arguments(const request& q) {
    const modality_set& reads = q.model.spec->modalities;
    if (input_unit_of(q) != input_unit::token) return "--batch 8 --training";
    if (q.workload.base_workload.has_multimodal_inputs()) return "--input 1000 --output 200";
    return reads.has_images ? "--image 1024x768" : reads.has_audio ? "--audio 30" : "--input 1000 --output 200";
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string front_page(const request& q) {
    const role_results read = compute_role_totals(q);
    const model_metrics& all = read.sums.total.front();
    std::string out = detail::heading(q, read.root);
    out += detail::side_by_side(q, detail::parameter_lines(q, read), detail::memory_lines(q, all)) + '\n';

    const std::string title = detail::work_title(q, all);
    const count tokens = detail::tokens_of(q);
    const std::string flops_per_input = "FLOPs per " + std::string(one_input_name(q.model, q.workload.base_workload)) +
                                        ' ' + scaled((all.flops() + tokens / count(2)) / tokens);
    const std::size_t used = width_of(title) + width_of(flops_per_input);
    out += detail::bold(q, title) + std::string(used + 2 <= detail::page_width ? detail::page_width - used : 2, ' ') +
           flops_per_input + '\n';
    for (const std::string& line : detail::media_lines(q)) out += line + '\n';
    out += detail::inputs_line(q);
    out += q.workload.kind == workload_kind::generation ? detail::phases_table(q, read.sums)
                                                        : detail::counts_table(q, read);
    if (q.workload.is_training) out += detail::training_line(q);
    out += detail::mtp_note(q) + '\n' + detail::dim(q, detail::provenance(q, read));
    return out + detail::dim(q, "try: mult attn · --tree · " + detail::suggested_arguments(q) + " · llmcost --help") +
           '\n';
}

LLMCOST_INLINE table front_table(const request& q) {
    const role_results read = compute_role_totals(q);
    const auto names = detail::column_names(read.sums);
    const auto list = metrics_of(q.metrics, false, q.workload.base_workload.has_multimodal_inputs());
    table t{{{"scope"}}, {}};
    if (names.size() > 1) t.columns.push_back({"phase"});
    for (const metric* m : list) t.columns.push_back({std::string(m->name), true});
    const std::vector<named_count> step =
        q.workload.is_training ? detail::training_figures(q) : std::vector<named_count>{};
    for (const named_count& f : step) t.columns.push_back({f.name, true});
    const auto add = [&](const std::string& scope, const auto& figures_in) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::vector<std::string> row{scope};
            if (names.size() > 1) row.push_back(names[i]);
            for (const metric* m : list) row.push_back(digits(m->value_of(figures_in(i))));
            for (const named_count& f : step) row.push_back(scope == "all" ? digits(f.value) : "");
            t.rows.push_back(std::move(row));
        }
    };
    std::vector<std::vector<role_line>> lines;  // one list per phase
    for (std::size_t i = 0; i < names.size(); ++i) lines.push_back(read.lines(detail::column(read.sums, i)));
    add("all", [&](std::size_t phase) { return detail::column(read.sums, phase).front(); });
    for (std::size_t line = 0; line < lines.front().size(); ++line)
        add(lines.front()[line].path, [&](std::size_t phase) { return lines[phase][line].metrics; });
    return t;
}

}  // namespace llmcost::cli
