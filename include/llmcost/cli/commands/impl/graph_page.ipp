// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/graph_page.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/pages/tree.hpp>
#include <llmcost/graph/folded_path.hpp>
#include <llmcost/graph/graph_cuts.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/split.hpp>
#include <llmcost/graph/statistics.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string format_statistics(const node_graph& g) {
    const graph_statistics s = statistics_of(g);
    const auto number = [](std::int32_t n) { return grouped(count(n)); };
    std::string out = number(s.parts) + " nodes: " + number(s.modules) + " modules, " + number(s.operations) +
                      " operations, input, output\n" + number(s.edges) + " edges, " + in_bytes(count(s.edge_bytes)) +
                      "; depth " + number(s.depth) + ", width " + number(s.width) + "; fan-out " +
                      formatted("%.1f", s.mean_readers) + ", at most " + number(s.max_readers) + ": " +
                      printable(at_place(g.parts, s.max_read).name) + '\n' + "critical path of " +
                      number(length_of(s.critical_path)) + " nodes";
    if (g.timed) out += ": " + duration(s.critical_seconds) + " of " + duration(s.seconds);
    return out + '\n';
}

/// The numbers of the nodes that a node reads, e.g. `1-3, 7`.
LLMCOST_INLINE std::string parts_read(const node_graph& g, std::int32_t part) {
    std::vector<std::string> numbers;
    for (const graph_edge& e : g.edges)
        if (e.to == part && (numbers.empty() || numbers.back() != std::to_string(e.source + 1)))
            numbers.push_back(std::to_string(e.source + 1));
    return number_ranges(numbers);
}

LLMCOST_INLINE std::string format_nodes(const node_graph& g) {
    table t{{{"id", true}, {"node"}, {"type"}, {"params", true}, {"FLOPs", true}, {"output"}, {"live"}}, {}};
    if (g.timed) t.columns.push_back({"time"});
    t.columns.push_back({"reads"});
    for (std::int32_t i = 0; i < length_of(g.parts); ++i) {
        const graph_node& p = at_place(g.parts, i);
        std::vector<std::string> row{std::to_string(i + 1),
                                     printable(p.name),
                                     p.kind == part_kind::module ? p.type : "",
                                     std::to_string(p.parameter_elements),
                                     digits(p.done.flops()),
                                     in_bytes(count(p.output_bytes)),
                                     in_bytes(count(p.live_bytes))};
        if (g.timed) row.push_back(duration(p.seconds));
        row.push_back(parts_read(g, i));
        t.rows.push_back(std::move(row));
    }
    return plain(t);
}

LLMCOST_INLINE std::string format_cuts(const operator_graph& graph, const node_graph& g, double bytes_per_second) {
    table t{{{"before", true}, {"node"}, {"tensors", true}, {"bytes", true}}, {}};
    if (bytes_per_second > 0) t.columns.push_back({"transfer"});
    for (const char* title : {"weights before", "weights after"}) t.columns.push_back({title});
    if (g.timed)
        for (const char* title : {"time before", "time after"}) t.columns.push_back({title});
    for (const graph_cut& cut : find_cuts(graph, g)) {
        std::vector<std::string> row{std::to_string(cut.first_part + 1),
                                     printable(at_place(g.parts, cut.first_part).name),
                                     std::to_string(cut.tensors.size()), std::to_string(cut.bytes)};
        if (bytes_per_second > 0) row.push_back(duration(static_cast<double>(cut.bytes) / bytes_per_second));
        row.push_back(in_bytes(count(cut.weights_before)));
        row.push_back(in_bytes(count(cut.weights_after)));
        if (g.timed) {
            row.push_back(duration(cut.seconds_before));
            row.push_back(duration(cut.seconds_after));
        }
        t.rows.push_back(std::move(row));
    }
    return "Cuts in the order of execution:\n" + plain(t);
}

LLMCOST_INLINE std::string format_split(const node_graph& g, const graph_split& split,
                                        const std::vector<std::string>& names,
                                        const std::vector<pipeline_device>& holds) {
    if (split.stages.empty())
        return "No split over " + std::to_string(names.size()) + " devices fits into their memory\n";
    table t{{{"device"},
             {"from"},
             {"to"},
             {"receives"},
             {"transfer"},
             {"time"},
             {"weights"},
             {"cache"},
             {"live"},
             {"capacity"}},
            {}};
    for (std::size_t i = 0; i < split.stages.size(); ++i) {
        const graph_stage& s = split.stages[i];
        t.rows.push_back({names[i], printable(at_place(g.parts, s.first).name),
                          printable(at_place(g.parts, s.end - 1).name), in_bytes(count(s.received)),
                          duration(s.link_seconds), duration(s.seconds), in_bytes(count(s.weights)),
                          in_bytes(count(s.cache)), in_bytes(count(s.live)), in_bytes(count(holds[i].memory))});
    }
    return "Best split over " + std::to_string(names.size()) + " devices: one pass every " + duration(split.slowest) +
           ", " + "latency " + duration(split.pass_seconds) + " per pass\n" + plain(t);
}

}  // namespace llmcost::cli::detail
