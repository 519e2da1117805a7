// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/partition.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/minimum_cut.hpp>

namespace llmcost::detail {

/// The partitioner of a joint graph. Names of members: torch/_functorch/partitioners.py.
class graph_partitioner {
public:
    explicit graph_partitioner(const joint_graph& graph);
    [[nodiscard]] graph_partition divide();

private:
    static constexpr std::int64_t far_from_backward = 1000000000;

    [[nodiscard]] std::size_t size() const { return graph_.nodes.size(); }
    [[nodiscard]] const fx_node& node(std::size_t i) const { return graph_.nodes[i]; }
    /// Whether an operator is in the list of recomputable ones.
    [[nodiscard]] bool is_recomputable(std::size_t i) const;
    [[nodiscard]] bool is_fusible(std::size_t a, std::size_t b) const {
        return node(b).kind == fx_node_kind::cat || (is_recomputable(a) && is_recomputable(b));
    }
    [[nodiscard]] bool is_materialized_backwards(std::size_t i) const;
    [[nodiscard]] bool should_ban_recomputation(std::size_t i) const;
    [[nodiscard]] std::uint64_t weight_of(std::size_t i) const;
    [[nodiscard]] std::int64_t first_unfusible(const std::vector<std::size_t>& start, std::int64_t max_range) const;
    void mark_required();
    void set_distances();
    void ban(std::size_t i) {
        if (node(i).kind != fx_node_kind::view) is_banned_[i] = true;
    }
    void ban_used_far_apart();
    void ban_long_fusible_chains();

    const joint_graph& graph_;
    std::vector<std::vector<std::size_t>> users_;
    std::vector<bool> is_alive_, is_required_forward_, depends_on_tangents_, is_banned_, is_output_;
    std::vector<std::int64_t> order_;     ///< among the nodes that forward requires
    std::vector<std::int64_t> distance_;  ///< operators between a node and backward
};

LLMCOST_INLINE graph_partitioner::graph_partitioner(const joint_graph& graph)
    : graph_(graph),
      users_(size()),
      is_alive_(size(), false),
      is_required_forward_(size(), false),
      depends_on_tangents_(size(), false),
      is_banned_(size(), false),
      is_output_(size(), false),
      order_(size(), -1),
      distance_(size(), far_from_backward) {}

LLMCOST_INLINE bool graph_partitioner::is_recomputable(std::size_t i) const {
    switch (node(i).kind) {
        case fx_node_kind::constant:
        case fx_node_kind::view:
        case fx_node_kind::pointwise:
        case fx_node_kind::reduction:
        case fx_node_kind::result: return true;
        default: return false;
    }
}

LLMCOST_INLINE void graph_partitioner::mark_required() {
    for (const auto* outputs : {&graph_.forward_outputs, &graph_.backward_outputs})
        for (const std::int32_t i : *outputs) is_output_[static_cast<std::size_t>(i)] = true;
    std::vector<std::int32_t> stack(graph_.forward_outputs);
    const auto mark = [&](std::vector<bool>& marks) {
        while (!stack.empty()) {
            const auto i = static_cast<std::size_t>(stack.back());
            stack.pop_back();
            if (marks[i]) continue;
            marks[i] = true;
            for (const std::int32_t input : node(i).inputs) stack.push_back(input);
        }
    };
    mark(is_required_forward_);
    stack = graph_.backward_outputs;
    is_alive_ = is_required_forward_;
    std::vector<bool> is_required_backward(size(), false);
    mark(is_required_backward);
    for (std::size_t i = 0; i < size(); ++i) is_alive_[i] = is_alive_[i] || is_required_backward[i];
    std::int64_t next = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!is_alive_[i]) continue;
        if (is_required_forward_[i]) order_[i] = next++;
        depends_on_tangents_[i] = node(i).kind == fx_node_kind::tangent;
        for (const std::int32_t input : node(i).inputs) {
            const auto from = static_cast<std::size_t>(input);
            if (std::find(users_[from].begin(), users_[from].end(), i) == users_[from].end()) users_[from].push_back(i);
            if (depends_on_tangents_[from]) depends_on_tangents_[i] = true;
        }
    }
}

LLMCOST_INLINE void graph_partitioner::set_distances() {
    for (std::size_t i = size(); i-- > 0;) {
        if (!is_alive_[i]) continue;
        if (!is_required_forward_[i]) {
            distance_[i] = 0;
            continue;
        }
        for (const std::size_t user : users_[i]) distance_[i] = std::min(distance_[i], distance_[user] + 1);
    }
}

LLMCOST_INLINE bool graph_partitioner::is_materialized_backwards(std::size_t i) const {
    if (node(i).kind == fx_node_kind::view) return false;
    std::vector<std::size_t> stack{i};
    while (!stack.empty()) {
        const std::size_t current = stack.back();
        stack.pop_back();
        if (is_output_[current]) return true;
        for (const std::size_t user : users_[current]) {
            if (!is_required_forward_[user] && !is_fusible(current, user)) return true;
            if (node(user).kind == fx_node_kind::view) stack.push_back(user);
        }
    }
    return false;
}

LLMCOST_INLINE bool graph_partitioner::should_ban_recomputation(std::size_t i) const {
    const fx_node& n = node(i);
    if (n.kind == fx_node_kind::result) return false;
    if (!is_recomputable(i) || is_materialized_backwards(i)) return true;
    std::uint64_t read = 0;
    for (const std::int32_t input : n.inputs) read += node(static_cast<std::size_t>(input)).bytes;
    return n.bytes * 4 < read;
}

LLMCOST_INLINE std::uint64_t graph_partitioner::weight_of(std::size_t i) const {
    const fx_node& n = node(i);
    if (n.has_several_results) return flow_network::infinite;
    if (n.kind == fx_node_kind::input) return 0;  // parameters exist anyway (`treat_parameters_as_free_to_save`)
    const double growth =
        std::pow(1.1, static_cast<double>(std::max<std::int64_t>(std::min<std::int64_t>(distance_[i], 100), 1)));
    const auto weight = static_cast<std::uint64_t>(static_cast<double>(n.bytes) * growth);
    if (is_output_[i]) return weight;
    for (const std::size_t user : users_[i])
        if (!is_fusible(i, user)) return weight;
    return 2 * weight;
}

LLMCOST_INLINE std::int64_t graph_partitioner::first_unfusible(const std::vector<std::size_t>& start,
                                                               std::int64_t max_range) const {
    using entry = std::tuple<std::int64_t, std::size_t, bool>;
    std::set<entry> sorted;
    for (const std::size_t i : start) sorted.insert({order_[i], i, true});
    while (!sorted.empty()) {
        const auto [order, i, fuses] = *sorted.begin();
        sorted.erase(sorted.begin());
        if (!fuses) return order;
        for (const std::size_t user : users_[i])
            if (is_required_forward_[user] && order_[user] <= max_range)
                sorted.insert({order_[user], user, is_fusible(i, user)});
    }
    return max_range;
}

LLMCOST_INLINE void graph_partitioner::ban_used_far_apart() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (!is_required_forward_[i]) continue;
        std::vector<std::size_t> forward_users;
        std::int64_t last = -1;
        for (const std::size_t user : users_[i]) {
            if (!is_required_forward_[user]) continue;
            forward_users.push_back(user);
            last = std::max(last, order_[user]);
        }
        if (forward_users.empty()) continue;
        const std::int64_t first = first_unfusible(forward_users, last);
        for (const std::size_t user : forward_users)
            if (order_[user] > first && is_fusible(i, user)) ban(user);
    }
}

LLMCOST_INLINE void graph_partitioner::ban_long_fusible_chains() {
    constexpr std::int64_t max_length = 100;
    std::vector<bool> is_visited(size(), false);
    for (std::size_t start = 0; start < size(); ++start) {
        if (!is_required_forward_[start]) continue;
        using entry = std::pair<std::int64_t, std::size_t>;
        std::priority_queue<entry, std::vector<entry>, std::greater<>> fusible;
        fusible.emplace(order_[start], start);
        while (!fusible.empty()) {
            const std::size_t current = fusible.top().second;
            fusible.pop();
            if (is_visited[current]) continue;
            is_visited[current] = true;
            if (order_[current] > order_[start] + max_length && fusible.empty()) {
                ban(current);
                break;
            }
            for (const std::size_t user : users_[current])
                if (is_required_forward_[user] && is_fusible(current, user) && !is_banned_[user])
                    fusible.emplace(order_[user], user);
        }
    }
}

LLMCOST_INLINE graph_partition graph_partitioner::divide() {
    mark_required();
    set_distances();
    const std::size_t source = 2 * size(), sink = source + 1;
    flow_network network(2 * size() + 2);
    const auto in = [](std::size_t i) { return 2 * i; };
    const auto out = [](std::size_t i) { return 2 * i + 1; };
    for (std::size_t i = 0; i < size(); ++i) {
        if (!is_alive_[i]) continue;
        if (depends_on_tangents_[i]) {
            network.add_edge(in(i), sink, flow_network::infinite);
            continue;
        }
        if (node(i).kind == fx_node_kind::input || (is_required_forward_[i] && should_ban_recomputation(i))) ban(i);
        network.add_edge(in(i), out(i), weight_of(i));
        for (const std::size_t user : users_[i]) network.add_edge(out(i), in(user), flow_network::infinite);
    }
    ban_used_far_apart();
    ban_long_fusible_chains();
    for (std::size_t i = 0; i < size(); ++i)
        if (is_banned_[i]) network.add_edge(source, in(i), flow_network::infinite);
    const std::vector<bool> reaches_sink = network.sink_side(source, sink);
    graph_partition result;
    std::vector<bool> is_saved(size(), false);
    for (std::size_t i = 0; i < size(); ++i) {
        if (!is_alive_[i] || depends_on_tangents_[i] || reaches_sink[in(i)] || !reaches_sink[out(i)]) continue;
        is_saved[i] = true;
        if (node(i).kind == fx_node_kind::input) continue;
        result.saved.push_back(static_cast<std::int32_t>(i));
        result.saved_bytes += node(i).bytes;
    }
    std::vector<bool> in_forward(size(), false), in_backward(size(), false);
    std::vector<std::int32_t> stack(graph_.forward_outputs);
    stack.insert(stack.end(), result.saved.begin(), result.saved.end());
    const auto collect = [&](std::vector<bool>& marks, bool stops_at_saved) {
        while (!stack.empty()) {
            const auto i = static_cast<std::size_t>(stack.back());
            stack.pop_back();
            if (marks[i] || (stops_at_saved && is_saved[i])) continue;
            marks[i] = true;
            stack.insert(stack.end(), node(i).inputs.begin(), node(i).inputs.end());
        }
    };
    collect(in_forward, false);
    stack = graph_.backward_outputs;
    collect(in_backward, true);
    for (std::size_t i = 0; i < size(); ++i) {
        if (in_forward[i]) result.forward.push_back(static_cast<std::int32_t>(i));
        if (in_backward[i]) result.backward.push_back(static_cast<std::int32_t>(i));
        const bool is_operator = node(i).kind != fx_node_kind::input && node(i).kind != fx_node_kind::view &&
                                 node(i).kind != fx_node_kind::constant;
        if (in_forward[i] && in_backward[i] && is_operator) ++result.num_recomputed;
    }
    return result;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE graph_partition partition_graph(const joint_graph& graph) {
    return detail::graph_partitioner(graph).divide();
}

}  // namespace llmcost
