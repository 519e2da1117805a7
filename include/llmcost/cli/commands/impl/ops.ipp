// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/ops.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/plotted_pass.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/commands/torch_ops.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE bool precedes(sort_field field, const operator_costs& a, const operator_costs& b) {
    switch (field) {
        case sort_field::flops: return a.flops() > b.flops();
        case sort_field::bytes: return a.bytes() > b.bytes();
        case sort_field::intensity: return a.intensity() > b.intensity();
        case sort_field::params: return a.parameters > b.parameters;
        case sort_field::saved: return a.saved_bytes > b.saved_bytes;
        case sort_field::time: return a.seconds > b.seconds;
        case sort_field::name: break;
    }
    return false;
}

/// `4x1024x768`.
LLMCOST_INLINE std::string shape_text(const std::vector<std::int64_t>& sizes) {
    std::string out;
    for (const std::int64_t n : sizes) out += (out.empty() ? "" : "x") + std::to_string(n);
    return out.empty() ? "scalar" : out;
}

/// The name of an element type; integers have no `dtype` and are int64.
LLMCOST_INLINE std::string dtype_text(dtype type) {
    return type == dtype::unspecified ? "int64" : std::string(name_of(type));
}

/// The shapes of tensors; parameters are in brackets. Element types are optional.
LLMCOST_INLINE std::string tensors_text(const std::vector<operator_tensor>& tensors, bool typed) {
    std::string out;
    for (const operator_tensor& t : tensors) {
        std::string one = shape_text(t.sizes);
        if (typed) one += ':' + dtype_text(t.type);
        out += (out.empty() ? "" : " ") + (t.is_parameter ? '[' + one + ']' : one);
    }
    return out;
}

LLMCOST_INLINE void cost_columns::titles(table& t) const {
    if (has_all_columns_)
        for (std::size_t k = 0; k < num_primitives; ++k) t.columns.push_back({std::string(metrics[k].name), true});
    for (const std::string_view name : has_all_columns_
                                           ? std::vector<std::string_view>{"flops", "torch_flops", "bytes_read",
                                                                           "bytes_written", "intensity", "params"}
                                           : std::vector<std::string_view>{"FLOPs", "bytes", "FLOPs/byte", "params"})
        t.columns.push_back({std::string(name), true});
    if (has_saved_) t.columns.push_back({has_all_columns_ ? "kept_bytes" : "saved bytes", true});
    if (has_times_) t.columns.push_back({has_all_columns_ ? "seconds" : "µs", true});
    if (has_times_ && !has_all_columns_) t.columns.push_back({"share", true});
}

LLMCOST_INLINE void cost_columns::append(std::vector<std::string>& row, const operator_costs& c, bool moves) const {
    if (has_all_columns_) {
        for (const auto member : primitive_members<count>) row.push_back(digits(c.executes.*member));
        for (const count n : {c.flops(), c.torch_flops}) row.push_back(digits(n));
        for (const count n : {c.bytes_read, c.bytes_written}) row.push_back(moves ? digits(n) : "");
        row.push_back(moves ? exact(c.intensity()) : "");
    } else {
        row.push_back(digits(c.flops()));
        row.push_back(moves ? digits(c.bytes()) : "");
        row.push_back(c.bytes() == count{} ? "" : formatted("%.2f", c.intensity()));
    }
    row.push_back(digits(c.parameters));
    if (has_saved_) row.push_back(digits(c.saved_bytes));
    if (has_times_) row.push_back(has_all_columns_ ? exact(c.seconds) : formatted("%.1f", 1e6 * c.seconds));
    if (has_times_ && !has_all_columns_)
        row.push_back(formatted("%.1f %%", total_seconds_ > 0 ? 100 * c.seconds / total_seconds_ : 0));
}

LLMCOST_INLINE void write_costs(json_writer& json, const operator_costs& c, bool has_saved, bool timed,
                                bool moves = true) {
    for (std::size_t k = 0; k < num_primitives; ++k)
        json.member(metrics[k].name, c.executes.*primitive_members<count>[k]);
    json.member("flops", c.flops()).member("torch_flops", c.torch_flops);
    for (const auto& [name, n] : {std::pair{"bytes_read", c.bytes_read}, std::pair{"bytes_written", c.bytes_written}}) {
        json.key(name);
        moves ? json.value(n) : json.null();
    }
    json.key("intensity");
    moves ? json.value(c.intensity()) : json.null();
    json.member("params", c.parameters);
    json.key("kept_bytes");
    has_saved ? json.value(c.saved_bytes) : json.null();
    json.key("seconds");
    timed ? json.value(c.seconds) : json.null();
}

LLMCOST_INLINE void write_row_tensors(json_writer& json, std::string_view name,
                                      const std::vector<operator_tensor>& tensors) {
    json.key(name).array(true);
    for (const operator_tensor& t : tensors) {
        json.object().key("shape").array(true);
        for (const std::int64_t n : t.sizes) json.value(n);
        json.end_array().member("dtype", dtype_text(t.type)).member("parameter", t.is_parameter).end_object();
    }
    json.end_array();
}

/// Adds the loss and the optimizer of a training step of PyTorch, which are not in its graph.
LLMCOST_INLINE void add_groups_outside_graph(std::vector<operator_group>& groups, const timed_operations& timed) {
    for (const auto& [name, seconds] :
         {std::pair{"(loss)", timed.loss_seconds}, std::pair{"(optimizer)", timed.optimizer_seconds}}) {
        if (!(seconds > 0)) continue;
        operator_group& group = groups.emplace_back();
        group.name = name;
        group.costs.seconds = seconds;
    }
}

LLMCOST_INLINE requested_rows read_rows(const arguments& args) {
    requested_rows a;
    a.choice = {args.has(option::backward), args.has(option::bookkeeping), args.has(option::expand)};
    a.grouped = args.has(option::group);
    a.group_by = static_cast<row_group>(args.choice(option::group));
    a.format = static_cast<output_format>(args.choice(option::format));
    if (a.grouped && a.choice.views)
        throw_usage("--bookkeeping", "cannot be combined with --group: bookkeeping operations have no cost");
    const auto field = static_cast<sort_field>(args.choice(option::sort));
    if (args.text(option::operations_engine) == torch_engine_name && a.choice.backward)
        throw_usage("--backward", "cannot be combined with --engine torch; use --training");
    if (field == sort_field::time && !args.has(option::timed_on)) throw_usage("--sort", "time requires --device");
    if (field == sort_field::saved && args.has(option::sort) && !a.choice.backward)
        throw_usage("--sort", "kept requires --backward");
    return a;
}

LLMCOST_INLINE std::string ops_json(const drawn_pass& d, const requested_rows& request, const operator_table& t,
                                    const std::vector<operator_group>& groups) {
    const bool has_saved = request.choice.backward, timed = d.target_device != nullptr;
    json_writer json;
    write_pass(json.object(), d);
    json.key("forward").object();
    write_costs(json, t.forward, has_saved, timed);
    json.end_object();
    json.key("backward");
    if (request.choice.backward) {
        json.object();
        write_costs(json, t.backward, false, timed, false);
        json.end_object();
    } else
        json.null();
    json.member("unread_params", t.unread);
    if (request.grouped) {
        json.key("groups").array();
        for (const operator_group& g : groups) {
            json.object().member("name", g.name).member("class", g.type).member("times", count(g.times));
            json.member("operations", count(g.operations));
            write_costs(json, g.costs, has_saved, timed);
            json.end_object();
        }
    } else {
        json.key("rows").array();
        for (const operator_row& row : t.rows) {
            json.object().member("name", row.name).member("op", row.kind).member("op_type", name_of(row.row_type));
            json.member("target", row.target).member("times", count(row.times));
            write_row_tensors(json, "inputs", row.inputs);
            write_row_tensors(json, "outputs", row.outputs);
            write_costs(json, row.costs, has_saved, timed, row.row_type != operator_row_kind::backward);
            json.end_object();
        }
    }
    return json.end_array().end_object().text() + '\n';
}

/// The table of operations; the text output ends with a row of totals.
LLMCOST_INLINE std::string ops_table(const drawn_pass& d, const requested_rows& request, const operator_table& rows,
                                     const std::vector<operator_group>& groups) {
    const bool all = request.format == output_format::csv;
    operator_costs step_total = rows.forward;
    if (request.choice.backward) step_total += rows.backward;
    step_total.seconds += d.timed.loss_seconds + d.timed.optimizer_seconds;
    const cost_columns costs(all, request.choice.backward, d.target_device != nullptr, step_total.seconds);
    table t;
    if (request.grouped)
        t.columns = {
            {request.group_by == row_group::kind ? "op" : "module"}, {"class"}, {"times", true}, {"ops", true}};
    else
        t.columns = {{"name"}, {"op"}, {"op_type"}, {"target"}, {"times", true}, {"inputs"}, {"outputs"}};
    if (request.grouped && request.group_by == row_group::kind) t.columns = {{"op"}, {"ops", true}};
    if (!request.grouped && !all) t.columns = {{"name"}, {"target"}, {"times", true}, {"inputs"}, {"outputs"}};
    costs.titles(t);
    const std::size_t num_columns = t.columns.size();
    for (const operator_group& g : groups) {
        std::vector<std::string> row{g.name.empty() ? "(root module)" : g.name};
        if (request.group_by != row_group::kind) {
            row.push_back(g.type);
            row.push_back(std::to_string(g.times));
        }
        row.push_back(std::to_string(g.operations));
        costs.append(row, g.costs);
        t.rows.push_back(std::move(row));
    }
    for (const operator_row& r : rows.rows) {
        if (request.grouped) break;
        std::vector<std::string> row{r.name};
        if (all) {
            row.emplace_back(r.kind);
            row.emplace_back(name_of(r.row_type));
        }
        for (std::string part :
             {r.target, std::to_string(r.times), tensors_text(r.inputs, all), tensors_text(r.outputs, all)})
            row.push_back(std::move(part));
        costs.append(row, r.costs, r.row_type != operator_row_kind::backward);
        t.rows.push_back(std::move(row));
    }
    if (all) return csv(t);
    std::vector<std::string> total{"all"};
    std::vector<std::string> figures;
    costs.append(figures, step_total);
    total.resize(num_columns - figures.size());
    total.insert(total.end(), figures.begin(), figures.end());
    t.rows.push_back(std::move(total));
    return written(t, request.format);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_ops(const arguments& args, const program& io) {
    detail::requested_rows request = detail::read_rows(args);
    const bool is_torch_training = args.has(option::training);
    if (args.has(option::optimizer) && !is_torch_training) throw_usage(option::optimizer.name, "requires --training");
    const drawn_pass d = draw_pass(args, io, request.choice.backward || is_torch_training);
    if (d.timed.torch && (!request.grouped || request.group_by == row_group::kind))
        return detail::list_torch_operators(args, d);
    request.choice.backward = request.choice.backward || is_torch_training;
    const seconds_of_operations seconds = d.seconds();
    operator_table rows = operator_table_of(d.graph, request.choice, seconds);
    std::vector<operator_group> groups;
    if (request.grouped) {
        groups = operator_groups_of(d.graph, request.group_by, request.choice, seconds);
        detail::add_groups_outside_graph(groups, d.timed);
        detail::choose_rows(groups, args, [](const operator_group& g, std::string_view name) {
            return g.name.find(name) != std::string::npos || g.type.find(name) != std::string::npos;
        });
    } else {
        detail::choose_rows(rows.rows, args, [](const operator_row& r, std::string_view name) {
            return r.name.find(name) != std::string::npos || r.target.find(name) != std::string::npos ||
                   std::string_view(r.kind).find(name) != std::string_view::npos || name_of(r.row_type) == name;
        });
    }
    if (request.format == output_format::json) return {detail::ops_json(d, request, rows, groups)};
    const std::string table = detail::ops_table(d, request, rows, groups);
    return {request.format == output_format::text ? title_of(d) + '\n' + table : table};
}

}  // namespace llmcost::cli
