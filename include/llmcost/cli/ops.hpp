// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/drawn_pass.hpp>
#include <llmcost/report/metrics.hpp>

// `llmcost ops`: every operation of a pass.
namespace llmcost::cli {

namespace option {

// clang-format off
inline constexpr option_row
    goes_back  {"--backward",    value_kind::none,   "",                        "of a training step, and what goes back", "Rows"},
    bookkeeping{"--bookkeeping", value_kind::none,   "",                        "tensors read in other shapes, too: view, transpose ..."},
    expand     {"--expand",      value_kind::none,   "",                        "every layer by itself"},
    group      {"--group",       value_kind::choice, "kind|module|layer",       "operations taken together"},
    sort       {"--sort",        value_kind::choice, "name|flops|bytes|intensity|params|kept|time", "by name, or largest first (as executed)"},
    filter     {"--filter",      value_kind::text,   "WORD",                    "rows whose name, operation or class has it"};
// clang-format on

}  // namespace option

namespace detail {

enum class sort_field : std::uint8_t { name, flops, bytes, intensity, params, kept, time };

/// What a row is sorted by, largest first.
inline bool comes_before(sort_field by, const row_costs& a, const row_costs& b) {
    switch (by) {
        case sort_field::flops: return a.flops() > b.flops();
        case sort_field::bytes: return a.bytes() > b.bytes();
        case sort_field::intensity: return a.intensity() > b.intensity();
        case sort_field::params: return a.parameters > b.parameters;
        case sort_field::kept: return a.kept > b.kept;
        case sort_field::time: return a.seconds > b.seconds;
        case sort_field::name: break;
    }
    return false;
}

/// Leaves the rows that were asked for, in the order that was asked for.
template <class Row, class Has>
void choose_rows(std::vector<Row>& rows, const arguments& given, Has has) {
    if (given.has(option::filter)) {
        const std::string_view word = given.text(option::filter);
        std::erase_if(rows, [&](const Row& row) { return !has(row, word); });
        if (rows.empty()) refuse("--filter", "no row has " + in_quotes(word) + " in its name, operation or class");
    }
    if (given.has(option::sort)) {
        const auto by = static_cast<sort_field>(given.choice(option::sort));
        std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
            return by == sort_field::name ? a.name < b.name : comes_before(by, a.costs, b.costs);
        });
    }
    const auto most = static_cast<std::size_t>(given.number(option::largest, largest_input));
    if (rows.size() > most) rows.resize(most);
}

/// `4x1024x768`.
inline std::string shape_words(const std::vector<std::int64_t>& sizes) {
    std::string out;
    for (const std::int64_t n : sizes) out += (out.empty() ? "" : "x") + std::to_string(n);
    return out.empty() ? "scalar" : out;
}
/// Integers have no type of their own here.
inline std::string type_words(dtype type) { return type == dtype::unspecified ? "int64" : std::string(name_of(type)); }
/// Shapes one behind the other: parameters in brackets; types where they are to be told.
inline std::string tensors_words(const std::vector<row_tensor>& tensors, bool typed) {
    std::string out;
    for (const row_tensor& t : tensors) {
        std::string one = shape_words(t.sizes);
        if (typed) one += ':' + type_words(t.type);
        out += (out.empty() ? "" : " ") + (t.is_parameter ? '[' + one + ']' : one);
    }
    return out;
}

/// Columns of costs: few for people, all of them else.
class cost_columns {
public:
    cost_columns(bool all, bool kept, bool timed, double whole) : all_(all), kept_(kept), timed_(timed), whole_(whole) {}

    void titles(table& t) const {
        if (all_)
            for (std::size_t k = 0; k < primitive_kinds; ++k) t.columns.push_back({std::string(metrics[k].name), true});
        for (const std::string_view name : all_ ? std::vector<std::string_view>{"flops", "torch_flops", "bytes_read",
                                                                                "bytes_written", "intensity", "params"}
                                                : std::vector<std::string_view>{"FLOPs", "bytes", "FLOPs/byte", "params"})
            t.columns.push_back({std::string(name), true});
        if (kept_) t.columns.push_back({all_ ? "kept_bytes" : "kept bytes", true});
        if (timed_) t.columns.push_back({all_ ? "seconds" : "µs", true});
        if (timed_ && !all_) t.columns.push_back({"share", true});
    }
    /// `moves`: it is known how many bytes are.
    void put(std::vector<std::string>& row, const row_costs& c, bool moves = true) const {
        if (all_) {
            for (const auto member : primitive_members<count>) row.push_back(digits(c.executes.*member));
            for (const count n : {c.flops(), c.torch_flops}) row.push_back(digits(n));
            for (const count n : {c.bytes_read, c.bytes_written}) row.push_back(moves ? digits(n) : "");
            row.push_back(moves ? exact(c.intensity()) : "");
        } else {
            row.push_back(digits(c.flops())), row.push_back(moves ? digits(c.bytes()) : "");
            row.push_back(c.bytes() == count{} ? "" : formatted("%.2f", c.intensity()));
        }
        row.push_back(digits(c.parameters));
        if (kept_) row.push_back(digits(c.kept));
        if (timed_) row.push_back(all_ ? exact(c.seconds) : formatted("%.1f", 1e6 * c.seconds));
        if (timed_ && !all_) row.push_back(formatted("%.1f %%", whole_ > 0 ? 100 * c.seconds / whole_ : 0));
    }

private:
    bool all_, kept_, timed_;
    double whole_;
};

inline void put_costs(json_writer& json, const row_costs& c, bool kept, bool timed, bool moves = true) {
    for (std::size_t k = 0; k < primitive_kinds; ++k) json.member(metrics[k].name, c.executes.*primitive_members<count>[k]);
    json.member("flops", c.flops()).member("torch_flops", c.torch_flops);
    for (const auto& [name, n] : {std::pair{"bytes_read", c.bytes_read}, std::pair{"bytes_written", c.bytes_written}})
        json.key(name), moves ? json.value(n) : json.null();
    json.key("intensity"), moves ? json.value(c.intensity()) : json.null();
    json.member("params", c.parameters);
    json.key("kept_bytes"), kept ? json.value(c.kept) : json.null();
    json.key("seconds"), timed ? json.value(c.seconds) : json.null();
}
inline void put_tensors(json_writer& json, std::string_view name, const std::vector<row_tensor>& tensors) {
    json.key(name).array(true);
    for (const row_tensor& t : tensors) {
        json.object().key("shape").array(true);
        for (const std::int64_t n : t.sizes) json.value(n);
        json.end_array().member("dtype", type_words(t.type)).member("parameter", t.is_parameter).end_object();
    }
    json.end_array();
}

/// What of `llmcost ops` is asked for besides the pass.
struct asked_rows {
    table_choice choice{};
    bool grouped = false;
    row_group by = row_group::kind;
    output_format format = output_format::text;
};
inline asked_rows read_rows(const arguments& given) {
    asked_rows a;
    a.choice = {given.has(option::goes_back), given.has(option::bookkeeping), given.has(option::expand)};
    a.grouped = given.has(option::group);
    a.by = static_cast<row_group>(given.choice(option::group));
    a.format = static_cast<output_format>(given.choice(option::format));
    if (a.grouped && a.choice.views) refuse("--bookkeeping", "costs nothing, so that groups have no rows of it");
    const auto by = static_cast<sort_field>(given.choice(option::sort));
    if (by == sort_field::time && !given.has(option::timed_on)) refuse("--sort", "time needs --device");
    if (by == sort_field::kept && given.has(option::sort) && !a.choice.backward)
        refuse("--sort", "kept needs --backward: inference keeps nothing");
    return a;
}

inline std::string ops_json(const drawn_pass& d, const asked_rows& asked, const operator_table& t,
                            const std::vector<operator_group>& groups) {
    const bool kept = asked.choice.backward, timed = d.on != nullptr;
    json_writer json;
    put_pass(json.object(), d);
    json.key("forward").object(), put_costs(json, t.forward, kept, timed), json.end_object();
    json.key("backward");
    if (asked.choice.backward)
        json.object(), put_costs(json, t.backward, false, timed, false), json.end_object();
    else
        json.null();
    json.member("unread_params", t.unread);
    if (asked.grouped) {
        json.key("groups").array();
        for (const operator_group& g : groups) {
            json.object().member("name", g.name).member("class", g.type).member("times", count(g.times));
            json.member("operations", count(g.operations)), put_costs(json, g.costs, kept, timed), json.end_object();
        }
    } else {
        json.key("rows").array();
        for (const operator_row& row : t.rows) {
            json.object().member("name", row.name).member("op", row.kind).member("op_type", name_of(row.what));
            json.member("target", row.target).member("times", count(row.times));
            put_tensors(json, "inputs", row.inputs), put_tensors(json, "outputs", row.outputs);
            put_costs(json, row.costs, kept, timed, row.what != row_kind::backward), json.end_object();
        }
    }
    return json.end_array().end_object().text() + '\n';
}

/// The table, which ends for people with what all of its rows would be.
inline std::string ops_table(const drawn_pass& d, const asked_rows& asked, const operator_table& rows,
                             const std::vector<operator_group>& groups) {
    const bool all = asked.format == output_format::csv;
    row_costs whole = rows.forward;
    if (asked.choice.backward) whole += rows.backward;
    const cost_columns costs(all, asked.choice.backward, d.on != nullptr, whole.seconds);
    table t;
    if (asked.grouped)
        t.columns = {{asked.by == row_group::kind ? "op" : "module"}, {"class"}, {"times", true}, {"ops", true}};
    else
        t.columns = {{"name"}, {"op"}, {"op_type"}, {"target"}, {"times", true}, {"inputs"}, {"outputs"}};
    if (asked.grouped && asked.by == row_group::kind) t.columns = {{"op"}, {"ops", true}};
    if (!asked.grouped && !all) t.columns = {{"name"}, {"target"}, {"times", true}, {"inputs"}, {"outputs"}};
    costs.titles(t);
    const std::size_t before = t.columns.size();
    for (const operator_group& g : groups) {
        std::vector<std::string> row{g.name.empty() ? "(the model itself)" : g.name};
        if (asked.by != row_group::kind) row.push_back(g.type), row.push_back(std::to_string(g.times));
        row.push_back(std::to_string(g.operations));
        costs.put(row, g.costs);
        t.rows.push_back(std::move(row));
    }
    for (const operator_row& r : rows.rows) {
        if (asked.grouped) break;
        std::vector<std::string> row{r.name};
        if (all) row.emplace_back(r.kind), row.emplace_back(name_of(r.what));
        for (std::string part :
             {r.target, std::to_string(r.times), tensors_words(r.inputs, all), tensors_words(r.outputs, all)})
            row.push_back(std::move(part));
        costs.put(row, r.costs, r.what != row_kind::backward);
        t.rows.push_back(std::move(row));
    }
    if (all) return csv(t);
    std::vector<std::string> total{"all"};
    std::vector<std::string> figures;
    costs.put(figures, whole);
    total.resize(before - figures.size());
    total.insert(total.end(), figures.begin(), figures.end());
    t.rows.push_back(std::move(total));
    return written(t, asked.format);
}

}  // namespace detail

/// What `llmcost ops …` prints.
[[nodiscard]] inline answered ops_answer(const arguments& given, const program& io) {
    const detail::asked_rows asked = detail::read_rows(given);
    const drawn_pass d = draw_pass(given, io, asked.choice.backward);
    const seconds_of_operations seconds = d.seconds();
    operator_table rows = operator_table_of(d.graph, asked.choice, seconds);
    std::vector<operator_group> groups;
    if (asked.grouped) {
        groups = operator_groups_of(d.graph, asked.by, asked.choice, seconds);
        detail::choose_rows(groups, given, [](const operator_group& g, std::string_view word) {
            return g.name.find(word) != std::string::npos || g.type.find(word) != std::string::npos;
        });
    } else {
        detail::choose_rows(rows.rows, given, [](const operator_row& r, std::string_view word) {
            return r.name.find(word) != std::string::npos || r.target.find(word) != std::string::npos ||
                   std::string_view(r.kind).find(word) != std::string_view::npos || name_of(r.what) == word;
        });
    }
    if (asked.format == output_format::json) return {detail::ops_json(d, asked, rows, groups)};
    const std::string table = detail::ops_table(d, asked, rows, groups);
    return {asked.format == output_format::text ? title_of(d) + '\n' + table : table};
}

inline constexpr std::array ops_options =
    joined(pass_options,
           std::array{option::goes_back, option::bookkeeping, option::expand, option::group, option::sort, option::filter,
                      option::largest, option::format},
           help_option);

inline constexpr std::array<example_row, 3> ops_examples{{
    {"llmcost ops --model openai-community/gpt2 --batch 4", "a row for each operation, like layers folded"},
    {"llmcost ops --model Qwen/Qwen3-8B --device h200 --sort time --top 10", "the ten that take longest"},
    {"llmcost ops --model Qwen/Qwen3-8B --backward --group kind --sort kept", "what is kept for backward, by operation"},
}};

inline constexpr command ops_command{
    .name = "ops",
    .meaning = "every operation of a pass: shapes, arithmetic, bytes, time",
    .usage = "(--model NAME | --config FILE) [option]...",
    .about = "The operations of a forward pass, one by one, as the reference executes them.\n",
    .options = ops_options,
    .answer = ops_answer,
    .examples = ops_examples};

}  // namespace llmcost::cli
