// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/torch_ops.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/ops_options.hpp>
#include <llmcost/cli/commands/plotted_pass.hpp>
#include <llmcost/cli/commands/torch_latency.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/operators.hpp>
#include <llmcost/torch/step.hpp>

namespace llmcost::cli::detail {

[[nodiscard]] LLMCOST_INLINE bool precedes(sort_field field, const torch_operator& a, const torch_operator& b) {
    switch (field) {
        case sort_field::name: return profile_name_of(a.kernel) < profile_name_of(b.kernel);
        case sort_field::flops: return a.flops > b.flops;
        case sort_field::bytes: return a.bytes > b.bytes;
        case sort_field::intensity: return a.intensity() > b.intensity();
        case sort_field::time: return a.seconds > b.seconds;
        case sort_field::params:
        case sort_field::saved: break;
    }
    return false;
}

/// The rows that the command line requests. Throws: `usage`.
[[nodiscard]] LLMCOST_INLINE std::vector<torch_operator> requested_torch_operators(const arguments& args,
                                                                                   const torch_step& step) {
    const auto field = static_cast<sort_field>(args.choice(option::sort));
    for (const option_spec& o : {option::bookkeeping, option::expand})
        if (args.has(o)) throw_usage(o.name, "not supported with --engine torch, which lists ATen operators");
    if (args.has(option::sort) && (field == sort_field::params || field == sort_field::saved))
        throw_usage("--sort", "expected name, flops, bytes, intensity or time with --engine torch");
    std::vector<torch_operator> rows =
        torch_operators_of(step, args.has(option::group) ? torch_operator_key::name : torch_operator_key::shapes);
    if (args.has(option::filter)) {
        const std::string_view name = args.text(option::filter);
        std::erase_if(rows, [&](const torch_operator& row) {
            return profile_name_of(row.kernel).find(name) == std::string::npos;
        });
        if (rows.empty()) throw_usage("--filter", "no operator contains " + quote(name));
    }
    if (args.has(option::sort))
        std::ranges::stable_sort(
            rows, [&](const torch_operator& a, const torch_operator& b) { return precedes(field, a, b); });
    const auto maximum = static_cast<std::size_t>(args.number(option::largest, max_input));
    if (rows.size() > maximum) rows.resize(maximum);
    return rows;
}

[[nodiscard]] LLMCOST_INLINE std::string torch_ops_json(const drawn_pass& d, const std::vector<torch_operator>& rows,
                                                        bool is_grouped) {
    json_writer json;
    write_pass(json.object(), d);
    json.key("rows").array();
    for (const torch_operator& row : rows) {
        json.object().member("operator", profile_name_of(row.kernel));
        if (!is_grouped) {
            json.member("phase", step_phase_names[static_cast<std::size_t>(row.kernel.phase)]);
            json.member("dtype", name_of(row.kernel.type));
            write_operands(json, row.kernel);
        }
        json.member("calls", row.calls).member("kernels", row.launches).member("seconds", row.seconds);
        json.member("flops", row.flops).member("bytes", row.bytes).member("intensity", row.intensity()).end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

[[nodiscard]] LLMCOST_INLINE std::string torch_ops_table(const drawn_pass& d, const std::vector<torch_operator>& rows,
                                                         bool is_grouped, output_format format) {
    const bool is_csv = format == output_format::csv;
    table t{{{"operator"}}, {}};
    if (!is_grouped) t.columns.insert(t.columns.end(), {{"phase"}, {"dtype"}, {"operands"}});
    for (const char* name : {"calls", "kernels"}) t.columns.push_back({name, true});
    for (const char* name : {is_csv ? "flops" : "FLOPs", "bytes", is_csv ? "intensity" : "FLOPs/byte"})
        t.columns.push_back({name, true});
    t.columns.push_back({is_csv ? "seconds" : "µs", true});
    if (!is_csv) t.columns.push_back({"share", true});
    const auto add = [&](const torch_operator& o, std::vector<std::string> row) {
        row.push_back(formatted("%.0f", o.calls));
        row.push_back(formatted("%.0f", o.launches));
        row.push_back(digits(o.flops));
        row.push_back(digits(o.bytes));
        row.push_back(is_csv ? exact(o.intensity()) : o.flops == count{} ? "" : formatted("%.2f", o.intensity()));
        row.push_back(is_csv ? exact(o.seconds) : formatted("%.1f", 1e6 * o.seconds));
        if (!is_csv) row.push_back(formatted("%.1f %%", 100 * o.seconds / d.times().device_seconds));
        t.rows.push_back(std::move(row));
    };
    for (const torch_operator& o : rows) {
        std::vector<std::string> row{profile_name_of(o.kernel)};
        if (!is_grouped)
            row.insert(row.end(), {std::string(step_phase_names[static_cast<std::size_t>(o.kernel.phase)]),
                                   std::string(name_of(o.kernel.type)), operands_label(o.kernel)});
        add(o, std::move(row));
    }
    if (is_csv) return csv(t);
    torch_operator all;
    for (const torch_operator& o : torch_operators_of(*d.timed.torch, torch_operator_key::name)) {
        all.calls += o.calls;
        all.launches += o.launches;
        all.seconds += o.seconds;
        all.flops += o.flops;
        all.bytes += o.bytes;
    }
    std::vector<std::string> total{"all"};
    if (!is_grouped) total.resize(4);
    add(all, std::move(total));
    return written(t, format);
}

LLMCOST_INLINE command_output list_torch_operators(const arguments& args, const drawn_pass& d) {
    const bool is_grouped = args.has(option::group);
    const auto format = static_cast<output_format>(args.choice(option::format));
    const std::vector<torch_operator> rows = requested_torch_operators(args, *d.timed.torch);
    if (format == output_format::json) return {torch_ops_json(d, rows, is_grouped)};
    const std::string table = torch_ops_table(d, rows, is_grouped, format);
    return {format == output_format::text ? title_of(d) + '\n' + table : table};
}

}  // namespace llmcost::cli::detail
