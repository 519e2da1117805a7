// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/graph_cuts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>

namespace llmcost {

LLMCOST_INLINE std::vector<graph_cut> find_cuts(const operator_graph& graph, const node_graph& g) {
    std::vector<graph_cut> cuts;
    const std::int32_t first = 2, end = detail::length_of(g.parts) - 1;
    for (std::int32_t part = first; part < end; ++part) cuts.emplace_back().first_part = part;
    if (cuts.empty()) return cuts;
    std::vector<const graph_edge*> crossing;
    for (const graph_edge& e : g.edges)
        if (e.producer >= 0 && e.to < end) crossing.push_back(&e);
    const auto made = [](const graph_edge* e) { return std::pair{e->producer, e->tensor}; };
    std::ranges::stable_sort(crossing, {}, made);  // edges of a tensor stay in order of `to`
    for (auto next = crossing.begin(); next != crossing.end();) {
        const auto group_end = std::ranges::upper_bound(next, crossing.end(), made(*next), {}, made);
        const std::span<const graph_edge* const> all(&*next, static_cast<std::size_t>(group_end - next));
        next = group_end;
        const std::int32_t tensor = all.front()->tensor;
        const std::uint64_t tensor_bytes = detail::at_place(graph.tensors, tensor).bytes;
        std::vector<std::vector<std::int64_t>> unique_sizes;
        std::uint64_t bytes = 0;
        for (std::size_t i = all.size(); i-- > 0;) {
            const graph_edge& e = *all[i];
            if (std::ranges::find(unique_sizes, e.sizes) == unique_sizes.end()) {
                unique_sizes.push_back(e.sizes);
                bytes += e.bytes;
            }
            for (std::int32_t part = std::max(first, 1 + (i > 0 ? all[i - 1]->to : e.source)); part <= e.to; ++part) {
                graph_cut& cut = detail::at_place(cuts, part - first);
                cut.bytes += std::min(bytes, tensor_bytes);
                cut.tensors.push_back(tensor);
            }
        }
    }
    std::vector<std::int32_t> first_part(graph.tensors.size(), -1),
        last_part(graph.tensors.size(), -1);  // of parameters
    graph_node all, prefix;
    for (std::int32_t i = 0; i <= end; ++i) {
        const graph_node& p = detail::at_place(g.parts, i);
        for (const std::int32_t tensor : p.parameters) {
            if (detail::at_place(first_part, tensor) < 0) detail::at_place(first_part, tensor) = i;
            detail::at_place(last_part, tensor) = i;
        }
        all.cache_bytes += p.cache_bytes;
        all.seconds += p.seconds;
    }
    std::vector<std::uint64_t> begins(g.parts.size()), ends(g.parts.size());
    for (std::size_t i = 0; i < first_part.size(); ++i) {
        if (first_part[i] < 0) continue;
        const std::uint64_t bytes = graph.tensors[i].bytes;
        detail::at_place(begins, first_part[i]) += bytes;
        detail::at_place(ends, last_part[i]) += bytes;
        all.weight_bytes += bytes;
    }
    std::uint64_t done_with = 0;  // weights that no later part reads
    for (std::int32_t i = 0; i + 1 < end; ++i) {
        const graph_node& p = detail::at_place(g.parts, i);
        prefix.cache_bytes += p.cache_bytes;
        prefix.seconds += p.seconds;
        prefix.weight_bytes += detail::at_place(begins, i);
        done_with += detail::at_place(ends, i);
        if (i + 1 < first) continue;
        graph_cut& cut = detail::at_place(cuts, i + 1 - first);
        cut.weights_before = prefix.weight_bytes;
        cut.weights_after = all.weight_bytes - done_with;
        cut.cache_before = prefix.cache_bytes;
        cut.cache_after = all.cache_bytes - prefix.cache_bytes;
        cut.seconds_before = prefix.seconds;
        cut.seconds_after = all.seconds - prefix.seconds;
    }
    return cuts;
}

}  // namespace llmcost
