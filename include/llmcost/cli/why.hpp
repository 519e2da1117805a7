// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/convention_page.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/understand.hpp>

// `llmcost why`: where the difference to another counter comes from.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_row
    counter          {"--against",                  value_kind::text,   "TOOL",       "one counter, line by line (a table of all)", "Counter", detail::convention_words},
    counted_attention{"--attention-implementation", value_kind::choice, "eager|sdpa", "how attention is called"},
    counted_tensors  {"--tensors-as",               value_kind::choice, "real|meta",  "what the counter was run on"};
// clang-format on

}  // namespace option

namespace detail {

/// `+12`, `-3`, `0`: theirs less ours.
inline std::string signed_difference(count ours, count theirs) {
    if (ours == theirs) return "0";
    return ours > theirs ? '-' + digits(ours - theirs) : '+' + digits(theirs - ours);
}
inline std::string times_words(count ours, count theirs) {
    return ours == count{} ? "" : formatted("%.4g", static_cast<double>(theirs) / static_cast<double>(ours));
}

inline std::string why_json(const question& q, const workload& load, const std::vector<counted_way>& all) {
    json_writer json;
    json.object().member("model", q.who.name);
    json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past);
    json.key("counters").array();
    for (const counted_way& way : all) {
        const convention_reading& r = way.reading;
        put_way(json, way);
        json.member("convention", r.by->name).member("version", r.by->version);
        json.member("compared_with", ours_name(r.by->compared));
        json.key("ours"), r.defined() ? json.value(r.ours) : json.null();
        json.key("theirs"), r.defined() ? json.value(r.theirs()) : json.null();
        json.key("lines").array();
        for (const difference_line& line : r.lines) {
            json.object().member("what", line.what).member("ours", line.ours).member("theirs", line.theirs);
            json.member("difference", signed_difference(line.ours, line.theirs));
            json.member("reason", line.reason).member("source", line.source).end_object();
        }
        json.end_array().end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

/// All counters, a line each.
inline std::string every_counter(const question& q, const workload& load, const std::vector<counted_way>& all) {
    table t{{{"counter"}, {"figure"}, {"theirs", true}, {"ours", true}, {"ratio", true}, {"held"}}, {}};
    for (const counted_way& way : all) {
        const convention_reading& r = way.reading;
        const bool formula = r.by->formula != closed_formula::none;
        const std::string held = !r.defined() ? "no answer" : formula ? "formula" : way.not_held.empty() ? "yes" : "no";
        std::vector<std::string> row{std::string(r.by->name), std::string(r.by->figures.front().name)};
        for (const std::string& s :
             {r.defined() ? digits(r.theirs()) : std::string(), r.defined() ? digits(r.ours) : std::string(),
              r.defined() ? times_words(r.ours, r.theirs()) : std::string(), held})
            row.push_back(s);
        t.rows.push_back(std::move(row));
    }
    if (q.format != output_format::text) return written(t, q.format);
    return q.who.name + ", " + workload_words(q.subject, load) + ", " + std::string(attention_word(all.front().attention)) +
           " attention\n" + written(t, q.format) +
           "\nheld: the counter's own output for this model type is among llmcost's tests\n"
           "line by line: llmcost why --against COUNTER\n";
}

/// One counter, line by line.
inline std::string one_counter(const question& q, const workload& load, const counted_way& way) {
    const convention_reading& r = way.reading;
    const bool text = q.format == output_format::text;
    table t{{{"what"}, {"ours", true}, {"theirs", true}, {"difference", true}, {"reason"}}, {}};
    if (!text) t.columns.push_back({"source"});
    std::vector<std::string> sources;
    for (const difference_line& line : r.lines) {
        std::vector<std::string> row{line.what, digits(line.ours), digits(line.theirs),
                                     signed_difference(line.ours, line.theirs), std::string(line.reason)};
        if (!text) row.emplace_back(line.source);
        t.rows.push_back(std::move(row));
        if (std::find(sources.begin(), sources.end(), line.source) == sources.end()) sources.emplace_back(line.source);
    }
    t.rows.push_back({"all", digits(r.ours), digits(r.theirs()), signed_difference(r.ours, r.theirs()), ""});
    if (!text) t.rows.back().emplace_back();
    if (!text) return written(t, q.format);
    std::string out =
        q.who.name + ", " + workload_words(q.subject, load) + ": " + std::string(r.by->title) + " against llmcost\n";
    if (!r.defined()) return out + "no answer: " + std::string(r.undefined) + '\n';
    const bool formula = r.by->formula != closed_formula::none;
    std::vector<std::string> parts{std::string(r.by->version), "ours: " + std::string(ours_name(r.by->compared)),
                                   "theirs: " + std::string(r.by->figures.front().name)};
    if (!formula) parts.push_back(words_of(way));
    out += wrapped(parts, 80);
    if (!way.not_held.empty()) out += "not held against the tool: " + std::string(way.not_held) + '\n';
    return out + '\n' + written(t, q.format) + "\nsources: " + wrapped(sources, 71, "         ");
}

}  // namespace detail

/// What `llmcost why` prints.
[[nodiscard]] inline answered why_answer(const arguments& given, const program& io) {
    const llmcost::convention* const asked =
        given.has(option::counter) ? &convention_named("--against", given.text(option::counter)) : nullptr;
    const read_subject read = io.read(given, io);
    const question q = understand(given, read, io.commands);
    if (!q.asked.empty()) refuse("why", "is of a whole model: leave out metrics and scopes");
    const workload load = detail::one_pass(q);
    const auto attention = static_cast<attention_implementation>(given.choice(option::counted_attention));
    const tensors on = given.choice(option::counted_tensors) == 1 ? tensors::meta : tensors::real;
    const llama3_scaling rope = scaling_of(read);
    std::vector<counted_way> all;
    for (const llmcost::convention& c : conventions)
        if (asked == nullptr || asked == &c) all.push_back(count_as(c, q.subject, load, rope, attention, on));
    if (q.format == output_format::json) return detail::why_json(q, load, all);
    return asked == nullptr ? detail::every_counter(q, load, all) : detail::one_counter(q, load, all.front());
}

inline constexpr std::array why_options =
    joined(model_options, std::array{option::counter, option::counted_attention, option::counted_tensors},
           std::array{option::batch, option::sequence, option::past, option::encoder_sequence, option::image, option::images, option::video, option::videos, option::audio, option::logits,
                      option::format},
           help_option);

inline constexpr std::array<example_row, 3> why_examples{{
    {"llmcost why --model meta-llama/Llama-3.2-1B --batch 16 --sequence 200", "what every counter says"},
    {"llmcost why --model openai-community/gpt2 --against calflops", "line by line, until nothing is left"},
    {"llmcost why --model Qwen/Qwen3-0.6B --against thop --format json", "for a script"},
}};

inline constexpr command why_command{
    .name = "why",
    .meaning = "why another counter says something else",
    .usage = "(--model NAME | --config FILE) [--against TOOL] [option]...",
    .about =
        "What other counters print of the same pass, and line by line where the difference\n"
        "comes from: operations, ours, theirs, the reason and the line of the tool's source.\n",
    .options = why_options,
    .answer = why_answer,
    .examples = why_examples};

}  // namespace llmcost::cli
