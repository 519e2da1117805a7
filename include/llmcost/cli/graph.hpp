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

#include <llmcost/cli/graph_devices.hpp>
#include <llmcost/cli/graph_page.hpp>
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
inline constexpr option_row
    level       {"--level",  value_kind::choice, "module|layer|operator", "layers of lists and what is outside of them, modules without children, operations (module)", "Graph"},
    part_depth  {"--depth",  value_kind::number, "N",    "modules N below the model instead"},
    graph_as    {"--format", value_kind::choice, "text|json|dot|graphml|edgeshard|chrome|chakra", "chrome: the timeline of a step"},
    out         {"--out",    value_kind::file,   "FILE", "write it there; edgeshard FILE_module.txt, FILE_detail.txt, chakra FILE.0.et ..."},
    train_graph {"--backward", value_kind::none, "", "a training step: what goes back behind the pass, and gradients"},
    cuts        {"--cuts",   value_kind::none,   "",     "every place to cut it in two, and what goes across"};
// clang-format on

}  // namespace option

namespace detail {

/// What `llmcost graph` was asked about.
struct graph_question {
    read_subject read;
    workload load{};
    operator_graph whole{};
    part_graph parts{};
    std::optional<graph_device> on{};
    double link = 0;  ///< bytes per second of the first one; 0: none is known
    std::optional<split_asked> asked{};
    graph_split split{};
    std::vector<stage_device> holds{};

    [[nodiscard]] std::string title() const {
        return printable(read.found.who.name) + ", " + input_words(read.subject, load) +
               (load.past > 0 ? " after " + grouped(count(load.past)) : "") +
               (on ? " on " + printable(on->on->title) : std::string());
    }
};

inline workload graph_workload(const arguments& given) {
    job work = read_job(given);
    work.base.weights = dtype_from(given.text(option::linear_dtype));
    work.base.training = given.has(option::train_graph);
    if (work.base.training && work.base.past > 0) refuse(option::past.name, "nothing goes back through a cache");
    return work.base;
}

/// The times of a graph's operations; of backward those of the operation that it goes back through.
inline std::vector<double> graph_seconds(const graph_question& q) {
    const model& m = q.read.subject;
    if (!q.load.training) return operation_seconds(m, q.load, q.on->how, *q.on->on, *q.on->kernels);
    const operator_times times = operator_times_of(m, q.load, q.on->how, *q.on->on, *q.on->kernels);
    std::vector<double> seconds = times.forward;
    for (std::size_t i = seconds.size(); i < q.whole.operations.size(); ++i) {
        const std::int32_t of = q.whole.operations[i].backward_of;
        seconds.push_back(of < 0 ? 0 : at_place(times.backward, of));
    }
    return seconds;
}

/// The times of the operations of a level that is not the graph's own.
inline part_graph parts_at(const graph_question& q, graph_level level, const std::vector<double>& seconds) {
    part_graph g = parts_of(q.whole, {level});
    if (!seconds.empty()) set_times(g, seconds);
    return g;
}

inline void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw error(errc::io, printable(path), "could not be written");
}

inline std::string graph_json(const graph_question& q, bool with_cuts) {
    json_writer json;
    json.object().member("model", q.read.found.who.name).member("batch", q.load.batch);
    json.member("sequence", q.load.sequence).member("past", q.load.past).key("device");
    q.on ? json.value(std::string_view(q.on->on->names[0])) : json.null();
    put_statistics(json, q.parts);
    put_parts(json, q.whole, q.parts, q.link);
    if (with_cuts) put_cuts(json, q.whole, q.parts);
    if (q.asked) put_split(json, q.split, q.asked->names, q.holds);
    return json.end_object().text() + '\n';
}

inline std::string graph_page(const graph_question& q, bool with_cuts) {
    std::string out = q.title() + '\n' + statistics_words(q.parts) + '\n' + parts_words(q.parts);
    if (with_cuts) out += '\n' + cuts_words(q.whole, q.parts, q.link);
    if (q.asked) out += '\n' + split_words(q.parts, q.split, q.asked->names, q.holds);
    return out;
}

/// The timeline of a step as an engine runs it, for Chrome and Perfetto.
inline std::string step_trace(const placement& p, const workload& load) {
    std::vector<trace_span> spans;
    enum { device_stream, link_stream, host_stream };
    for (const timeline_kernel& k : timeline_of(p.subject, load, p.how, *p.on, *p.kernels)) {
        const model_kernel& kernel = k.what.kernel.what;
        const kernel_work work = llmcost::detail::work_of(kernel.shape, k.what.kernel.known);
        const auto times = static_cast<double>(kernel.times);
        const bool has_word = kernel.shape.family == find_family("elementwise") && !kernel.shape.variant.empty();
        const std::string family(kernel.shape.family->name), word = has_word ? std::string(kernel.shape.variant) : family;
        spans.push_back({kernel.name.empty() ? word : kernel.name + ": " + word,
                         family,
                         k.uses_links() ? link_stream : device_stream,
                         k.begins,
                         k.takes,
                         {{"runs", times}, {"flops", times * work.flops}, {"bytes", times * work.bytes}},
                         {{"kernel", kernel_words(kernel.shape)}, {"bound", std::string(name_of(k.what.each.bound))}}});
        if (p.how.issued != issue::graph)
            spans.push_back({"launch", "host", host_stream, k.issued - k.host, k.host, {}, {}});
    }
    std::vector<std::string> streams{"kernels", "links"};
    if (p.how.issued != issue::graph) streams.emplace_back("host");
    return chrome_trace(title_of_placement(p), streams, spans);
}

/// A step as each of the devices that share its layers runs it: kernels one after the other, and what all do together.
///
/// As ASTRA-sim takes sizes: of an all-gather what each hands in, of all others the whole message.
inline std::vector<trace_node> traces_of_step(const placement& p, const workload& load) {
    std::vector<trace_node> nodes;
    for (const timeline_kernel& k : timeline_of(p.subject, load, p.how, *p.on, *p.kernels)) {
        const model_kernel& kernel = k.what.kernel.what;
        const kernel_work work = llmcost::detail::work_of(kernel.shape, k.what.kernel.known);
        const auto times = static_cast<double>(kernel.times);
        trace_node n;
        n.id = nodes.size() + 1, n.begins = k.begins, n.seconds = k.takes;
        n.name = kernel.name.empty() ? std::string(kernel.shape.family->name) : kernel.name;
        if (n.id > 1) n.control.push_back(n.id - 1);
        if (k.uses_links()) {
            const string_ref what = kernel.shape.variant;
            n.kind = trace_kind::collective;
            n.collective = what == "all_gather"       ? collective_kind::all_gather
                           : what == "reduce_scatter" ? collective_kind::reduce_scatter
                           : what == "alltoall"       ? collective_kind::all_to_all
                                                      : collective_kind::all_reduce;
            const double all = static_cast<double>(kernel.shape.sizes[0]) * kernel.shape.operand->activation_bytes;
            n.bytes = static_cast<std::uint64_t>(
                n.collective == collective_kind::all_gather ? all / static_cast<double>(kernel.shape.sizes[1]) : all);
        } else {
            n.flops = static_cast<std::uint64_t>(times * work.flops),
            n.bytes = static_cast<std::uint64_t>(times * work.bytes);
        }
        nodes.push_back(std::move(n));
    }
    return nodes;
}

/// Reads a model and draws its graph.
inline graph_question read_graph(const arguments& given, const program& io) {
    graph_question q{io.read(given, io)};
    q.load = graph_workload(given);
    complete_workload(q.read.subject, given, q.load);
    job work;
    work.base = q.load;
    check_workload(q.read.subject, given, work);
    check_workload(q.read.subject, work);
    q.whole = q.load.training ? training_graph_of(q.read.subject, q.load) : graph_of(q.read.subject, q.load);
    graph_grain grain{static_cast<graph_level>(given.choice(option::level))};
    if (given.has(option::part_depth)) {
        if (given.has(option::level)) refuse("--depth", "cannot stand together with --level");
        grain.depth = static_cast<int>(given.number(option::part_depth, 1));
    }
    q.parts = parts_of(q.whole, grain);
    return q;
}

/// Cuts a graph for the devices that a command line names.
inline void split_graph(graph_question& q, const arguments& given) {
    constexpr std::size_t most = 4096;  // parts: a second of work
    if (q.parts.parts.size() > most)
        refuse("--split", std::to_string(q.parts.parts.size()) + " nodes: say --level module or layer");
    q.asked = read_split(given, graph_types(given, q.read));
    const std::int64_t stages = length_of(q.parts.parts) - 2;
    if (static_cast<std::int64_t>(q.asked->devices.size()) > stages)
        refuse("--split", std::to_string(q.asked->devices.size()) + " devices for " + std::to_string(stages) + " nodes");
    for (std::size_t i = 0; i < q.asked->devices.size(); ++i) {
        const graph_device& d = q.asked->devices[i];
        std::size_t same = 0;
        while (q.asked->devices[same].on != d.on) ++same;
        q.holds.push_back(same < i ? q.holds[same] : stage_of(q.read, q.load, q.parts, d));
    }
    q.split = split_over(q.whole, q.parts, q.holds, q.asked->links);
}

}  // namespace detail

/// What `llmcost graph` prints, or writes into files.
[[nodiscard]] inline answered graph_answer(const arguments& given, const program& io) {
    const auto format = static_cast<graph_format>(given.choice(option::graph_as));
    const std::string file(given.text(option::out));
    const auto answer = [&](std::string text, exit_code code = exit_code::ok) -> answered {
        if (file.empty()) return {std::move(text), code};
        detail::write_file(file, text);
        return {{}, code};
    };
    const bool splits = given.has(option::split) || given.has(option::stages), cuts = given.has(option::cuts);
    if (format == graph_format::chakra && io.chakra == nullptr)
        throw error(errc::unsupported, "--format",
                    "chakra: this program was built without protobuf (Debian: protobuf-compiler libprotobuf-dev)");
    if (format == graph_format::chakra && file.empty())
        refuse("--out", "say where: chakra is a file for each device, FILE.0.et ...");
    if (format == graph_format::chrome || (format == graph_format::chakra && given.has(option::tp))) {
        for (const option_row& o :
             {option::level, option::part_depth, option::train_graph, option::cuts, option::split, option::stages})
            if (given.has(o)) refuse(o.name, "says nothing of a step's kernels (--format chrome, or chakra with --tp)");
        workload load = detail::graph_workload(given);
        const placement p = io.place(given, io);
        complete_workload(p.subject, given, load);
        job work;
        work.base = load;
        check_workload(p.subject, given, work);
        if (format == graph_format::chrome) return answer(detail::step_trace(p, load));
        const std::string trace = io.chakra(detail::traces_of_step(p, load));
        for (std::int64_t i = 0; i < p.how.shards.tensor; ++i)
            detail::write_file(file + "." + std::to_string(i) + ".et", trace);
        return {};
    }
    if (given.has(option::train_graph))
        for (const option_row& o : {option::cuts, option::split, option::stages})
            if (given.has(o)) refuse(o.name, "is of a forward pass, not of --backward");
    for (const option_row& o : {option::engine, option::execution, option::tp})
        if (given.has(o)) refuse(o.name, "is of a step's kernels (--format chrome, or chakra with --tp)");
    if (cuts && format != graph_format::text && format != graph_format::json)
        refuse("--cuts", "needs --format text or json");
    if (splits && (format == graph_format::graphml || format == graph_format::edgeshard))
        refuse("--split", "needs --format text, json or dot");
    detail::graph_question q = detail::read_graph(given, io);
    if (given.has(option::link)) q.link = detail::read_rate("--link", split_list(given.text(option::link), ',').front());
    std::vector<double> seconds;
    if (given.has(option::device)) {
        q.on = graph_device_of("--device", given.text(option::device), given, graph_types(given, q.read));
        seconds = detail::graph_seconds(q);
        set_times(q.parts, seconds);
    }
    if (splits) detail::split_graph(q, given);
    const exit_code code = splits && q.split.stages.empty() ? exit_code::does_not_fit : exit_code::ok;
    switch (format) {
        case graph_format::text: return answer(detail::graph_page(q, cuts), code);
        case graph_format::json: return answer(detail::graph_json(q, cuts), code);
        case graph_format::dot:
            return answer(
                dot_of(q.whole, q.parts, q.title(), q.split, q.asked ? q.asked->names : std::vector<std::string>{}), code);
        case graph_format::graphml: return answer(graphml_of(q.whole, q.parts));
        case graph_format::chakra: {
            if (code != exit_code::ok) return {detail::split_words(q.parts, q.split, q.asked->names, q.holds), code};
            const auto traces = execution_traces_of(q.parts, q.split.stages, q.holds);
            for (std::size_t i = 0; i < traces.size(); ++i)
                detail::write_file(file + "." + std::to_string(i) + ".et", io.chakra(traces[i]));
            return {};
        }
        case graph_format::edgeshard:
        case graph_format::chrome: break;
    }
    if (file.empty()) return edgeshard_text(q.whole, q.parts);
    if (given.choice(option::level) == 2) refuse("--level", "operator is what FILE_detail.txt has");
    const part_graph operations = detail::parts_at(q, graph_level::operation, seconds);
    detail::write_file(file + "_module.txt", edgeshard_text(q.whole, q.parts));
    detail::write_file(file + "_detail.txt", edgeshard_text(q.whole, operations));
    return "==== Module Graph Stats ====\n" + edgeshard_stats(q.whole, q.parts) + "==== Detail Graph Stats ====\n" +
           edgeshard_stats(q.whole, operations);
}

inline constexpr std::array graph_options =
    joined(model_options,
           std::array{option::batch, option::sequence, option::past, option::encoder_sequence, option::image, option::images,
                      option::video, option::videos, option::audio, option::logits},
           std::array{option::level, option::part_depth, option::train_graph, option::cuts, option::graph_as, option::out},
           titled("Device", std::array{option::device, option::linear_dtype, option::calibration, option::engine,
                                       option::execution, option::tp}),
           std::array{option::split, option::stages, option::link}, help_option);

inline constexpr std::array<example_row, 5> graph_examples{{
    {"llmcost graph --model meta-llama/Llama-3.2-1B --device h200 --cuts", "its layers, their times, every cut"},
    {"llmcost graph --model meta-llama/Llama-3.1-8B --devices h200,l4,l4 --link 1Gbit/s",
     "the best split over three devices"},
    {"llmcost graph --model openai-community/gpt2 --level layer --format dot | dot -Tsvg > gpt2.svg", "a picture"},
    {"llmcost graph --model openai-community/gpt2 --backward --level operator --format json", "a training step"},
    {"llmcost graph --model Qwen/Qwen3-8B --device h200 --tp 2 --format chrome --out step.json", "for ui.perfetto.dev"},
}};

inline constexpr command graph_command{
    .name = "graph",
    .meaning = "what reads what, where to cut it, files for other programs",
    .usage = "(--model NAME | --config FILE) [option]...",
    .about =
        "A forward pass as a graph of modules or operations, with the tensors that go from\n"
        "one to another; where it can be cut, and the best split over devices. With\n"
        "--backward a training step, with what goes back.\n",
    .options = graph_options,
    .answer = graph_answer,
    .examples = graph_examples};

}  // namespace llmcost::cli
