// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/layer_drawing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/graph_drawing.hpp>
#include <llmcost/report/layered_layout.hpp>
#include <llmcost/report/svg.hpp>

namespace llmcost {

LLMCOST_INLINE layer_parts layer_parts_of(const operator_graph& graph, const node_graph& g, std::int32_t module) {
    layer_parts out;
    const graph_module& layer = detail::at_place(graph.modules, module);
    out.path = layer.path;
    std::map<std::int32_t, std::int32_t> place;
    for (std::int32_t i = 0; i < detail::length_of(g.parts); ++i) {
        const graph_node& p = detail::at_place(g.parts, i);
        if (p.first < layer.first || p.end > layer.end || p.first == p.end) continue;
        place[i] = detail::length_of(out.internal_nodes);
        out.internal_nodes.push_back(i);
    }
    const std::int32_t num_internal = detail::length_of(out.internal_nodes);
    std::vector<const graph_edge*> incoming, outgoing;
    for (const graph_edge& e : g.edges) {
        const bool is_source_inside = place.contains(e.source), is_target_inside = place.contains(e.to);
        if (is_source_inside && is_target_inside) {
            out.edges.push_back(e);
            out.edges.back().source = place[e.source];
            out.edges.back().to = place[e.to];
        } else if (is_target_inside) {
            incoming.push_back(&e);
        } else if (is_source_inside) {
            outgoing.push_back(&e);
        }
    }
    for (const graph_edge* e : incoming) {
        auto known = std::ranges::find(out.external_nodes, e->source);
        if (known == out.external_nodes.end()) known = out.external_nodes.insert(known, e->source);
        out.edges.push_back(*e);
        out.edges.back().source = num_internal + static_cast<std::int32_t>(known - out.external_nodes.begin());
        out.edges.back().to = place[e->to];
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> unique_outputs;
    for (const graph_edge* e : outgoing) {
        if (std::ranges::find(unique_outputs, std::pair(e->source, e->tensor)) != unique_outputs.end()) continue;
        unique_outputs.emplace_back(e->source, e->tensor);
        out.edges.push_back(*e);
        out.edges.back().source = place[e->source];
        out.edges.back().to = out.boxes() - 1;
    }
    return out;
}

}  // namespace llmcost

namespace llmcost::detail {

LLMCOST_INLINE std::string name_in(std::string_view layer, std::string_view name) {
    const bool below = name.size() > layer.size() && name.starts_with(layer) && name[layer.size()] == '.';
    return std::string(below ? name.substr(layer.size() + 1) : name);
}

/// The longest suffix of a name with about this width.
[[nodiscard]] LLMCOST_INLINE std::string svg_cut_front(std::string_view text, double width) {
    if (svg_width_of(text) <= width) return std::string(text);
    while (!text.empty() && svg_width_of(text) + 9 > width) text.remove_prefix(1);
    return "…" + std::string(text);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE svg_picture layer_drawing(const chart_text& text, const node_graph& g, const layer_parts& layer) {
    constexpr double box_width = 196, high = 54, gap = 30, left = 14, top = 46;
    std::vector<layered_edge> edges;
    for (const graph_edge& e : layer.edges) edges.push_back({e.source, e.to});
    const layered_places places = layered_layout(layer.boxes(), edges, box_width, high, gap);
    svg_picture out = detail::begin_picture(text);
    out.width = std::max(640.0, places.width + 2 * left);
    out.height = places.height + top + 20;
    const double shift = left + (out.width - 2 * left - places.width) / 2;
    for (std::size_t i = 0; i < layer.edges.size(); ++i) {
        std::string d;
        const std::vector<layered_point>& way = places.edges[i];
        for (std::size_t k = 0; k < way.size(); ++k) {
            const std::string x = svg_number(way[k].x + shift);
            if (k == 0) {
                d = "M" + x + " " + svg_number(way[k].y + top);
                continue;
            }
            const std::string half = svg_number((way[k - 1].y + way[k].y) / 2 + top);
            d += "C" + svg_number(way[k - 1].x + shift) + " " + half + " " + x + " " + half + " " + x + " " +
                 svg_number(way[k].y + top);
        }
        out.drawn.path(d + "m-4 -7l4 7l4 -7", "lc-axis", "none", detail::tensor_label(layer.edges[i]));
    }
    std::vector<const graph_edge*> output_edges(static_cast<std::size_t>(layer.boxes()), nullptr);
    for (const graph_edge& e : layer.edges)
        if (output_edges[static_cast<std::size_t>(e.source)] == nullptr)
            output_edges[static_cast<std::size_t>(e.source)] = &e;
    const std::int32_t num_internal = detail::length_of(layer.internal_nodes);
    for (std::int32_t i = 0; i < layer.boxes(); ++i) {
        const bool follows = i + 1 == layer.boxes(), is_internal = i < num_internal;
        const graph_node* const p =
            follows       ? nullptr
            : is_internal ? &detail::at_place(g.parts, detail::at_place(layer.internal_nodes, i))
                          : &detail::at_place(g.parts, detail::at_place(layer.external_nodes, i - num_internal));
        const layered_point center = places.boxes[static_cast<std::size_t>(i)];
        const double x = center.x + shift - box_width / 2, y = center.y + top - high / 2;
        const std::string name = p == nullptr ? "what follows" : detail::name_in(layer.path, p->name);
        const graph_edge* const output_edge = output_edges[static_cast<std::size_t>(i)];
        std::string figures;
        if (p != nullptr && is_internal) {
            if (p->done.flops() != count{})
                figures = detail::three_digits(static_cast<double>(p->done.flops()), "FLOP");
            if (p->seconds > 0) figures += (figures.empty() ? "" : ", ") + detail::three_digits(p->seconds, "s");
        }
        const std::string type = p != nullptr && p->kind == part_kind::module ? p->type : std::string();
        const std::string tip = name + (type.empty() ? "" : ", " + type) + (figures.empty() ? "" : ": " + figures) +
                                (output_edge == nullptr ? "" : "; gives " + detail::tensor_label(*output_edge));
        const bool module = p != nullptr && p->kind == part_kind::module;
        out.drawn.element("rect",
                          {{"x", x},
                           {"y", y},
                           {"width", box_width},
                           {"height", high},
                           {"rx", module ? 3.0 : 16.0},
                           {"class", is_internal ? svg_class("mark", module && p->parameter_elements > 0 ? 0
                                                                     : module                            ? 2
                                                                                                         : 7)
                                                 : svg_class("mark", 7) + " lc-dashed"}},
                          tip);
        out.drawn.text(center.x + shift, y + 17, detail::svg_cut_front(name, box_width * 1.1), svg_anchor::middle);
        const std::string second = is_internal ? figures : p == nullptr ? std::string() : "from outside";
        out.drawn.text(center.x + shift, y + 33, second, svg_anchor::middle, "lc-small lc-soft");
        if (output_edge != nullptr)
            out.drawn.text(center.x + shift, y + 48,
                           detail::svg_cut(detail::type_label(*output_edge), box_width * 1.15), svg_anchor::middle,
                           "lc-small lc-soft");
    }
    return out;
}

}  // namespace llmcost
