// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/levels.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/plotted_pass.hpp>
#include <llmcost/cli/commands/training_levels.hpp>
#include <llmcost/graph/levels.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/operator_times.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// The number of inputs per second.
LLMCOST_INLINE double inputs_per_second(const drawn_pass& d) {
    return static_cast<double>(count_inputs(d.subject, d.load)) / d.step_seconds();
}

LLMCOST_INLINE count weight_size(const drawn_pass& d, count parameters) {
    return bytes_of(parameters, storage_types_of(d.subject, d.load).weights);
}

LLMCOST_INLINE std::string model_level(const drawn_pass& d, const model_levels& m) {
    std::string out = title_of(d) + "\nModel\n";
    const auto line = [&](std::string_view name, const std::string& text) {
        out += "  " + left(name, 20) + text + '\n';
    };
    line("parameters", grouped(m.parameters));
    line("size", in_bytes(weight_size(d, m.parameters)));
    line("peak activations", grouped(m.peak_activations) + " at " + printable(m.peak_at));
    line("  of an operation", grouped(m.largest_operation) + " at " + printable(m.largest_at));
    line("total activations", grouped(m.total_activations));
    line("MACs", grouped(m.total.macs()));
    line("FLOPs", grouped(m.total.flops()));
    if (d.target_device == nullptr) return out;
    line("latency",
         duration(d.step_seconds()) + (d.times().host_seconds > d.times().device_seconds ? " (host time)" : ""));
    line("throughput", formatted("%.4g ", inputs_per_second(d)) + std::string(inputs_name(d.subject, d.load)) + "/s");
    line("FLOPS", formatted("%.4g TFLOP/s", static_cast<double>(m.total.flops()) / d.step_seconds() / 1e12));
    return out;
}

/// Layers and operation types, largest first. CSV and JSON have all three levels in one table.
LLMCOST_INLINE table levels_table(const drawn_pass& d, const model_levels& m, bool layers, bool operators, bool data) {
    const bool timed = d.target_device != nullptr;
    table t;
    if (data) t.columns = {{"level"}};
    t.columns.push_back({data ? "name" : layers ? "layer" : "operation"});
    if (data || layers) t.columns.push_back({"class"});
    t.columns.push_back({"times", true});
    if (data || layers)
        for (const char* name : {"params", "size", "activations"}) t.columns.push_back({name, true});
    for (const char* name : {data ? "macs" : "MACs", data ? "flops" : "FLOPs", "bytes"})
        t.columns.push_back({name, true});
    if (timed) t.columns.push_back({data ? "seconds" : "µs", true});
    if (timed && !data) {
        t.columns.push_back({"µs each", true});
        t.columns.push_back({"share", true});
    }
    const auto add_row = [&](const char* level, const std::string& name, const std::string& type, std::uint64_t times,
                             const operator_costs& c, const std::string& params, const std::string& size,
                             const std::string& activations) {
        std::vector<std::string> row;
        if (data) row.emplace_back(level);
        row.push_back(name.empty() && !data ? "(root module)" : name);
        if (data || layers) row.push_back(type);
        row.push_back(std::to_string(times));
        if (data || layers) row.insert(row.end(), {params, size, activations});
        for (const count n : {c.macs(), c.flops(), c.bytes()}) row.push_back(digits(n));
        if (timed) row.push_back(data ? exact(c.seconds) : formatted("%.1f", 1e6 * c.seconds));
        if (timed && !data) {
            row.push_back(formatted("%.1f", 1e6 * c.seconds / static_cast<double>(times)));
            row.push_back(formatted("%.1f %%", 100 * c.seconds / d.times().device_seconds));
        }
        t.rows.push_back(std::move(row));
    };
    if (data)
        add_row("model", d.name_of_model.name, d.graph.modules.front().type, 1, m.total, digits(m.parameters),
                digits(weight_size(d, m.parameters)), digits(m.peak_activations));
    for (const layer_level& l : m.layers)
        if (layers)
            add_row("layer", l.group.name, l.group.type, l.group.times, l.group.costs, digits(l.group.costs.parameters),
                    digits(weight_size(d, l.group.costs.parameters)), digits(l.activations.total()));
    for (const operator_group& o : m.operators)
        if (operators) add_row("operator", o.name, "", o.operations, o.costs, "", "", "");
    return t;
}

LLMCOST_INLINE std::string levels_json(const drawn_pass& d, const model_levels& m) {
    const bool timed = d.target_device != nullptr;
    json_writer json;
    write_pass(json.object(), d);
    const auto timing = [&](const operator_costs& c) {
        json.member("macs", c.macs()).member("flops", c.flops()).member("bytes", c.bytes()).key("seconds");
        timed ? json.value(c.seconds) : json.null();
    };
    json.member("params", m.parameters).member("size", weight_size(d, m.parameters));
    json.member("peak_activations", m.peak_activations).member("peak_at", m.peak_at);
    json.member("largest_operation", m.largest_operation).member("largest_at", m.largest_at);
    json.member("total_activations", m.total_activations)
        .member("macs", m.total.macs())
        .member("flops", m.total.flops());
    json.key("latency");
    timed ? json.value(d.step_seconds()) : json.null();
    json.key(std::string(inputs_name(d.subject, d.load)) + "_per_second");
    timed ? json.value(inputs_per_second(d)) : json.null();
    json.key("flops_per_second");
    timed ? json.value(static_cast<double>(m.total.flops()) / d.step_seconds()) : json.null();
    json.key("layers").array();
    for (const layer_level& l : m.layers) {
        json.object().member("name", l.group.name).member("class", l.group.type).member("times", count(l.group.times));
        json.member("params", l.group.costs.parameters).member("size", weight_size(d, l.group.costs.parameters));
        json.member("activations_in", l.activations.in).member("activations_out", l.activations.out);
        timing(l.group.costs);
        json.end_object();
    }
    json.end_array().key("operators").array();
    for (const operator_group& o : m.operators) {
        json.object().member("name", o.name).member("times", count(o.operations));
        timing(o.costs);
        json.end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output levels_answer(const arguments& args, const program& io) {
    if (args.has(option::training)) return detail::run_training_levels(args, io);
    for (const option_spec& o : {option::optimizer, option::recomputation})
        if (args.has(o)) throw_usage(o.name, "requires --training");
    const auto format = static_cast<output_format>(args.choice(option::format));
    const auto maximum = static_cast<std::size_t>(args.number(option::largest, max_input));
    const drawn_pass d = draw_pass(args, io);
    model_levels m = levels_of(d.graph, d.seconds());
    if (m.layers.size() > maximum) m.layers.resize(maximum);
    if (m.operators.size() > maximum) m.operators.resize(maximum);
    if (format == output_format::json) return {detail::levels_json(d, m)};
    if (format != output_format::text) return {written(detail::levels_table(d, m, true, true, true), format)};
    return {detail::model_level(d, m) + "\nLayers\n" + plain(detail::levels_table(d, m, true, false, false)) +
            "\nOperations\n" + plain(detail::levels_table(d, m, false, true, false))};
}

}  // namespace llmcost::cli
