// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/minimum_cut.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE void flow_network::add_edge(std::size_t start, std::size_t end, std::uint64_t capacity) {
    if (capacity == 0) return;
    edges_of_[start].push_back(edges_.size());
    edges_.push_back({end, std::min(capacity, infinite)});
    edges_of_[end].push_back(edges_.size());
    edges_.push_back({start, 0});
}

LLMCOST_INLINE bool flow_network::set_levels(std::size_t source, std::size_t sink) {
    levels_.assign(edges_of_.size(), -1);
    levels_[source] = 0;
    std::vector<std::size_t> queue{source};
    for (std::size_t i = 0; i < queue.size() && levels_[sink] < 0; ++i)
        for (const std::size_t e : edges_of_[queue[i]]) {
            const edge& to = edges_[e];
            if (to.residual == 0 || levels_[to.end] >= 0) continue;
            levels_[to.end] = levels_[queue[i]] + 1;
            queue.push_back(to.end);
        }
    return levels_[sink] >= 0;
}

LLMCOST_INLINE bool flow_network::augment(std::size_t source, std::size_t sink) {
    std::vector<std::size_t> path;
    std::size_t vertex = source;
    while (vertex != sink) {
        std::size_t& next = next_edges_[vertex];
        while (next < edges_of_[vertex].size()) {
            const edge& to = edges_[edges_of_[vertex][next]];
            if (to.residual > 0 && levels_[to.end] == levels_[vertex] + 1) break;
            ++next;
        }
        if (next < edges_of_[vertex].size()) {
            path.push_back(edges_of_[vertex][next]);
            vertex = edges_[path.back()].end;
            continue;
        }
        if (path.empty()) return false;
        vertex = edges_[path.back() ^ 1U].end;
        path.pop_back();
        ++next_edges_[vertex];
    }
    std::uint64_t flow = infinite;
    for (const std::size_t e : path) flow = std::min(flow, edges_[e].residual);
    for (const std::size_t e : path) {
        edges_[e].residual -= flow;
        edges_[e ^ 1U].residual += flow;
    }
    return true;
}

LLMCOST_INLINE std::vector<bool> flow_network::sink_side(std::size_t source, std::size_t sink) {
    while (set_levels(source, sink)) {
        next_edges_.assign(edges_of_.size(), 0);
        while (augment(source, sink)) {
        }
    }
    std::vector<bool> reaches(edges_of_.size(), false);
    reaches[sink] = true;
    std::vector<std::size_t> queue{sink};
    for (std::size_t i = 0; i < queue.size(); ++i)
        for (const std::size_t e : edges_of_[queue[i]]) {
            const std::size_t start = edges_[e].end;
            if (edges_[e ^ 1U].residual == 0 || reaches[start]) continue;
            reaches[start] = true;
            queue.push_back(start);
        }
    return reaches;
}

}  // namespace llmcost
