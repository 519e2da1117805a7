// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/plotted_pass.hpp>

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/default_command.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/commands/torch_latency.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/parse_deployment.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/operator_graph.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/operator_times.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// The execution of single operations in the element types of a workload.
LLMCOST_INLINE execution eager_on(const deployment& p, const arguments& args, workload& load) {
    execution execution = p.execution;
    if (args.has(option::dtype)) {
        const operand_type* const type = &require_operand_type("--dtype", name_of(load.weights));
        execution = execution_of({}, *p.device, {type, type}, {}, launch_mode::eager);
    }
    execution.launch = launch_mode::eager;
    if (load.weights == dtype::unspecified) load.weights = dtype_from(execution.linear_type->name);
    if (load.activations == dtype::unspecified) load.activations = dtype_from(execution.unquantized_type()->name);
    return execution;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE drawn_pass draw_pass(const arguments& args, const program& io, bool training) {
    drawn_pass d;
    workload_request work = parse_workload(args);
    d.load = work.base_workload;
    execution execution;
    const bool is_torch = detail::has_torch_engine(args);
    deployment p;
    if (args.has(option::timed_on)) {
        p = io.place(args, io);
        d.subject = p.model;
        d.custom = p.custom;
        d.name_of_model = p.name_of_model;
        d.target_device = p.device;
        d.kernels = p.kernels;
        if (!is_torch) execution = detail::eager_on(p, args, d.load);
        d.on_title = printable(d.target_device->title);
    } else {
        if (args.has(option::calibration)) throw_usage(option::calibration.name, "requires --device");
        parsed_model read = io.read(args, io);
        d.subject = read.subject;
        d.custom = std::move(read.custom);
        d.name_of_model = std::move(read.found.name_of_model);
    }
    if (training && d.load.past > 0)
        throw_usage(option::past.name, "not supported in training: backward through a KV cache");
    d.load.training = training;
    complete_workload(d.subject, args, d.load);
    work.base_workload = d.load;
    require_supported_workload(d.subject, args, work);
    check_size(d.subject, d.load);
    if (is_torch) detail::complete_torch_graph_workload(args, p, d.load);
    d.graph = graph_of(d.subject, d.load);
    if (is_torch)
        d.timed = detail::time_torch_operations(args, p, d.load, d.graph.operations.size());
    else if (d.target_device != nullptr)
        d.timed.times = operator_times_of(d.subject, d.load, execution, *d.target_device, *d.kernels);
    if (is_torch && !p.dtype_warning.empty())
        io.err << "llmcost: warning: " << p.name_of_model.name << ": " << p.dtype_warning << '\n';
    warn_if_context_exceeded(io.err, d.name_of_model.name, d.subject,
                             std::max(d.load.past + d.load.sequence, d.load.encoder_sequence));
    return d;
}

LLMCOST_INLINE std::string title_of(const drawn_pass& d) {
    std::string out = printable(d.name_of_model.name) + ", " + detail::step_label(d.subject, d.load) + ", " +
                      std::string(name_of(storage_types_of(d.subject, d.load).activations));
    if (d.target_device == nullptr) return out + '\n';
    if (d.timed.torch) return out + " on " + d.on_title + '\n' + detail::torch_method_line(*d.timed.torch);
    out += "\nOperations executed one by one on " + d.on_title + ": " + detail::duration(d.times().device_seconds) +
           "; " + grouped(count(d.times().kernels)) + " kernels, " + detail::duration(d.times().host_seconds) +
           " host time\n";
    return out;
}

LLMCOST_INLINE void write_pass(json_writer& json, const drawn_pass& d) {
    const storage_types types = storage_types_of(d.subject, d.load);
    json.member("model", d.name_of_model.name).member("batch", d.load.batch);
    if (unit_of(d.subject, d.load) == input_unit::token)
        json.member("sequence", d.load.sequence).member("past", d.load.past);
    json.member("dtype", name_of(types.weights)).member("activation_dtype", name_of(types.activations));
    json.key("device");
    d.target_device == nullptr ? json.null() : json.value(d.target_device->names[0]);
    if (d.timed.torch) json.member("engine", torch_engine_name);
    json.key("seconds");
    d.target_device == nullptr ? json.null() : json.value(d.times().device_seconds);
    json.key("host_seconds");
    d.target_device == nullptr ? json.null() : json.value(d.times().host_seconds);
    json.key("kernels");
    d.target_device == nullptr ? json.null() : json.value(count(d.times().kernels));
}

LLMCOST_INLINE std::string exact(double x) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.begin(), digits.end(), x).ptr};
}

}  // namespace llmcost::cli
