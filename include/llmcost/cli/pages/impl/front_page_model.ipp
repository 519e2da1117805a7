// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/front_page_model.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/pages/response.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string types_text(const storage_types& t) {
    const auto name = [](dtype type) { return std::string(name_of(type)); };
    if (t.weights == t.activations && t.activations == t.cache) return name(t.weights);
    if (t.activations == t.cache) return name(t.weights) + " weights, " + name(t.cache) + " activations and cache";
    if (t.weights == t.activations) return name(t.weights) + ", " + name(t.cache) + " cache";
    return name(t.weights) + " weights, " + name(t.activations) + " activations, " + name(t.cache) + " cache";
}

LLMCOST_INLINE std::vector<std::string> size_labels(const model_config& config, const workload& load) {
    std::vector<std::string> out;
    const auto add = [&](std::int64_t n, std::string text) {
        if (n > 0) out.push_back(std::move(text));
    };
    if (config.encoder.num_hidden_layers > 0)
        out.push_back(number(config.encoder.num_hidden_layers) + " + " + number(config.num_hidden_layers) + " layers");
    else if (config.num_hidden_layers > 0)
        out.push_back(number(config.num_hidden_layers) + (config.num_hidden_layers == 1 ? " layer" : " layers"));
    add(config.hidden_size, "hidden " + number(config.hidden_size));
    if (config.num_attention_heads > 0) {
        const bool groups = config.num_key_value_heads > 0 &&
                            config.num_key_value_heads != config.num_attention_heads && config.mla.kv_lora_rank == 0;
        std::string heads = number(config.num_attention_heads) + " heads";
        if (groups) heads += ", " + number(config.num_key_value_heads) + " kv";
        if (config.mla.kv_lora_rank > 0)
            heads += ", latent " + number(config.mla.kv_lora_rank);
        else if (config.head_dim > 0)
            heads += " of " + number(config.head_dim);
        out.push_back(std::move(heads));
    }
    add(config.sliding_window, "window " + number(config.sliding_window));
    add(config.intermediate_size, "mlp " + number(config.intermediate_size));
    add(config.moe.num_experts, number(config.moe.num_experts_per_tok) + " of " + number(config.moe.num_experts) +
                                    " experts of " + number(config.moe.intermediate_size));
    add(config.ssm.state_size, "state " + number(config.ssm.state_size));
    const bool uses_default_size = load.image_height == 0;
    add(config.vision.image_height,
        "image " + number(uses_default_size ? config.vision.image_height : load.image_height) + " × " +
            number(uses_default_size ? config.vision.image_width : load.image_width));
    add(config.vocab_size, "vocabulary " + number(config.vocab_size));
    add(config.context_length(), "context " + number(config.context_length()));
    return out;
}

LLMCOST_INLINE std::string heading(const request& q, std::string_view type) {
    const std::string type_label =
        std::string(type) + " · " + types_text(storage_types_of(q.model, q.workload.base_workload));
    const std::size_t used = width_of(q.name_of_model.name) + width_of(type_label);
    std::string out = bold(q, q.name_of_model.name);
    out += used + 2 <= page_width ? std::string(page_width - used, ' ') : "\n";
    out += type_label + '\n';
    const std::vector<std::string> sizes = size_labels(q.model.config, q.workload.base_workload);
    return out + (sizes.empty() ? "" : wrapped(sizes, line_width(q))) + '\n';
}

LLMCOST_INLINE std::vector<std::string> parameter_lines(const request& q, const role_results& read) {
    const metric_list& total = read.sums.total;
    const count all = total.front().params;
    std::size_t width = 12;
    const std::vector<role_line> lines = read.lines(total);
    for (const role_line& l : lines) width = std::max(width, l.name.size() + 3 + l.depth * 2);
    const auto line = [&](std::string_view name, count n) { return left(name, width) + right(grouped(n), 15); };
    std::vector<std::string> out{line("Parameters", all)};
    const auto add = [&](const std::string& name, count n, std::string_view note) {
        out.push_back(line(name, n) + right(percent(n, all), 8) + std::string(note));
    };
    if (total.front().active_params != all) add("  active", total.front().active_params, "");
    for (const role_line& l : lines) {
        const count n = l.metrics.params;
        const bool tied = read.tied && l.path == name_of(role::embedding), is_all = l.path == "other" && n == all;
        if (n != count{} && !is_all) add(std::string(2 + l.depth * 2, ' ') + l.name, n, tied ? "  tied" : "");
    }
    out.front() = bold(q, "Parameters") + out.front().substr(10);
    return out;
}

LLMCOST_INLINE std::vector<memory_line> memory_lines(const request& q, const model_metrics& total) {
    std::vector<memory_line> out{{"Weights", in_bytes(total.weight_bytes)}};
    if (total.encoder_cache_bytes != count{}) out.push_back({"Encoder cache", in_bytes(total.encoder_cache_bytes)});
    workload base = q.phases.front().parts.front().load;
    if (!q.phases.back().parts.empty()) base = q.phases.back().parts.front().load;
    const bool sound_alone = is_audio_only(q.model);
    const auto cached = [&](std::int64_t batch, std::int64_t tokens) {
        workload load = sound_alone ? base : base.without_multimodal_inputs();
        load.batch = batch;
        load.sequence = 1;
        load.past = tokens - 1;
        return count_model(q.model, load).cache_bytes;
    };
    if (total.cache_bytes == count{} && (sound_alone || cached(1, 2) == count{})) {
        out.push_back({"Cache", "none"});
        return out;
    }
    std::int64_t maximum = q.model.config.context_length();
    try {
        if (maximum > 1) (void)cached(1, maximum);
    } catch (const workload_error& e) {
        maximum = e.max_positions();
    }
    const count first = cached(1, 2) - cached(1, 1);
    // a cache that is compressed periodically shrinks at some lengths; use the mean over the second half
    const auto growth = [&](std::int64_t tokens) {
        const count now = cached(1, maximum), previous = cached(1, maximum - tokens);
        return previous < now ? (now - previous) / count(tokens) : count{};
    };
    const bool shrinks = maximum > 2 && cached(1, maximum) < cached(1, maximum - 1);
    const count last = maximum <= 2 ? first : growth(shrinks ? maximum / 2 : 1);
    const char* const range_note = q.model.config.sliding_window > 0 ? " beyond the window" : " in long contexts";
    out.push_back({"Cache per token", in_bytes(first), first == last ? "" : in_bytes(last) + range_note});
    const workload& load = q.workload.base_workload;
    const std::int64_t later = q.workload.kind == workload_kind::generation ? q.workload.output_tokens - 1 : 0;
    const workload& first_pass = q.phases.front().parts.front().load;
    std::int64_t batch = load.batch;
    std::string cache_note = number(batch) + " × " +
                             number(first_pass.past + first_pass.sequence +
                                    (first_pass.past == 0 ? q.workload.num_media_tokens : 0) + later);
    if (first_pass.encoder_sequence > 0) cache_note += " + " + number(first_pass.encoder_sequence);
    if (q.workload.kind == workload_kind::ragged_batch) cache_note = "all requests";
    out.push_back({"Cache size", in_bytes(total.cache_bytes), cache_note});
    if (q.workload.kind == workload_kind::ragged_batch) batch = 1;
    if (maximum > 1)
        out.push_back({"Cache maximum", in_bytes(cached(batch, maximum)), number(batch) + " × " + number(maximum)});
    return out;
}

LLMCOST_INLINE std::string side_by_side(const request& q, const std::vector<std::string>& a,
                                        const std::vector<memory_line>& b) {
    std::size_t left_width = 42;
    for (std::size_t i = 1; i < a.size(); ++i) left_width = std::max(left_width, width_of(a[i]) + 1);
    std::vector<std::string> lines;
    for (const memory_line& m : b) {
        const std::string figure = left(m.name, 16) + right(m.value, 9);
        const bool fits = left_width + width_of(figure) + 2 + width_of(m.note) <= page_width;
        lines.push_back(figure + (fits && !m.note.empty() ? "  " + m.note : ""));
        if (!fits) lines.push_back(right(m.note, 25));
    }
    std::string out;
    for (std::size_t i = 0; i < std::max(a.size(), lines.size()); ++i) {
        const std::string left_line = i < a.size() ? a[i] : "";
        const std::size_t invisible = i == 0 ? bold(q, "").size() : 0;
        out += i < lines.size() ? left(left_line, left_width + invisible) + lines[i] : left_line;
        out += '\n';
    }
    return out;
}

}  // namespace llmcost::cli::detail
