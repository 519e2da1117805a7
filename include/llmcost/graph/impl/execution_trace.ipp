// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/execution_trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/split.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<std::vector<trace_node>> execution_traces_of(const node_graph& g,
                                                                        std::vector<graph_stage> stages,
                                                                        const std::vector<pipeline_device>& devices) {
    if (stages.empty()) stages.emplace_back().end = detail::length_of(g.parts);
    const auto parts = static_cast<std::uint64_t>(g.parts.size());
    std::vector<std::vector<trace_node>> out;
    for (std::size_t d = 0; d < stages.size(); ++d) {
        const graph_stage& s = stages[d];
        std::vector<trace_node>& nodes = out.emplace_back();
        const auto message = [&](trace_kind kind, std::int32_t cut, std::uint64_t bytes) {
            trace_node n;
            n.kind = kind;
            n.bytes = bytes;
            n.source_device = cut;
            n.to = cut + 1;
            n.tag = cut;
            n.id = parts + static_cast<std::uint64_t>(kind == trace_kind::send ? 2 : 1);
            n.name = (kind == trace_kind::send ? "to device " : "from device ") +
                     std::to_string(kind == trace_kind::send ? cut + 1 : cut);
            nodes.push_back(std::move(n));
            return nodes.back().id;
        };
        const auto device_index = static_cast<std::int32_t>(d);
        const std::uint64_t received = d > 0 ? message(trace_kind::receive, device_index - 1, s.received) : 0;
        const auto add_unique = [](std::vector<std::uint64_t>& in, std::uint64_t id) {
            if (id != 0 && std::ranges::find(in, id) == in.end()) in.push_back(id);
        };
        std::vector<std::vector<std::uint64_t>> reads(g.parts.size());
        std::vector<std::uint64_t> sent;
        for (const graph_edge& e : g.edges) {
            if (e.producer < 0) continue;  // inputs of the model have no dependency
            const std::uint64_t made = e.source >= s.first ? static_cast<std::uint64_t>(e.source) + 1 : received;
            if (e.source < s.end && e.to >= s.end && d + 1 < stages.size()) add_unique(sent, made);
            if (e.to >= s.first && e.to < s.end) add_unique(detail::at_place(reads, e.to), made);
        }
        double now = 0;
        std::uint64_t previous_id = 0;
        for (std::int32_t i = s.first; i < s.end; ++i) {
            const graph_node& p = detail::at_place(g.parts, i);
            if (p.first == p.end) continue;
            trace_node n;
            n.id = static_cast<std::uint64_t>(i) + 1;
            n.name = p.name;
            n.flops = p.done.flops().to_64();
            n.bytes = p.bytes_read + p.bytes_written;
            n.data = std::move(detail::at_place(reads, i));
            add_unique(n.control, previous_id);
            n.begins = now;
            n.seconds = d < devices.size() ? detail::at_place(devices[d].seconds, i) : p.seconds;
            now += n.seconds;
            previous_id = n.id;
            nodes.push_back(std::move(n));
        }
        if (d + 1 == stages.size()) continue;
        (void)message(trace_kind::send, device_index, stages[d + 1].received);
        nodes.back().data = std::move(sent);
    }
    return out;
}

}  // namespace llmcost
