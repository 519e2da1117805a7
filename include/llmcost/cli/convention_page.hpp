// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/question.hpp>
#include <llmcost/cli/tables.hpp>
#include <llmcost/conventions/explain.hpp>
#include <llmcost/conventions/held.hpp>
#include <llmcost/report/json_writer.hpp>

// `--convention TOOL`: what another counter prints of the same model and workload.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> convention_words(const program&) {
    std::vector<std::string_view> names;
    for (const convention& c : conventions) names.push_back(c.name);
    return names;
}

}  // namespace detail

namespace option {

inline constexpr option_row convention{"--convention",          value_kind::text, "TOOL", "as another tool counts", {},
                                       detail::convention_words};

}  // namespace option

/// The counter of a name that was typed; throws `usage` with the nearest names where there is none.
[[nodiscard]] inline const llmcost::convention& convention_named(std::string_view option, std::string_view name) {
    if (const llmcost::convention* found = find_convention(lower(name))) return *found;
    nearest_names near(name);
    for (const llmcost::convention& c : conventions) near.offer(c.name);
    refuse(option, "no counter " + in_quotes(name) + near.hint_or_all());
}

/// What llm-profiler reads of the configuration beside sizes.
[[nodiscard]] inline llama3_scaling scaling_of(const read_subject& read) {
    try {
        return read.found.document.read_with(
            [&](config_view root) { return llama3_scaling::read(root, read.subject.dims.head_dim); });
    } catch (const std::exception&) {
        return {};  // what it would make of an odd configuration nobody knows
    }
}

/// A reading in one of the ways in which a counter can be run.
struct counted_way {
    attention_implementation attention{};
    tensors on{};
    convention_reading reading{};
    std::string_view not_held{};
};

[[nodiscard]] inline std::string_view attention_word(attention_implementation a) noexcept {
    return a == attention_implementation::sdpa ? "sdpa" : "eager";
}

/// `eager`, `sdpa, meta tensors`.
[[nodiscard]] inline std::string words_of(const counted_way& way) {
    return std::string(attention_word(way.attention)) + (way.on == tensors::meta ? ", meta" : "");
}

/// What a counter prints of one pass, with one attention and one kind of tensors.
[[nodiscard]] inline counted_way count_as(const llmcost::convention& c, const model& m, workload load,
                                          const llama3_scaling& rope, attention_implementation attention, tensors on) {
    load.implementation = attention;
    counted_way way{attention, on};
    try {
        way.reading = read_convention(c, hear_subject(m, load, rope), on);
    } catch (const description_error&) {
        way.reading.by = &c;
        way.reading.undefined = "llmcost's walk of this model knows no scaled_dot_product_attention";
    }
    if (c.formula == closed_formula::none && load.past > 0)
        way.not_held = "no record of it has tokens in the cache";
    else if (c.formula == closed_formula::none)
        way.not_held = not_held_because({c.name, m.kind->model_type, attention == attention_implementation::sdpa, on});
    return way;
}

/// Every way in which a counter says something else: eager attention and sdpa, and of both with meta tensors.
[[nodiscard]] inline std::vector<counted_way> counted_ways(const llmcost::convention& c, const model& m,
                                                           const workload& load, const llama3_scaling& rope) {
    std::vector<counted_way> ways;
    for (const tensors on : {tensors::real, tensors::meta})
        for (const attention_implementation a : {attention_implementation::eager, attention_implementation::sdpa}) {
            counted_way way = count_as(c, m, load, rope, a, on);
            const auto same = [&](const counted_way& other) {
                if (other.reading.defined() != way.reading.defined()) return false;
                for (std::size_t i = 0; i < way.reading.figures.size(); ++i)
                    if (!(other.reading.figures[i].value == way.reading.figures[i].value)) return false;
                return other.not_held == way.not_held;
            };
            const bool formula = c.formula != closed_formula::none;
            if (ways.empty() || (!formula && !(on == tensors::meta && same(ways[static_cast<std::size_t>(a)]))))
                ways.push_back(std::move(way));
        }
    return ways;
}

namespace detail {

inline void put_way(json_writer& json, const counted_way& way) {
    json.object().member("attention", attention_word(way.attention));
    json.member("tensors", tensors_names[static_cast<std::size_t>(way.on)]);
    json.key("held"), way.reading.by->formula != closed_formula::none ? json.null() : json.value(way.not_held.empty());
    json.key("why_not"), way.not_held.empty() ? json.null() : json.value(way.not_held);
    json.key("undefined"), way.reading.defined() ? json.null() : json.value(way.reading.undefined);
    json.key("figures").object();
    for (const convention_figure& f : way.reading.figures) json.member(f.name, f.value);
    json.end_object();
}

inline std::string_view ours_name(opposite_figure which) {
    constexpr std::string_view names[]{"FLOPs (ADD and MULT)", "MACs", "torch FLOPs of a training step"};
    return names[static_cast<std::size_t>(which)];
}

/// The pass that `--convention` and `why` are of.
inline workload one_pass(const question& q) {
    if (q.work.kind != job_kind::pass) refuse("--convention", "is of one pass: leave out --input and --requests");
    workload load = q.work.base;
    load.weights = load.activations = load.cache = dtype::float32;
    return load;
}

inline std::string workload_words(const model& m, const workload& load) {
    if (unit_of(m, load) != input_unit::token) return input_words(m, load);
    std::string out = "batch " + std::to_string(load.batch) + ", sequence " + std::to_string(load.sequence);
    if (load.past > 0) out += ", " + std::to_string(load.past) + " tokens in the cache";
    return out;
}

}  // namespace detail

/// What a counter prints, in the format that was asked for.
[[nodiscard]] inline std::string convention_page(const question& q, const read_subject& read, const llmcost::convention& c) {
    if (!q.asked.empty()) refuse("--convention", "prints what the tool prints: leave out metrics and scopes");
    if (!q.adapter.empty()) refuse("--convention", "is of a model by itself: leave out --adapter");
    if (q.work.training) refuse("--convention", "prints what the tool prints: leave out --training");
    const workload load = detail::one_pass(q);
    const std::vector<counted_way> ways = counted_ways(c, q.subject, load, scaling_of(read));
    if (q.format == output_format::json) {
        json_writer json;
        json.object().member("model", q.who.name).member("convention", c.name).member("title", c.title);
        json.member("version", c.version).member("counts", c.counts);
        json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past);
        json.key("ways").array();
        for (const counted_way& way : ways) detail::put_way(json, way), json.end_object();
        return json.end_array().end_object().text() + '\n';
    }
    table t{{{"figure"}}, {}};
    for (const counted_way& way : ways)
        t.columns.push_back({c.formula == closed_formula::none ? words_of(way) : std::string("value"), true});
    for (std::size_t i = 0; i < c.figures.size(); ++i) {
        std::vector<std::string> row{std::string(c.figures[i].name)};
        for (const counted_way& way : ways)
            row.push_back(i < way.reading.figures.size() ? digits(way.reading.figures[i].value) : "");
        t.rows.push_back(std::move(row));
    }
    if (q.format != output_format::text) return written(t, q.format);
    std::string out = q.who.name + ", " + detail::workload_words(q.subject, load) + ", as " + std::string(c.title) +
                      " counts\n" + wrapped(std::array{std::string(c.version), std::string(c.counts)}, 80) + '\n';
    bool any = false;
    for (const counted_way& way : ways) any = any || way.reading.defined();
    if (any) out += written(t, q.format);
    for (const counted_way& way : ways) {
        const std::string which = c.formula == closed_formula::none ? words_of(way) + ": " : std::string();
        if (!way.reading.defined())
            out += which + "no answer: " + std::string(way.reading.undefined) + '\n';
        else if (!way.not_held.empty())
            out += which + "not held against the tool: " + std::string(way.not_held) + '\n';
    }
    return out + "\nllmcost why --against " + std::string(c.name) + " says where the difference comes from\n";
}

}  // namespace llmcost::cli
