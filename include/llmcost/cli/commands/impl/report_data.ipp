// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/report_data.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/graph_devices.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/plotted_pass.hpp>
#include <llmcost/cli/commands/step_estimate.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/parse_deployment.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/cli/request/rank_options.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/graph/levels.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/operator_graph.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/operation_times.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// The command line of a report, without its output files.
LLMCOST_INLINE std::string command_of(const arguments& args) {
    std::string out = "llmcost report";
    for (const option_spec& row : args.options()) {
        if (row.is(option::html) || row.is(option::svg)) continue;
        for (const std::string_view value : args.all(row)) {
            out.append(" ").append(row.name);
            const bool plain = value.find_first_of(" '\"\\$`!*?;&|<>(){}[]~#") == std::string_view::npos;
            if (row.type != value_type::none) out += plain ? " " + std::string(value) : " '" + std::string(value) + "'";
        }
    }
    return printable(out);
}

/// The axes of the sweeps: the lists of the command line, or powers of two of batch and sequence.
///
/// The default lengths end at the context length.
LLMCOST_INLINE std::vector<swept_number> swept_numbers(const workload_sweep& lists, const reported& r) {
    const std::int64_t context = r.request.model.config.context_length();
    const std::int64_t high = context > 1 ? context : 131072;
    std::int64_t low = 16;
    while (low * 1024 < high) low *= 2;
    std::vector<swept_number> out;
    const auto add = [&](const option_spec& row, std::int64_t workload::*member, bool usual, std::int64_t first,
                         std::int64_t to) {
        swept_number n{std::string(row.name.substr(2)), member, {}};
        for (const workload_sweep::axis& a : lists.axes())
            if (a.option.is(row)) n.values = a.values;
        for (std::int64_t v = first; usual && !lists.has(row) && v <= to; v *= 2) n.values.push_back(v);
        if (!n.values.empty()) out.push_back(std::move(n));
    };
    const bool cached = r.load().past > 0;
    add(option::sequence, &workload::sequence, r.tokens() && !cached, low, high);
    add(option::past, &workload::past, cached, low, high);
    add(option::batch, &workload::batch, true, 1, 256);
    return out;
}

/// Builds the graph of the pass and estimates its times on the device.
LLMCOST_INLINE reported_pass draw_report(const reported& r, const arguments& args, const program& io) {
    reported_pass p;
    p.load = r.load();
    if (args.text(option::allocator) == torch_engine_name) {
        if (!args.has(option::reported_on)) throw_usage("--engine", "torch requires --device");
        const deployment placed = deployment_of(args, r.read, io);
        complete_torch_graph_workload(args, placed, p.load);
        p.graph = graph_of(r.request.model, p.load);
        const timed_operations timed = time_torch_operations(args, placed, p.load, p.graph.operations.size());
        p.device = {placed.kernels, placed.device, placed.execution};
        p.seconds.forward = timed.times.forward;
        p.torch = timed.torch;
        return p;
    }
    for (const option_spec& o : {option::torch_execution, option::torch_host, option::tf32})
        if (args.has(o)) throw_usage(o.name, "requires --engine torch");
    const bool named = args.has(option::reported_on) || args.has(option::calibration);
    try {
        checkpoint_types types;
        if (args.has(option::dtype))
            types.products = &require_operand_type("--dtype", name_of(p.load.weights));
        else
            types = stored_types_of(r.read.found.document, r.request.model, "--dtype");
        p.device = graph_device_of("--device", args.text(option::reported_on, usual_device), args, types);
        if (p.load.weights == dtype::unspecified)
            p.load.weights = dtype_from(p.device.execution_config.linear_type->name);
        if (p.load.activations == dtype::unspecified)
            p.load.activations = dtype_from(p.device.execution_config.unquantized_type()->name);
        p.seconds.forward = operation_seconds(r.request.model, p.load, p.device.execution_config,
                                              *p.device.target_device, *p.device.kernels);
    } catch (const error& e) {
        if (named) throw;
        p.device = {};
        p.load = r.load();
        p.problem = printable(e.what());
    }
    p.graph = graph_of(r.request.model, p.load);
    return p;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::unique_ptr<reported> read_report(const arguments& typed, std::span<const option_spec> training,
                                                     const program& io) {
    const bool trains = typed.has(option::with_step);
    const bool is_torch = typed.text(option::allocator) == torch_engine_name;
    for (const option_spec& row : training)
        if (typed.has(row) && !trains && !(is_torch && (row.is(option::precision) || row.is(option::implementation))))
            throw_usage(row.name, "requires --training");
    training_plan plan;
    requested_adapter adapter;
    if (trains) {
        plan = detail::parse_training_plan(typed);
        adapter = read_adapter(typed);
    }
    const workload_sweep lists(typed, report_lists);
    const arguments args = lists.at(0);
    (void)parse_workload(args);
    auto out = std::make_unique<reported>(reported{io.read(args, io)});
    reported& r = *out;  // the training step refers to the parsed model, which must not move
    r.request = understand(args, r.read, io.commands);
    workload_request work = r.request.workload;
    require_supported_workload(r.request.model, args, work);
    check_size(r.request.model, r.load());
    r.request.disables_cache = r.read.declines_cache;
    r.request.mtp_layers = r.read.mtp_layers;
    detail::warn_on_weights(r.read, io);
    r.command = detail::command_of(typed);
    r.command_names_device = typed.has(option::reported_on);
    r.roles = compute_role_totals(r.request);
    r.memory_profile =
        detail::profile_for_model(detail::parse_engine_memory_profile(args), args, r.request.model, r.load());
    r.pass = detail::draw_report(r, args, io);
    if (typed.has(option::reported_on)) r.limit = memory_limit_on(*r.pass.device.target_device);
    r.memory_load = r.load();
    r.memory_load.head = logits::last;
    r.memory = ranks_of(r.request.model, r.read.stored, r.memory_load, r.memory_profile).largest(r.memory_load);
    if (trains) {
        workload load = detail::training_workload(args);
        load.sequence = r.load().sequence;
        detail::finish_training_plan(plan, adapter, args, io, r.read, load);
        r.step.emplace(detail::compute_training(args, r.read, load, plan, adapter, r.limit));
        if (is_torch)
            r.step->estimate = detail::estimate_training_step(args, io, load, plan, detail::products_of(args, load));
    }
    r.sweeps = detail::swept_numbers(lists, r);
    return out;
}

}  // namespace llmcost::cli
