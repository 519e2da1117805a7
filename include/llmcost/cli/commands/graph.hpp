// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/commands/graph_devices.hpp>
#include <llmcost/cli/commands/graph_page.hpp>
#include <llmcost/graph/execution_trace.hpp>
#include <llmcost/report/chrome_trace.hpp>
#include <llmcost/report/edgeshard.hpp>
#include <llmcost/report/graph_drawing.hpp>
#include <llmcost/report/graph_json.hpp>
#include <llmcost/serving/operator_times.hpp>
#include <llmcost/serving/timeline.hpp>

// `llmcost graph`: a pass as a graph, where it can be cut, and files of it for other programs.
namespace llmcost::cli {

/// How a graph is written; in the order of `--format`.
enum class graph_format { text, json, dot, graphml, edgeshard, chrome, chakra };

namespace option {

// clang-format off
inline constexpr option_spec
    level       {"--level",  value_type::choice, "module|layer|operator", "layers of lists and what is outside of them, modules without children, operations (module)", "Graph"},
    part_depth  {"--depth",  value_type::number, "N",    "modules N below the model instead"},
    graph_as    {"--format", value_type::choice, "text|json|dot|graphml|edgeshard|chrome|chakra", "chrome: the timeline of a step"},
    out         {"--out",    value_type::file,   "FILE", "write it there; edgeshard FILE_module.txt, FILE_detail.txt, chakra FILE.0.et ..."},
    train_graph {"--backward", value_type::none, "", "a training step: what goes back behind the pass, and gradients"},
    cuts        {"--cuts",   value_type::none,   "",     "every place to cut it in two, and what goes across"};
// clang-format on

}  // namespace option

namespace detail {

/// What `llmcost graph` was asked about.
struct graph_request {
    parsed_model read;
    workload load{};
    operator_graph graph{};
    node_graph parts{};
    std::optional<graph_device> device{};
    double link = 0;  ///< bytes per second of the first one; 0: none is known
    std::optional<split_request> split_options{};
    graph_split split{};
    std::vector<pipeline_device> holds{};

    [[nodiscard]] std::string title() const {
        return printable(read.found.name_of_model.name) + ", " + input_label(read.subject, load) +
               (load.past > 0 ? " after " + grouped(count(load.past)) : "") +
               (device ? " on " + printable(device->target_device->title) : std::string());
    }
};

inline workload graph_workload(const arguments& args) {
    workload_request work = parse_workload(args);
    work.base_workload.weights = dtype_from(args.text(option::linear_dtype));
    work.base_workload.training = args.has(option::train_graph);
    if (work.base_workload.training && work.base_workload.past > 0)
        throw_usage(option::past.name, "nothing goes back through a cache");
    return work.base_workload;
}

/// The times of a graph's operations; of backward those of the operation that it goes back through.
inline std::vector<double> graph_seconds(const graph_request& q) {
    const model& m = q.read.subject;
    if (!q.load.training)
        return operation_seconds(m, q.load, q.device->execution_config, *q.device->target_device, *q.device->kernels);
    const operator_times times =
        operator_times_of(m, q.load, q.device->execution_config, *q.device->target_device, *q.device->kernels);
    std::vector<double> seconds = times.forward;
    for (std::size_t i = seconds.size(); i < q.graph.operations.size(); ++i) {
        const std::int32_t forward_index = q.graph.operations[i].backward_of;
        seconds.push_back(forward_index < 0 ? 0 : at_place(times.backward, forward_index));
    }
    return seconds;
}

/// The times of the operations of a level that is not the graph's own.
inline node_graph nodes_at_level(const graph_request& q, graph_level level, const std::vector<double>& seconds) {
    node_graph g = parts_of(q.graph, {level});
    if (!seconds.empty()) set_times(g, seconds);
    return g;
}

inline void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw error(errc::io, printable(path), "could not be written");
}

inline std::string graph_json(const graph_request& q, bool with_cuts) {
    json_writer json;
    json.object().member("model", q.read.found.name_of_model.name).member("batch", q.load.batch);
    json.member("sequence", q.load.sequence).member("past", q.load.past).key("device");
    q.device ? json.value(std::string_view(q.device->target_device->names[0])) : json.null();
    write_statistics(json, q.parts);
    write_nodes(json, q.graph, q.parts, q.link);
    if (with_cuts) write_cuts(json, q.graph, q.parts);
    if (q.split_options) write_partition(json, q.split, q.split_options->names, q.holds);
    return json.end_object().text() + '\n';
}

inline std::string graph_page(const graph_request& q, bool with_cuts) {
    std::string out = q.title() + '\n' + format_statistics(q.parts) + '\n' + format_nodes(q.parts);
    if (with_cuts) out += '\n' + format_cuts(q.graph, q.parts, q.link);
    if (q.split_options) out += '\n' + format_split(q.parts, q.split, q.split_options->names, q.holds);
    return out;
}

/// The timeline of a step as an engine runs it, for Chrome and Perfetto.
inline std::string step_trace(const deployment& p, const workload& load) {
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

/// A step as each of the devices that share its layers runs it: kernels one after the other, and what all do together.
///
/// As ASTRA-sim takes sizes: of an all-gather what each hands in, of all others the whole message.
inline std::vector<trace_node> traces_of_step(const deployment& p, const workload& load) {
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

/// Reads a model and draws its graph.
inline graph_request read_graph(const arguments& args, const program& io) {
    graph_request q{io.read(args, io)};
    q.load = graph_workload(args);
    complete_workload(q.read.subject, args, q.load);
    workload_request work;
    work.base_workload = q.load;
    require_supported_workload(q.read.subject, args, work);
    check_workload(q.read.subject, work);
    q.graph = q.load.training ? training_graph_of(q.read.subject, q.load) : graph_of(q.read.subject, q.load);
    graph_granularity grain{static_cast<graph_level>(args.choice(option::level))};
    if (args.has(option::part_depth)) {
        if (args.has(option::level)) throw_usage("--depth", "cannot stand together with --level");
        grain.depth = static_cast<int>(args.number(option::part_depth, 1));
    }
    q.parts = parts_of(q.graph, grain);
    return q;
}

/// Cuts a graph for the devices that a command line names.
inline void split_graph(graph_request& q, const arguments& args) {
    constexpr std::size_t maximum = 4096;  // parts: a second of work
    if (q.parts.parts.size() > maximum)
        throw_usage("--split", std::to_string(q.parts.parts.size()) + " nodes: say --level module or layer");
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

}  // namespace detail

/// What `llmcost graph` prints, or writes into files.
[[nodiscard]] inline command_output run_graph(const arguments& args, const program& io) {
    const auto format = static_cast<graph_format>(args.choice(option::graph_as));
    const std::string file(args.text(option::out));
    const auto answer = [&](std::string text, exit_code code = exit_code::ok) -> command_output {
        if (file.empty()) return {std::move(text), code};
        detail::write_file(file, text);
        return {{}, code};
    };
    const bool splits = args.has(option::split) || args.has(option::stages), cuts = args.has(option::cuts);
    if (format == graph_format::chakra && io.chakra == nullptr)
        throw error(errc::unsupported, "--format",
                    "chakra: this program was built without protobuf (Debian: protobuf-compiler libprotobuf-dev)");
    if (format == graph_format::chakra && file.empty())
        throw_usage("--out", "say where: chakra is a file for each device, FILE.0.et ...");
    if (format == graph_format::chrome || (format == graph_format::chakra && args.has(option::tp))) {
        for (const option_spec& o :
             {option::level, option::part_depth, option::train_graph, option::cuts, option::split, option::stages})
            if (args.has(o))
                throw_usage(o.name, "says nothing of a step's kernels (--format chrome, or chakra with --tp)");
        workload load = detail::graph_workload(args);
        const deployment p = io.place(args, io);
        complete_workload(p.model, args, load);
        workload_request work;
        work.base_workload = load;
        require_supported_workload(p.model, args, work);
        if (format == graph_format::chrome) return answer(detail::step_trace(p, load));
        const std::string trace = io.chakra(detail::traces_of_step(p, load));
        for (std::int64_t i = 0; i < p.execution.parallel.tensor_parallel_size; ++i)
            detail::write_file(file + "." + std::to_string(i) + ".et", trace);
        return {};
    }
    if (args.has(option::train_graph))
        for (const option_spec& o : {option::cuts, option::split, option::stages})
            if (args.has(o)) throw_usage(o.name, "is of a forward pass, not of --backward");
    for (const option_spec& o : {option::engine, option::execution, option::tp})
        if (args.has(o)) throw_usage(o.name, "is of a step's kernels (--format chrome, or chakra with --tp)");
    if (cuts && format != graph_format::text && format != graph_format::json)
        throw_usage("--cuts", "needs --format text or json");
    if (splits && (format == graph_format::graphml || format == graph_format::edgeshard))
        throw_usage("--split", "needs --format text, json or dot");
    detail::graph_request q = detail::read_graph(args, io);
    if (args.has(option::link)) q.link = detail::read_rate("--link", split_list(args.text(option::link), ',').front());
    std::vector<double> seconds;
    if (args.has(option::device)) {
        q.device = graph_device_of("--device", args.text(option::device), args, graph_types(args, q.read));
        seconds = detail::graph_seconds(q);
        set_times(q.parts, seconds);
    }
    if (splits) detail::split_graph(q, args);
    const exit_code code = splits && q.split.stages.empty() ? exit_code::does_not_fit : exit_code::ok;
    switch (format) {
        case graph_format::text: return answer(detail::graph_page(q, cuts), code);
        case graph_format::json: return answer(detail::graph_json(q, cuts), code);
        case graph_format::dot:
            return answer(dot_of(q.graph, q.parts, q.title(), q.split,
                                 q.split_options ? q.split_options->names : std::vector<std::string>{}),
                          code);
        case graph_format::graphml: return answer(graphml_of(q.graph, q.parts));
        case graph_format::chakra: {
            if (code != exit_code::ok)
                return {detail::format_split(q.parts, q.split, q.split_options->names, q.holds), code};
            const auto traces = execution_traces_of(q.parts, q.split.stages, q.holds);
            for (std::size_t i = 0; i < traces.size(); ++i)
                detail::write_file(file + "." + std::to_string(i) + ".et", io.chakra(traces[i]));
            return {};
        }
        case graph_format::edgeshard:
        case graph_format::chrome: break;
    }
    if (file.empty()) return edgeshard_text(q.graph, q.parts);
    if (args.choice(option::level) == 2) throw_usage("--level", "operator is what FILE_detail.txt has");
    const node_graph operations = detail::nodes_at_level(q, graph_level::operation, seconds);
    detail::write_file(file + "_module.txt", edgeshard_text(q.graph, q.parts));
    detail::write_file(file + "_detail.txt", edgeshard_text(q.graph, operations));
    return "==== Module Graph Stats ====\n" + edgeshard_stats(q.graph, q.parts) + "==== Detail Graph Stats ====\n" +
           edgeshard_stats(q.graph, operations);
}

inline constexpr std::array graph_options = concatenate(
    model_options,
    std::array{option::batch, option::sequence, option::past, option::encoder_sequence, option::image, option::images,
               option::video, option::videos, option::audio, option::logits},
    std::array{option::level, option::part_depth, option::train_graph, option::cuts, option::graph_as, option::out},
    with_section("Device", std::array{option::device, option::linear_dtype, option::calibration, option::engine,
                                      option::execution, option::tp}),
    std::array{option::split, option::stages, option::link}, help_option);

inline constexpr std::array<command_example, 5> graph_examples{{
    {"llmcost graph --model meta-llama/Llama-3.2-1B --device h200 --cuts", "its layers, their times, every cut"},
    {"llmcost graph --model meta-llama/Llama-3.1-8B --devices h200,l4,l4 --link 1Gbit/s",
     "the best split over three devices"},
    {"llmcost graph --model openai-community/gpt2 --level layer --format dot | dot -Tsvg > gpt2.svg", "a picture"},
    {"llmcost graph --model openai-community/gpt2 --backward --level operator --format json", "a training step"},
    {"llmcost graph --model Qwen/Qwen3-8B --device h200 --tp 2 --format chrome --out step.json", "for ui.perfetto.dev"},
}};

inline constexpr command graph_command{
    .name = "graph",
    .summary = "what reads what, where to cut it, files for other programs",
    .usage = "(--model NAME | --config FILE) [option]...",
    .description =
        "A forward pass as a graph of modules or operations, with the tensors that go from\n"
        "one to another; where it can be cut, and the best split over devices. With\n"
        "--backward a training step, with what goes back.\n",
    .options = graph_options,
    .run = run_graph,
    .examples = graph_examples};

}  // namespace llmcost::cli
