// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/split.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/graph/graph_cuts.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/pass_graph.hpp>

namespace llmcost::detail {

LLMCOST_INLINE pipeline_dp_table::pipeline_dp_table(const operator_graph& graph, const node_graph& g)
    : parts_(g.parts), crossing_(g.parts.size() + 1) {
    for (const graph_cut& cut : find_cuts(graph, g)) at_place(crossing_, cut.first_part) = cut.bytes;
    std::vector<std::int32_t> last(graph.tensors.size(), -1);  // the last part that has read a parameter
    for (std::int32_t i = 0; i < length_of(g.parts); ++i) {
        std::vector<weight>& node_weights = weights_.emplace_back();
        for (const std::int32_t tensor : at_place(g.parts, i).parameters) {
            node_weights.push_back({at_place(graph.tensors, tensor).bytes, std::exchange(at_place(last, tensor), i)});
        }
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE graph_split partition_over(const operator_graph& graph, const node_graph& g,
                                          const std::vector<pipeline_device>& devices,
                                          const std::vector<double>& links) {
    graph_split out;
    const detail::pipeline_dp_table table(graph, g);
    const std::int32_t n = table.parts();
    const auto k = devices.size();
    if (k == 0) return out;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // the first part has the inputs of the model, the last one its outputs
    const auto may_end = [&](std::int32_t part) { return part == n || (part > 1 && part < n - 1); };
    const auto each_way = [&](std::size_t d, const std::vector<double>& prefix_costs, double maximum, auto reach) {
        for (std::int32_t first = 0; first < n; ++first) {
            if (detail::at_place(prefix_costs, first) == infinity || (first == 0) != (d == 0)) continue;
            table.each_stage(first, devices[d], d == 0 ? 1 : links[d - 1], [&](const graph_stage& s) {
                if (s.memory() > devices[d].memory || s.all_seconds() > maximum) return false;
                if (may_end(s.end) && (s.end == n) == (d + 1 == k)) reach(s, detail::at_place(prefix_costs, first));
                return true;
            });
        }
    };
    std::vector<double> fastest(static_cast<std::size_t>(n) + 1, infinity);
    fastest[0] = 0;
    for (std::size_t d = 0; d < k; ++d) {
        std::vector<double> next(fastest.size(), infinity);
        each_way(d, fastest, infinity, [&](const graph_stage& s, double prefix_cost) {
            double& best = detail::at_place(next, s.end);
            best = std::min(best, std::max(prefix_cost, s.all_seconds()));
        });
        fastest = std::move(next);
    }
    out.slowest = fastest.back();
    if (out.slowest == infinity) return out;
    std::vector<double> minimum(static_cast<std::size_t>(n) + 1, infinity);
    minimum[0] = 0;
    std::vector<std::vector<graph_stage>> chosen(k, std::vector<graph_stage>(minimum.size()));
    for (std::size_t d = 0; d < k; ++d) {
        std::vector<double> next(minimum.size(), infinity);
        each_way(d, minimum, out.slowest, [&](const graph_stage& s, double prefix_cost) {
            double& best = detail::at_place(next, s.end);
            if (prefix_cost + s.all_seconds() >= best) return;
            best = prefix_cost + s.all_seconds();
            detail::at_place(chosen[d], s.end) = s;
        });
        minimum = std::move(next);
    }
    out.pass_seconds = minimum.back();
    std::int32_t end = n;
    for (std::size_t d = k; d-- > 0; end = out.stages.front().first)
        out.stages.insert(out.stages.begin(), detail::at_place(chosen[d], end));
    return out;
}

}  // namespace llmcost
