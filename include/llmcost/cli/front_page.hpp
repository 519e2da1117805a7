// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/cli/front_page_model.hpp>
#include <llmcost/described/described_model.hpp>

// The page that answers what people ask first, in 80 columns.
namespace llmcost::cli {

/// A figure under the name of a column.
struct named_count {
    std::string name;
    count value;
};

namespace detail {

/// The metrics of the page's table.
inline constexpr std::array<std::string_view, 6> page_metrics{"add", "mult", "div", "sqrt", "exp", "flops"};

inline std::string table_line(std::string_view name, const std::vector<std::string>& fields) {
    std::string out = left(name, 14);
    for (const std::string& f : fields) out += right(f, 11);
    return out + '\n';
}

/// What a sequence shows, a line for each kind: what was given, what a tower reads of it, how many tokens it became.
inline std::vector<std::string> media_lines(const question& q) {
    const workload& load = q.work.base;
    if (q.subject.kind->media == nullptr || !load.has_media()) return {};
    const media_shapes shown = q.subject.kind->media(q.subject, load);
    const auto size = [](std::int64_t width, std::int64_t height) { return number(width) + " × " + number(height); };
    const auto tokens = [](std::int64_t n) { return n > 0 ? ": " + number(n) + (n == 1 ? " token" : " tokens") : ""; };
    const std::string past = load.past > 0 ? " (in the past)" : "";
    std::vector<std::string> out;
    const auto say = [&](std::int64_t n, std::string_view one, std::string given, const media_shape& as) {
        std::string line = number(n) + ' ' + std::string(one) + (n == 1 ? "" : "s") + past;
        if (!given.empty()) line += " of " + given;
        if (as.height > 0)
            line += ", read as " + (as.tiles > 1 ? number(as.tiles) + " of " : "") + size(as.width, as.height);
        out.push_back(line + tokens(as.tokens) + (n > 1 && as.tokens > 0 ? " each" : ""));
    };
    if (load.images > 0)
        say(load.images, "image", load.image_height > 0 ? size(load.image_width, load.image_height) : "", shown.image);
    if (load.videos > 0)
        say(load.videos, "video", number(load.video_frames) + " frames of " + size(load.video_width, load.video_height),
            shown.video);
    if (load.audio_milliseconds > 0) {
        std::string line = sound_words(load.audio_milliseconds) + past;
        if (shown.audio.frames > 0) line += ", read as " + number(shown.audio.frames) + " frames";
        out.push_back(line + tokens(shown.audio.tokens));
    }
    return out;
}

/// What a description reads, where that is more than one tensor.
inline std::string inputs_line(const question& q) {
    if (q.described == nullptr) return {};
    const auto inputs = q.described->inputs(q.work.base);
    if (inputs.size() < 2) return {};
    std::vector<std::string> each;
    for (const auto& [name, sizes] : inputs) {
        std::string text(name);
        for (int i = 0; i < sizes.rank; ++i) text += (i == 0 ? " " : " × ") + number(sizes.size[i]);
        each.push_back(std::move(text));
    }
    return dim(q, "reads ") + wrapped(each, page_width - 6, "      ");
}

/// What is counted, and for how much work.
inline std::string work_title(const question& q, const figures& total) {
    const workload& load = q.work.base;
    const std::string batch = ", batch " + number(load.batch);
    const std::string past = load.past > 0 ? " after " + number(load.past) : "";
    if (unit_of(q) != input_unit::token) return "Forward pass, " + input_words(q.subject, load);
    if (q.work.kind == job_kind::generation)
        return "Request" + batch + ", input " + number(q.work.input) + past + ", output " + number(q.work.output);
    if (q.work.kind == job_kind::requests)
        return "One step of " + number(static_cast<std::int64_t>(q.work.groups.size())) + " groups of requests";
    const char* kind = load.past == 0 ? "Prefill" : load.sequence == 1 ? "Decode" : "Extension";
    if (load.past == 0 && total.cache == count{}) kind = "Forward pass";  // nothing that later tokens could use
    const std::int64_t shown = load.past == 0 ? q.work.media_tokens : 0;
    return kind + batch + ", sequence " + number(load.sequence) + (shown > 0 ? " + " + number(shown) + " shown" : "") + past;
}

/// New tokens of a job, or images, recordings, samples.
inline count tokens_of(const question& q) {
    const workload& load = q.work.base;
    if (unit_of(q) != input_unit::token) return count(load.batch);
    if (q.work.kind == job_kind::generation)
        return count(load.batch) * count(q.work.input + q.work.media_tokens + q.work.output - 1);
    count n;
    if (q.work.kind == job_kind::requests)
        for (const request_group& g : q.work.groups) n += count(g.sequence + g.media_tokens) * count(g.how_many);
    return q.work.kind == job_kind::requests
               ? n
               : count(load.batch) * count(load.sequence + (load.past == 0 ? q.work.media_tokens : 0));
}

/// A scope's line of the page's table.
inline std::string counts_line(std::string_view name, const figures& f) {
    std::vector<std::string> fields;
    for (const std::string_view metric : page_metrics) fields.push_back(scaled(find_metric(metric)->of(f)));
    return table_line(name, fields);
}
inline bool has_counts(const figures& f) {
    for (const std::string_view metric : page_metrics)
        if (find_metric(metric)->of(f) != count{}) return true;
    return false;
}

/// The counts of the whole, then by role.
inline std::string counts_table(const question& q, const roles_read& read) {
    const figures& total = read.sums.total.front();
    std::vector<std::string> titles;
    for (const std::string_view metric : page_metrics)
        titles.push_back(metric == "flops" ? "FLOPs" : title_of(*find_metric(metric)));
    std::string out = table_line("", titles) + counts_line("all", total);
    for (std::size_t i = 0; i < read.chains.size(); ++i) {
        const figures& f = read.at(read.sums.total, i);
        if (has_counts(f)) out += counts_line(std::string(2 + read.depth(i) * 2, ' ') + read.name(i), f);
    }
    const figures rest = read.rest(read.sums.total);
    if (!read.chains.empty() && has_counts(rest)) out += counts_line("  other", rest);
    std::vector<std::string> besides;
    for (const std::string_view name : {"log", "tanh", "erf", "trig", "pow", "neg", "cmp"})
        if (const count n = find_metric(name)->of(total); n != count{})
            besides.push_back(title_of(*find_metric(name)) + ' ' + scaled(n));
    besides.push_back("torch FLOPs " + scaled(total.torch_flops));
    besides.push_back("act " + scaled(total.out));
    out += dim(q, "besides: ") + wrapped(besides, page_width - 9, "         ");
    if (total.unrouted_flops != count{})
        out += "eager runs every expert over every token: " + scaled(total.active_flops()) +
               " of the FLOPs\nare for the experts picked (active_flops)\n";
    return out;
}

/// A whole request: figures by phase.
inline std::string phases_table(const question& q, const job_reading& r) {
    const auto names = column_names(r);
    std::string out = table_line("", names);
    for (const metric& m : metrics) {
        if (m.name == "params" || m.name == "active" || m.name == "weight_bytes" || m.name == "saved_bytes" ||
            m.name == "out" || (m.name == "active_flops" && column(r, 0).front().unrouted_flops == count{}))
            continue;
        std::vector<std::string> fields;
        bool any = false;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const count n = m.of(column(r, i).front());
            any = any || n != count{};
            fields.push_back(m.name.ends_with("cache_bytes") ? in_bytes(n) : scaled(n));
        }
        if (any) out += table_line(m.name == "flops" ? "FLOPs" : title_of(m), fields);
    }
    return out + dim(q, "the cache is what it holds at the end of each") + '\n';
}

inline figures training_step(const question& q) {
    workload step = q.work.base;
    step.training = true;
    return count_model(q.subject, step);
}

/// A training step's own figures by the names of columns.
inline std::vector<named_count> training_figures(const question& q) {
    const figures f = training_step(q);
    figures backward;
    static_cast<primitives<count>&>(backward) = f.backward;
    backward.torch_flops = f.backward_torch_flops;
    std::vector<named_count> out{{"saved_bytes", f.saved_bytes}};
    for (std::size_t i = 0; i < primitive_kinds; ++i)
        out.push_back({"backward_" + std::string(metrics[i].name), metrics[i].of(backward)});
    for (const std::string_view name : {"flops", "torch_flops"})
        out.push_back({"backward_" + std::string(name), find_metric(name)->of(backward)});
    return out;
}

inline std::string training_line(const question& q) {
    const figures f = training_step(q);
    const std::vector<std::string> parts{
        "Training step: " + in_bytes(f.saved_bytes) + " kept for backward",
        "FLOPs " + scaled(f.flops()) + " forward, " + scaled(f.backward.add + f.backward.mult) + " backward",
        "torch FLOPs " + scaled(f.torch_flops) + " forward, " + scaled(f.backward_torch_flops) + " backward"};
    return '\n' + wrapped(parts, page_width, "  ");
}

/// Parameters of the checkpoint's multi-token prediction layers.
inline count mtp_parameters(const question& q) {
    model with = q.subject, without = q.subject;
    with.dims.mtp_layers = q.mtp_layers, without.dims.mtp_layers = 0;
    return count_model(with, {}).params - count_model(without, {}).params;
}

/// What the checkpoint has beside the model that the reference runs.
inline std::string beside_the_model(const question& q) {
    if (q.mtp_layers == 0) return {};
    const bool one = q.mtp_layers == 1;
    const std::string layers = number(q.mtp_layers) + " multi-token prediction layer" + (one ? "" : "s");
    if (q.subject.dims.mtp_layers > 0)
        return '\n' + layers + (one ? " is" : " are") + " counted, under mtp: " + grouped(mtp_parameters(q)) +
               " parameters.\n";
    const std::string them = one ? "it" : "them";
    std::string out = "\nThe checkpoint carries " + layers + (one ? ", which is" : ", which are") +
                      " not counted:\nthe reference leaves " + them + " out.";
    if (q.subject.text_row().predict != nullptr && q.subject.dims.head != head_kind::none)
        out += " --mtp counts " + them + ": " + grouped(mtp_parameters(q)) + " parameters.";
    return out + '\n';
}

/// What the figures rest on: source, convention, workload, element types, assumptions.
inline std::string provenance(const question& q, const roles_read& read) {
    const bool caches = read.sums.total.front().cache != count{};
    const workload& load = q.work.base;
    std::vector<std::string> parts{q.who.source};
    for (const std::string& set : q.overrides) parts.push_back("with " + set);
    if (q.subject.text_row().remote_code)
        parts.push_back(std::string(q.subject.text_row().model_type) + " is " + std::string(not_held));
    if (!q.adapter.empty()) parts.push_back("adapter " + q.adapter);
    parts.emplace_back(load.attention == attention_scores::full ? "eager, full scores" : "causal: visible scores only");
    parts.emplace_back("FLOPs = ADD + MULT");
    if (const input_unit unit = unit_of(q); unit == input_unit::token || unit == input_unit::sound)
        parts.emplace_back(load.head == logits::all    ? "all logits"
                           : load.head == logits::last ? "logits of the last position"
                                                       : "no logits");
    const workload& first = q.phases.front().parts.front().load;
    if (std::find(read.chains.begin(), read.chains.end(), role_chain{role::encoder}) != read.chains.end() &&
        !reads_pixels(q.subject) && load.audio_milliseconds == 0)
        parts.push_back(first.encoder_sequence > 0 ? "encoder reads " + number(first.encoder_sequence)
                                                   : "encoder as long as the decoder");
    if (load.weights == dtype::unspecified && q.subject.dims.type == dtype::unspecified)
        parts.emplace_back("float32 assumed");
    if (q.assumes_sound) parts.push_back(sound_words(load.audio_milliseconds) + " assumed (--audio)");
    if (beyond_context(q.subject, longest_of(q.work, q.phases))) parts.emplace_back("longer than the context");
    if (q.declines_cache && caches) parts.emplace_back("cache counted, though use_cache is false");
    if (q.stored.applied) parts.push_back(q.stored.words);
    if (q.subject.dims.quantized && !q.stored.applied) parts.emplace_back("quantization_config not applied");
    return wrapped(parts, page_width);
}

/// A workload that somebody may want to ask about next.
inline std::string words_to_try(const question& q) {
    const senses& reads = q.subject.kind->reads;
    if (unit_of(q) != input_unit::token) return "--batch 8 --training";
    if (q.work.base.has_media()) return "--input 1000 --output 200";
    return reads.images ? "--image 1024x768" : reads.audio ? "--audio 30" : "--input 1000 --output 200";
}

}  // namespace detail

/// The front page of a model at a workload.
[[nodiscard]] inline std::string front_page(const question& q) {
    const roles_read read = read_roles(q);
    const figures& all = read.sums.total.front();
    std::string out = detail::heading(q, read.root);
    out += detail::side_by_side(q, detail::parameter_lines(q, read), detail::memory_lines(q, all)) + '\n';

    const std::string title = detail::work_title(q, all);
    const count tokens = detail::tokens_of(q);
    const std::string each = "FLOPs per " + std::string(one_input_name(q.subject, q.work.base)) + ' ' +
                             scaled((all.flops() + tokens / count(2)) / tokens);
    const std::size_t used = width_of(title) + width_of(each);
    out += detail::bold(q, title) + std::string(used + 2 <= detail::page_width ? detail::page_width - used : 2, ' ') + each +
           '\n';
    for (const std::string& line : detail::media_lines(q)) out += line + '\n';
    out += detail::inputs_line(q);
    out += q.work.kind == job_kind::generation ? detail::phases_table(q, read.sums) : detail::counts_table(q, read);
    if (q.work.training) out += detail::training_line(q);
    out += detail::beside_the_model(q) + '\n' + detail::dim(q, detail::provenance(q, read));
    return out + detail::dim(q, "ask more: mult attn · --tree · " + detail::words_to_try(q) + " · llmcost --help") + '\n';
}

/// The figures of the front page as a table: the whole model, then every role, then what has none.
///
/// With a training step its bytes and its backward pass stand behind them; they are a whole model's.
[[nodiscard]] inline table front_table(const question& q) {
    const roles_read read = read_roles(q);
    const auto names = detail::column_names(read.sums);
    const auto list = metrics_of(q.asked, false, q.work.base.has_media());
    table t{{{"scope"}}, {}};
    if (names.size() > 1) t.columns.push_back({"phase"});
    for (const metric* m : list) t.columns.push_back({std::string(m->name), true});
    const std::vector<named_count> step = q.work.training ? detail::training_figures(q) : std::vector<named_count>{};
    for (const named_count& f : step) t.columns.push_back({f.name, true});
    const auto add = [&](const std::string& scope, const auto& figures_in) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::vector<std::string> row{scope};
            if (names.size() > 1) row.push_back(names[i]);
            for (const metric* m : list) row.push_back(digits(m->of(figures_in(detail::column(read.sums, i)))));
            for (const named_count& f : step) row.push_back(scope == "all" ? digits(f.value) : "");
            t.rows.push_back(std::move(row));
        }
    };
    add("all", [](const reading& r) { return r.front(); });
    for (std::size_t line = 0; line < read.chains.size(); ++line)
        add(read.path(line), [&](const reading& r) { return read.at(r, line); });
    if (!read.chains.empty()) add("other", [&](const reading& r) { return read.rest(r); });
    return t;
}

}  // namespace llmcost::cli
