// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/graph.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/output_file.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/graph_devices.hpp>
#include <llmcost/cli/commands/graph_page.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/commands/torch_latency.hpp>
#include <llmcost/cli/commands/torch_trace.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/parse_deployment.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/backward_graph.hpp>
#include <llmcost/graph/execution_trace.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/operator_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/graph/split.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/chrome_trace.hpp>
#include <llmcost/report/edgeshard.hpp>
#include <llmcost/report/graph_drawing.hpp>
#include <llmcost/report/graph_json.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/operation_times.hpp>
#include <llmcost/serving/operator_times.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/serving/timeline.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string graph_request::title() const {
    return printable(read.found.name_of_model.name) + ", " + input_label(read.subject, load) +
           (load.past > 0 ? " after " + grouped(count(load.past)) : "") +
           (device ? " on " + printable(device->target_device->title) : std::string());
}

LLMCOST_INLINE workload graph_workload(const arguments& args) {
    workload_request work = parse_workload(args);
    work.base_workload.weights = dtype_from(string_ref(lower(args.text(option::linear_dtype))));
    work.base_workload.training = args.has(option::train_graph);
    if (work.base_workload.training && work.base_workload.past > 0)
        throw_usage(option::past.name, "not supported in training: backward through a KV cache");
    return work.base_workload;
}

/// The time of each operation. A backward operation has the backward time of its forward operation.
///
/// The time of a backward that is no operation of the graph belongs to the forward operation.
[[nodiscard]] LLMCOST_INLINE std::vector<double> seconds_in_graph(const operator_graph& graph,
                                                                  const operator_times& times) {
    std::vector<double> seconds = times.forward, backward = times.backward;
    for (std::size_t i = seconds.size(); i < graph.operations.size(); ++i) {
        const std::int32_t forward_index = graph.operations[i].backward_of;
        seconds.push_back(forward_index < 0 ? 0 : std::exchange(at_place(backward, forward_index), 0));
    }
    for (std::size_t i = 0; i < backward.size(); ++i) seconds[i] += backward[i];
    return seconds;
}

/// The number of forward operations, which precede those of backward.
[[nodiscard]] LLMCOST_INLINE std::size_t num_forward_operations(const operator_graph& graph) {
    std::size_t n = 0;
    while (n < graph.operations.size() && graph.operations[n].pass == graph_pass::forward) ++n;
    return n;
}

LLMCOST_INLINE std::vector<double> graph_seconds(graph_request& q, const arguments& args) {
    const model& m = q.read.subject;
    if (q.torch) {
        q.timed = time_torch_operations(args, *q.torch, q.load, num_forward_operations(q.graph));
        return seconds_in_graph(q.graph, q.timed.times);
    }
    if (!q.load.training)
        return operation_seconds(m, q.load, q.device->execution_config, *q.device->target_device, *q.device->kernels);
    return seconds_in_graph(q.graph, operator_times_of(m, q.load, q.device->execution_config, *q.device->target_device,
                                                       *q.device->kernels));
}

/// The graph at another level, with the times of its nodes.
LLMCOST_INLINE node_graph nodes_at_level(const graph_request& q, graph_level level,
                                         const std::vector<double>& seconds) {
    node_graph g = parts_of(q.graph, {level});
    if (!seconds.empty()) set_times(g, seconds);
    return g;
}

LLMCOST_INLINE void write_file(const std::string& path, const std::string& text) { write_output_file(path, text); }

LLMCOST_INLINE std::string graph_json(const graph_request& q, bool with_cuts) {
    json_writer json;
    json.object().member("model", q.read.found.name_of_model.name).member("batch", q.load.batch);
    json.member("sequence", q.load.sequence).member("past", q.load.past).key("device");
    q.device ? json.value(std::string_view(q.device->target_device->names[0])) : json.null();
    if (q.torch) {
        json.member("engine", torch_engine_name).member("device_seconds", q.timed.times.device_seconds);
        json.member("loss_seconds", q.timed.loss_seconds).member("optimizer_seconds", q.timed.optimizer_seconds);
    }
    write_statistics(json, q.parts);
    write_nodes(json, q.graph, q.parts, q.link);
    if (with_cuts) write_cuts(json, q.graph, q.parts);
    if (q.split_options) write_partition(json, q.split, q.split_options->names, q.holds);
    return json.end_object().text() + '\n';
}

LLMCOST_INLINE std::string graph_page(const graph_request& q, bool with_cuts) {
    std::string out = q.title() + '\n' + (q.torch ? torch_method_line(*q.timed.torch) : std::string()) +
                      format_statistics(q.parts) + '\n' + format_nodes(q.parts);
    if (with_cuts) out += '\n' + format_cuts(q.graph, q.parts, q.link);
    if (q.split_options) out += '\n' + format_split(q.parts, q.split, q.split_options->names, q.holds);
    return out;
}

/// The timeline of a step as an engine executes it, as a Chrome trace.
LLMCOST_INLINE std::string step_trace(const deployment& p, const workload& load) {
    std::vector<trace_span> spans;
    enum { device_stream, link_stream, host_stream };
    for (const timeline_kernel& k : timeline_of(p.model, load, p.execution, *p.device, *p.kernels)) {
        const model_kernel& kernel = k.timed.kernel.kernel;
        const kernel_work work = llmcost::detail::work_of(kernel.shape, k.timed.kernel.calibration);
        const auto times = static_cast<double>(kernel.num_runs);
        const bool has_variant =
            kernel.shape.type == find_operator_type("elementwise") && !kernel.shape.variant.empty();
        const std::string family(kernel.shape.type->name),
            name = has_variant ? std::string(kernel.shape.variant) : family;
        spans.push_back(
            {kernel.module_path.empty() ? name : kernel.module_path + ": " + name,
             family,
             k.uses_links() ? link_stream : device_stream,
             k.begins,
             k.duration,
             {{"runs", times}, {"flops", times * work.flops}, {"bytes", times * work.bytes}},
             {{"kernel", kernel_label(kernel.shape)}, {"bound", std::string(name_of(k.timed.estimate.bound))}}});
        if (p.execution.launch != launch_mode::cuda_graph)
            spans.push_back({"launch", "host", host_stream, k.issued - k.host, k.host, {}, {}});
    }
    std::vector<std::string> streams{"kernels", "links"};
    if (p.execution.launch != launch_mode::cuda_graph) streams.emplace_back("host");
    return chrome_trace(deployment_title(p), streams, spans);
}

/// The kernels and collectives of a step on one tensor-parallel rank, one after another.
///
/// The sizes follow ASTRA-sim: an all-gather has the bytes of one rank, the other collectives have the bytes of the
/// entire message.
LLMCOST_INLINE std::vector<trace_node> traces_of_step(const deployment& p, const workload& load) {
    std::vector<trace_node> nodes;
    for (const timeline_kernel& k : timeline_of(p.model, load, p.execution, *p.device, *p.kernels)) {
        const model_kernel& kernel = k.timed.kernel.kernel;
        const kernel_work work = llmcost::detail::work_of(kernel.shape, k.timed.kernel.calibration);
        const auto times = static_cast<double>(kernel.num_runs);
        trace_node n;
        n.id = nodes.size() + 1;
        n.begins = k.begins;
        n.seconds = k.duration;
        n.name = kernel.module_path.empty() ? std::string(kernel.shape.type->name) : kernel.module_path;
        if (n.id > 1) n.control.push_back(n.id - 1);
        if (k.uses_links()) {
            const string_ref collective = kernel.shape.variant;
            n.kind = trace_kind::collective;
            n.collective = collective == "all_gather"       ? collective_kind::all_gather
                           : collective == "reduce_scatter" ? collective_kind::reduce_scatter
                           : collective == "alltoall"       ? collective_kind::all_to_all
                                                            : collective_kind::all_reduce;
            const double all = static_cast<double>(kernel.shape.sizes[0]) * kernel.shape.operand->activation_bytes;
            n.bytes = static_cast<std::uint64_t>(
                n.collective == collective_kind::all_gather ? all / static_cast<double>(kernel.shape.sizes[1]) : all);
        } else {
            n.flops = static_cast<std::uint64_t>(times * work.flops);
            n.bytes = static_cast<std::uint64_t>(times * work.bytes);
        }
        nodes.push_back(std::move(n));
    }
    return nodes;
}

/// Parses the command line and builds the graph. Throws: `usage`.
LLMCOST_INLINE graph_request read_graph(const arguments& args, const program& io) {
    graph_request q{io.read(args, io)};
    if (args.text(option::engine) == torch_engine_name) q.torch = deployment_of(args, q.read, io);
    q.load = graph_workload(args);
    complete_workload(q.read.subject, args, q.load);
    workload_request work;
    work.base_workload = q.load;
    require_supported_workload(q.read.subject, args, work);
    check_workload(q.read.subject, work);
    if (q.torch) complete_torch_graph_workload(args, *q.torch, q.load);
    q.graph = q.load.training ? training_graph_of(q.read.subject, q.load) : graph_of(q.read.subject, q.load);
    graph_granularity grain{static_cast<graph_level>(args.choice(option::level))};
    if (args.has(option::part_depth)) {
        if (args.has(option::level)) throw_usage("--depth", "cannot be combined with --level");
        grain.depth = static_cast<int>(args.number(option::part_depth, 1));
    }
    q.parts = parts_of(q.graph, grain);
    return q;
}

/// Splits the graph into pipeline stages over the devices. Throws: `usage`.
LLMCOST_INLINE void split_graph(graph_request& q, const arguments& args) {
    constexpr std::size_t maximum = 4096;  // nodes; more take longer than about one second
    if (q.parts.parts.size() > maximum)
        throw_usage("--split", std::to_string(q.parts.parts.size()) +
                                   " nodes, expected at most 4096; use --level layer or module");
    q.split_options = read_split(args, graph_types(args, q.read));
    const std::int64_t stages = length_of(q.parts.parts) - 2;
    if (static_cast<std::int64_t>(q.split_options->devices.size()) > stages)
        throw_usage("--split", std::to_string(q.split_options->devices.size()) + " devices for " +
                                   std::to_string(stages) + " nodes");
    for (std::size_t i = 0; i < q.split_options->devices.size(); ++i) {
        const graph_device& d = q.split_options->devices[i];
        std::size_t match = 0;
        while (q.split_options->devices[match].target_device != d.target_device) ++match;
        q.holds.push_back(match < i ? q.holds[match] : stage_of(q.read, q.load, q.parts, d));
    }
    q.split = partition_over(q.graph, q.parts, q.holds, q.split_options->links);
}

/// Whether the output is a timeline of kernels and not a graph.
LLMCOST_INLINE bool is_kernel_timeline(const arguments& args, graph_format format) {
    return format == graph_format::chrome || (format == graph_format::chakra && args.has(option::tp));
}

/// Throws: `usage` for options that conflict with each other or with the format.
LLMCOST_INLINE void require_valid_options(const arguments& args, graph_format format) {
    const bool is_torch = args.text(option::engine) == torch_engine_name;
    if (is_torch) {
        if (format == graph_format::chakra) throw_usage("--format", "chakra is not supported with --engine torch");
        if (!args.has(option::device)) throw_usage("--engine", "torch requires --device");
        for (const option_spec& o : {option::split, option::stages, option::tp})
            if (args.has(o)) throw_usage(o.name, "cannot be combined with --engine torch");
    }
    for (const option_spec& o : {option::torch_host, option::tf32, option::precision, option::implementation})
        if (!is_torch && args.has(o)) throw_usage(o.name, "requires --engine torch");
    const bool splits = args.has(option::split) || args.has(option::stages), cuts = args.has(option::cuts);
    if (format == graph_format::chakra && args.text(option::out).empty())
        throw_usage("--out", "required with --format chakra, which writes FILE.0.et, FILE.1.et ...");
    if (is_kernel_timeline(args, format)) {
        for (const option_spec& o :
             {option::level, option::part_depth, option::train_graph, option::cuts, option::split, option::stages})
            if (args.has(o) && !(is_torch && o.is(option::train_graph)))
                throw_usage(o.name,
                            "cannot be combined with a timeline of kernels (--format chrome, or chakra with --tp)");
        return;
    }
    if (args.has(option::linear_dtype)) (void)require_operand_type("--dtype", args.text(option::linear_dtype));
    if (args.has(option::calibration) && !args.has(option::device) && !splits)
        throw_usage(option::calibration.name, "requires --device or --split");
    if (args.has(option::train_graph))
        for (const option_spec& o : {option::cuts, option::split, option::stages})
            if (args.has(o)) throw_usage(o.name, "cannot be combined with --backward");
    for (const option_spec& o : {option::engine, option::execution, option::tp})
        if (args.has(o) && !is_torch)
            throw_usage(o.name, "requires a timeline of kernels (--format chrome, or chakra with --tp)");
    if (cuts && format != graph_format::text && format != graph_format::json)
        throw_usage("--cuts", "requires --format text or json");
    if (splits && (format == graph_format::graphml || format == graph_format::edgeshard))
        throw_usage("--split", "requires --format text, json or dot");
}

/// An output as text, or as the file of `--out`.
LLMCOST_INLINE command_output text_or_file(const arguments& args, std::string text, exit_code code = exit_code::ok) {
    const std::string file(args.text(option::out));
    if (file.empty()) return {std::move(text), code};
    write_file(file, text);
    return {{}, code};
}

/// The timeline of the kernels of a step: a Chrome trace, or one Chakra trace per tensor-parallel rank.
LLMCOST_INLINE command_output run_kernel_timeline(const arguments& args, const program& io, graph_format format) {
    workload load = graph_workload(args);
    const deployment p = io.place(args, io);
    complete_workload(p.model, args, load);
    workload_request work;
    work.base_workload = load;
    require_supported_workload(p.model, args, work);
    if (p.is_torch) {
        complete_torch_graph_workload(args, p, load);
        return text_or_file(args, torch_step_trace(p, load));
    }
    if (format == graph_format::chrome) return text_or_file(args, step_trace(p, load));
    const std::string trace = io.chakra(traces_of_step(p, load));
    for (std::int64_t i = 0; i < p.execution.parallel.tensor_parallel_size; ++i)
        write_file(std::string(args.text(option::out)) + "." + std::to_string(i) + ".et", trace);
    return {};
}

/// Writes one Chakra trace per pipeline stage; returns the text of the split if none fits.
LLMCOST_INLINE command_output write_stage_traces(const arguments& args, const program& io, const graph_request& q,
                                                 exit_code code) {
    if (code != exit_code::ok) return {format_split(q.parts, q.split, q.split_options->names, q.holds), code};
    const auto traces = execution_traces_of(q.parts, q.split.stages, q.holds);
    for (std::size_t i = 0; i < traces.size(); ++i)
        write_file(std::string(args.text(option::out)) + "." + std::to_string(i) + ".et", io.chakra(traces[i]));
    return {};
}

/// The EdgeShard text of the graph; with `--out`, writes the files of modules and operators and returns statistics.
///
/// Throws: `usage` for `--level operator`, which the second file has.
LLMCOST_INLINE command_output write_edgeshard(const arguments& args, const graph_request& q,
                                              const std::vector<double>& seconds) {
    const std::string file(args.text(option::out));
    if (file.empty()) return edgeshard_text(q.graph, q.parts);
    if (args.choice(option::level) == 2)
        throw_usage("--level", "operator is not supported with edgeshard; FILE_detail.txt contains the operators");
    const node_graph operations = nodes_at_level(q, graph_level::operation, seconds);
    write_file(file + "_module.txt", edgeshard_text(q.graph, q.parts));
    write_file(file + "_detail.txt", edgeshard_text(q.graph, operations));
    return "==== Module Graph Stats ====\n" + edgeshard_stats(q.graph, q.parts) + "==== Detail Graph Stats ====\n" +
           edgeshard_stats(q.graph, operations);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_graph(const arguments& args, const program& io) {
    const auto format = static_cast<graph_format>(args.choice(option::graph_as));
    detail::require_valid_options(args, format);
    if (format == graph_format::chakra && io.chakra == nullptr)
        throw error(errc::unsupported, "--format",
                    "chakra: this program was built without protobuf (Debian: protobuf-compiler libprotobuf-dev)");
    if (detail::is_kernel_timeline(args, format)) return detail::run_kernel_timeline(args, io, format);

    detail::graph_request q = detail::read_graph(args, io);
    if (args.has(option::link)) {
        const std::vector<std::string> rates = split_list(args.text(option::link), ',');
        q.link = detail::read_rate("--link", rates.empty() ? std::string() : rates.front());
    }
    std::vector<double> seconds;
    if (args.has(option::device)) {
        q.device = q.torch ? graph_device{q.torch->kernels, q.torch->device, q.torch->execution}
                           : graph_device_of("--device", args.text(option::device), args, graph_types(args, q.read));
        seconds = detail::graph_seconds(q, args);
        set_times(q.parts, seconds);
    }
    const bool splits = args.has(option::split) || args.has(option::stages), cuts = args.has(option::cuts);
    if (splits) detail::split_graph(q, args);
    const exit_code code = splits && q.split.stages.empty() ? exit_code::does_not_fit : exit_code::ok;
    switch (format) {
        case graph_format::text: return detail::text_or_file(args, detail::graph_page(q, cuts), code);
        case graph_format::json: return detail::text_or_file(args, detail::graph_json(q, cuts), code);
        case graph_format::dot:
            return detail::text_or_file(args,
                                        dot_of(q.graph, q.parts, q.title(), q.split,
                                               q.split_options ? q.split_options->names : std::vector<std::string>{}),
                                        code);
        case graph_format::graphml: return detail::text_or_file(args, graphml_of(q.graph, q.parts));
        case graph_format::chakra: return detail::write_stage_traces(args, io, q, code);
        case graph_format::edgeshard:
        case graph_format::chrome: break;
    }
    return detail::write_edgeshard(args, q, seconds);
}

}  // namespace llmcost::cli
