// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <llmcost/graph/module_graph.hpp>

// Where a pass can be cut in two, in the order of its execution.
namespace llmcost {

/// A cut in front of a part: what lies on either side, and what must go across.
struct graph_cut {
    std::int32_t at = 0;      ///< the first part behind it
    std::uint64_t bytes = 0;  ///< of tensors that are made before it and read behind it, each once
    std::vector<std::int32_t> tensors{};
    std::uint64_t weights_before = 0, weights_behind = 0;  ///< what both sides read is on both
    std::uint64_t cache_before = 0, cache_behind = 0;
    double seconds_before = 0, seconds_behind = 0;
};

/// The cuts of a graph: one in front of each part but the first that executes something.
///
/// What is handed in goes to whoever reads it, and what a side gives out stays there: neither goes across. A tensor of which
/// parts alone are read behind a cut goes across as those parts.
[[nodiscard]] inline std::vector<graph_cut> cuts_of(const operator_graph& from, const part_graph& g) {
    std::vector<graph_cut> cuts;
    const std::int32_t first = 2, end = detail::length_of(g.parts) - 1;
    for (std::int32_t at = first; at < end; ++at) cuts.emplace_back().at = at;
    if (cuts.empty()) return cuts;
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const part_edge*>> readers;  // edges lie in order of `to`
    for (const part_edge& e : g.edges)
        if (e.producer >= 0 && e.to < end) readers[{e.producer, e.tensor}].push_back(&e);
    for (const auto& [made, all] : readers) {
        const std::uint64_t whole = detail::at_place(from.tensors, made.second).bytes;
        std::vector<std::vector<std::int64_t>> seen;
        std::uint64_t bytes = 0;
        for (std::size_t i = all.size(); i-- > 0;) {
            const part_edge& e = *all[i];
            if (std::ranges::find(seen, e.sizes) == seen.end()) seen.push_back(e.sizes), bytes += e.bytes;
            for (std::int32_t at = std::max(first, 1 + (i > 0 ? all[i - 1]->to : e.from)); at <= e.to; ++at) {
                graph_cut& cut = detail::at_place(cuts, at - first);
                cut.bytes += std::min(bytes, whole), cut.tensors.push_back(made.second);
            }
        }
    }
    std::map<std::int32_t, std::pair<std::int32_t, std::int32_t>> reach;  // of parameters: their first and last part
    graph_part all, before;
    for (std::int32_t i = 0; i <= end; ++i) {
        const graph_part& p = detail::at_place(g.parts, i);
        for (const std::int32_t tensor : p.parameters) reach.try_emplace(tensor, i, i).first->second.second = i;
        all.cache_bytes += p.cache_bytes, all.seconds += p.seconds;
    }
    std::vector<std::uint64_t> begins(g.parts.size()), ends(g.parts.size());
    for (const auto& [tensor, parts] : reach) {
        const std::uint64_t bytes = detail::at_place(from.tensors, tensor).bytes;
        detail::at_place(begins, parts.first) += bytes, detail::at_place(ends, parts.second) += bytes;
        all.weight_bytes += bytes;
    }
    std::uint64_t done_with = 0;  // weights that nobody behind reads
    for (std::int32_t i = 0; i + 1 < end; ++i) {
        const graph_part& p = detail::at_place(g.parts, i);
        before.cache_bytes += p.cache_bytes, before.seconds += p.seconds;
        before.weight_bytes += detail::at_place(begins, i), done_with += detail::at_place(ends, i);
        if (i + 1 < first) continue;
        graph_cut& cut = detail::at_place(cuts, i + 1 - first);
        cut.weights_before = before.weight_bytes, cut.weights_behind = all.weight_bytes - done_with;
        cut.cache_before = before.cache_bytes, cut.cache_behind = all.cache_bytes - before.cache_bytes;
        cut.seconds_before = before.seconds, cut.seconds_behind = all.seconds - before.seconds;
    }
    return cuts;
}

}  // namespace llmcost
