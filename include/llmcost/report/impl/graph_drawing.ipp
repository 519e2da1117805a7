// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/graph_drawing.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/graph/split.hpp>
#include <llmcost/report/graph_json.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/svg.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

LLMCOST_INLINE std::string three_digits(double n, std::string_view unit) {
    constexpr std::pair<double, std::string_view> steps[]{{1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},
                                                          {1, ""},     {1e-3, "m"}, {1e-6, "µ"}, {0, "n"}};
    const auto* step = steps;
    while (step->first > 0 && n < step->first) ++step;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g ", n == 0 ? 0 : n / (step->first > 0 ? step->first : 1e-9));
    return text.data() + std::string(n == 0 ? "" : step->second) + std::string(unit);
}

/// A quoted string in a DOT file; `\n` remains a line break.
[[nodiscard]] LLMCOST_INLINE std::string dot_quoted(std::string_view text) {
    std::string out = "\"";
    for (std::size_t end = 0; !text.empty(); text.remove_prefix(end)) {
        const bool breaks = text.front() == '\n';
        end = breaks ? 1 : std::min(text.find('\n'), text.size());
        if (breaks) out += "\\n";
        for (const char c : breaks ? std::string() : printable(text.substr(0, end))) {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
    }
    return out + '"';
}

}  // namespace llmcost::detail

namespace llmcost {

namespace detail {

// a label needs the area of a node: with thousands, dot runs for minutes
inline constexpr std::size_t max_dot_labels = 200;

}  // namespace detail

LLMCOST_INLINE std::string dot_of(const operator_graph& graph, const node_graph& g, std::string_view title,
                                  const graph_split& split, const std::vector<std::string>& devices) {
    using detail::three_digits;
    std::string out = "digraph " + detail::dot_quoted(title) + " {\n  label=" + detail::dot_quoted(title) +
                      "; labelloc=t; fontname=\"sans-serif\";\n"
                      "  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=10];\n"
                      "  edge [fontname=\"sans-serif\", fontsize=8];\n";
    if (g.edges.size() > detail::max_dot_labels) out += "  nslimit=1; nslimit1=1; mclimit=0.5;\n";  // fewer iterations
    for (std::int32_t i = 0; i < detail::length_of(g.parts); ++i) {
        const graph_node& p = detail::at_place(g.parts, i);
        std::string label = p.name;
        if (p.kind == part_kind::module) label += "\n" + p.type;
        if (p.parameter_elements > 0)
            label += "\n" + three_digits(static_cast<double>(p.parameter_elements), "parameters") + ", " +
                     three_digits(static_cast<double>(p.weight_bytes), "B");
        const auto flops = static_cast<double>(p.done.flops());
        if (flops > 0) label += "\n" + three_digits(flops, "FLOP");
        if (p.seconds > 0) label += "\n" + three_digits(p.seconds, "s");
        out += "  n" + std::to_string(i + 1) + " [label=" + detail::dot_quoted(label);
        if (p.kind != part_kind::module) out += p.kind == part_kind::operation ? ", shape=ellipse" : ", shape=plain";
        out += "];\n";
    }
    for (std::size_t s = 0; s < split.stages.size(); ++s) {
        out += "  subgraph cluster_" + std::to_string(s) + " { label=" + detail::dot_quoted(devices[s]) + ";";
        for (std::int32_t i = split.stages[s].first; i < split.stages[s].end; ++i)
            out += " n" + std::to_string(i + 1) + ";";
        out += " }\n";
    }
    const std::string label_attribute = g.edges.size() > detail::max_dot_labels ? " [tooltip=" : " [label=";
    std::vector<std::int32_t> latest(g.parts.size(), -1);  // latest input of each node
    for (const graph_edge& e : g.edges)
        detail::at_place(latest, e.to) = std::max(detail::at_place(latest, e.to), e.source);
    // dot divides an edge at each rank that it passes: in large graphs, the name of the source replaces a long edge
    constexpr std::int32_t max_nodes_passed = 30;
    const bool is_large = g.edges.size() > detail::max_dot_labels;
    for (const graph_edge& e : g.edges) {
        const bool is_main_edge = detail::at_place(latest, e.to) == e.source;  // drawn straight, other edges around it
        std::string source = "n" + std::to_string(e.source + 1);
        if (is_large && !is_main_edge && e.to - e.source > max_nodes_passed) {
            source += "_" + std::to_string(e.to + 1);
            out += "  " + source + " [label=" + detail::dot_quoted(detail::at_place(g.parts, e.source).name) +
                   ", shape=plain, fontcolor=gray40];\n";
        }
        out += "  " + source + " -> n" + std::to_string(e.to + 1) + label_attribute +
               detail::dot_quoted(detail::tensor_name(graph, e.tensor) + "\n" + sizes_text(e.sizes) + " " +
                                  std::string(std::string_view(element_name(e.type))) + "\n" +
                                  three_digits(static_cast<double>(e.bytes), "B")) +
               (is_main_edge ? ", weight=9];\n" : ", color=gray50, fontcolor=gray40];\n");
    }
    return out + "}\n";
}

LLMCOST_INLINE std::string graphml_of(const operator_graph& graph, const node_graph& g) {
    std::string out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
    const auto key = [&](std::string_view element, std::string_view name, std::string_view type) {
        out += "  <key id=\"" + std::string(element.substr(0, 1)) + "_" + std::string(name) + "\" for=\"" +
               std::string(element) + "\" attr.name=\"" + std::string(name) + "\" attr.type=\"" + std::string(type) +
               "\"/>\n";
    };
    for (const std::string_view name : {"kind", "name", "type"}) key("node", name, "string");
    for (const std::string_view name : {"parameters", "weight_bytes", "flops", "bytes_read", "bytes_written",
                                        "output_bytes", "cache_bytes", "live_bytes"})
        key("node", name, "long");
    key("node", "seconds", "double");
    for (const std::string_view name : {"tensor", "shape", "dtype"}) key("edge", name, "string");
    key("edge", "bytes", "long");
    out += "  <graph edgedefault=\"directed\">\n";
    const auto data = [&](std::string_view id, std::string_view value) {
        out += "<data key=\"" + std::string(id) + "\">" + xml_text(value) + "</data>";
    };
    for (std::int32_t i = 0; i < detail::length_of(g.parts); ++i) {
        const graph_node& p = detail::at_place(g.parts, i);
        out += "    <node id=\"n" + std::to_string(i + 1) + "\">";
        data("n_kind", name_of(p.kind));
        data("n_name", p.name);
        data("n_type", p.type);
        data("n_flops", count_text{p.done.flops()}.view());
        for (const auto& [id, n] : {std::pair<std::string_view, std::uint64_t>{"n_parameters", p.parameter_elements},
                                    {"n_weight_bytes", p.weight_bytes},
                                    {"n_bytes_read", p.bytes_read},
                                    {"n_bytes_written", p.bytes_written},
                                    {"n_output_bytes", p.output_bytes},
                                    {"n_cache_bytes", p.cache_bytes},
                                    {"n_live_bytes", p.live_bytes}})
            data(id, std::to_string(n));
        if (g.timed) {
            json_writer number(0);
            data("n_seconds", number.value(p.seconds).text());
        }
        out += "</node>\n";
    }
    for (const graph_edge& e : g.edges) {
        out +=
            "    <edge source=\"n" + std::to_string(e.source + 1) + "\" target=\"n" + std::to_string(e.to + 1) + "\">";
        data("e_tensor", detail::tensor_name(graph, e.tensor));
        data("e_shape", sizes_text(e.sizes));
        data("e_dtype", std::string_view(element_name(e.type)));
        data("e_bytes", std::to_string(e.bytes));
        out += "</edge>\n";
    }
    return out + "  </graph>\n</graphml>\n";
}

}  // namespace llmcost
