// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/graph_json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/graph/graph_cuts.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/graph/split.hpp>
#include <llmcost/graph/statistics.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::string tensor_name(const operator_graph& graph, std::int32_t tensor) {
    const graph_tensor& t = at_place(graph.tensors, tensor);
    return t.name.empty() ? "t" + std::to_string(tensor + 1) : t.name;
}

LLMCOST_INLINE void write_shape(json_writer& json, const std::vector<std::int64_t>& sizes) {
    json.key("shape").array(true);
    for (const std::int64_t n : sizes) json.value(n);
    json.end_array();
}

LLMCOST_INLINE void write_node(json_writer& json, const operator_graph& graph, const graph_node& p, std::int32_t number,
                               bool timed) {
    json.object().member("id", number + 1).member("kind", name_of(p.kind)).member("name", p.name);
    json.member("type", p.type).member("operations", p.end - p.first);
    json.member("parameters", count(p.parameter_elements)).member("weight_bytes", count(p.weight_bytes));
    json.member("flops", p.done.flops()).member("macs", p.done.macs());
    json.member("bytes_read", count(p.bytes_read)).member("bytes_written", count(p.bytes_written));
    json.member("output_bytes", count(p.output_bytes)).member("cache_bytes", count(p.cache_bytes));
    json.member("live_bytes", count(p.live_bytes)).key("seconds");
    timed ? json.value(p.seconds) : json.null();
    json.key("tensors").array();
    for (const std::int32_t tensor : p.parameters) {
        const graph_tensor& t = at_place(graph.tensors, tensor);
        json.object().member("name", t.name);
        write_shape(json, t.sizes);
        json.member("dtype", std::string_view(element_name(t.type))).member("bytes", count(t.bytes)).end_object();
    }
    json.end_array().end_object();
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE void write_statistics(json_writer& json, const node_graph& g) {
    const graph_statistics s = statistics_of(g);
    json.key("statistics").object().member("nodes", s.parts).member("modules", s.modules);
    json.member("operations", s.operations).member("edges", s.edges).member("edge_bytes", count(s.edge_bytes));
    json.member("depth", s.depth).member("width", s.width);
    json.key("fan_out").object().member("most", s.max_readers).member("of", s.max_read + 1);
    json.member("mean", s.mean_readers).end_object();
    json.key("seconds");
    g.timed ? json.value(s.seconds) : json.null();
    json.key("critical_seconds");
    g.timed ? json.value(s.critical_seconds) : json.null();
    json.key("critical_path").array(true);
    for (const std::int32_t i : s.critical_path) json.value(i + 1);
    json.end_array().end_object();
}

LLMCOST_INLINE void write_nodes(json_writer& json, const operator_graph& graph, const node_graph& g,
                                double bytes_per_second) {
    json.key("nodes").array();
    for (std::int32_t i = 0; i < detail::length_of(g.parts); ++i)
        detail::write_node(json, graph, detail::at_place(g.parts, i), i, g.timed);
    json.end_array().key("edges").array();
    for (const graph_edge& e : g.edges) {
        json.object().member("from", e.source + 1).member("to", e.to + 1);
        json.member("tensor", detail::tensor_name(graph, e.tensor));
        detail::write_shape(json, e.sizes);
        json.member("dtype", std::string_view(element_name(e.type))).member("bytes", count(e.bytes)).key("seconds");
        bytes_per_second > 0 ? json.value(static_cast<double>(e.bytes) / bytes_per_second) : json.null();
        json.end_object();
    }
    json.end_array();
}

LLMCOST_INLINE void write_cuts(json_writer& json, const operator_graph& graph, const node_graph& g) {
    json.key("cuts").array();
    for (const graph_cut& cut : find_cuts(graph, g)) {
        json.object().member("before", cut.first_part + 1).member("bytes", count(cut.bytes)).key("tensors").array(true);
        for (const std::int32_t t : cut.tensors) json.value(detail::tensor_name(graph, t));
        json.end_array().member("weights_before", count(cut.weights_before));
        json.member("weights_behind", count(cut.weights_after)).member("cache_before", count(cut.cache_before));
        json.member("cache_behind", count(cut.cache_after));
        for (const auto& [name, seconds] : {std::pair<std::string_view, double>{"seconds_before", cut.seconds_before},
                                            {"seconds_behind", cut.seconds_after}}) {
            json.key(name);
            g.timed ? json.value(seconds) : json.null();
        }
        json.end_object();
    }
    json.end_array();
}

LLMCOST_INLINE void write_partition(json_writer& json, const graph_split& split,
                                    const std::vector<std::string>& devices,
                                    const std::vector<pipeline_device>& holds) {
    json.key("split").object().member("fits", !split.stages.empty());
    json.member("slowest_seconds", split.slowest).member("seconds", split.pass_seconds).key("stages").array();
    for (std::size_t i = 0; i < split.stages.size(); ++i) {
        const graph_stage& s = split.stages[i];
        json.object().member("device", devices[i]).member("first", s.first + 1).member("last", s.end);
        json.member("received_bytes", count(s.received)).member("link_seconds", s.link_seconds);
        json.member("seconds", s.seconds)
            .member("weight_bytes", count(s.weights))
            .member("cache_bytes", count(s.cache));
        json.member("live_bytes", count(s.live)).member("bytes", count(s.memory()));
        json.member("available", count(holds[i].memory)).end_object();
    }
    json.end_array().end_object();
}

}  // namespace llmcost
