// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/fusion.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/torch/fusion_group.hpp>
#include <llmcost/torch/inductor_buffers.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/split_reduction.hpp>

namespace llmcost::detail {

/// Fuses the kernels of a graph in rounds, as `Scheduler.fuse_nodes` does.
class graph_fuser {
public:
    graph_fuser(const joint_graph& graph, const std::vector<std::int32_t>& nodes,
                const std::vector<std::int32_t>& outputs, const inductor_device& device)
        : graph_(graph),
          nodes_(fuse_added_products(graph_, nodes, outputs)),
          device_(device),
          buffers_(graph_, nodes_, outputs) {}

    [[nodiscard]] std::vector<fusion_group> fuse();

private:
    struct kernel {
        fusion_group group{};
        tensor_reads reads{};
        std::set<std::size_t> producers{};  ///< kernels that it reads
        std::set<std::int32_t> operators{};
        bool is_permuted = false;
        bool is_fused = false;  ///< part of an earlier kernel
    };

    [[nodiscard]] const fx_node& node(std::int32_t i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }
    void add_kernels();
    [[nodiscard]] std::size_t find(std::size_t k) const;
    /// Whether two kernels iterate over the same elements.
    [[nodiscard]] bool has_equal_loops(const kernel& a, const kernel& b) const;
    [[nodiscard]] bool has_mixed_order(const kernel& row, const kernel& column) const;
    /// Whether a kernel reads results of another one in other positions than it computes them.
    [[nodiscard]] bool reads_other_positions(const kernel& reader, std::size_t producer) const;
    /// Whether another kernel lies between two kernels.
    [[nodiscard]] bool has_path_between(std::size_t first, std::size_t last) const;
    [[nodiscard]] std::uint64_t shared_bytes(std::size_t a, std::size_t b) const;
    [[nodiscard]] bool fuse_round();
    void merge(std::size_t a, std::size_t b);
    [[nodiscard]] std::vector<fusion_group> ordered_groups();

    joint_graph graph_;  ///< with the kinds that Inductor's passes leave
    const std::vector<std::int32_t> nodes_;
    const inductor_device& device_;
    inductor_buffers buffers_;
    std::vector<kernel> kernels_;
    std::vector<std::size_t> parent_;
    std::map<std::int32_t, std::size_t> producer_;  ///< kernel of a node
};

LLMCOST_INLINE std::size_t graph_fuser::find(std::size_t k) const {
    while (parent_[k] != k) k = parent_[k];
    return k;
}

LLMCOST_INLINE void graph_fuser::add_kernels() {
    for (const std::int32_t i : nodes_) {
        const fx_node& n = node(i);
        if (n.kind == fx_node_kind::result) {
            const auto source = producer_.find(n.inputs.front());
            if (source == producer_.end()) continue;
            producer_[i] = source->second;
            kernels_[source->second].group.nodes.push_back(i);
            continue;
        }
        if (!buffers_.is_realized(i) || n.kind == fx_node_kind::input || n.kind == fx_node_kind::tangent) continue;
        kernel k;
        k.group.nodes = {i};
        k.group.is_external = n.kind == fx_node_kind::external;
        k.group.has_reduction = n.kind == fx_node_kind::reduction && !inductor_buffers::is_unrolled(n);
        k.group.is_column_reduction = k.group.has_reduction && n.is_column_reduction;
        k.group.elements = n.kind == fx_node_kind::scatter ? node(n.inputs[1]).numel : n.numel;
        k.group.reduced = k.group.has_reduction ? static_cast<std::uint64_t>(n.reduced) : 1;
        inlined_reads reads = buffers_.reads_of(i);
        k.is_permuted = reads.is_permuted;
        k.reads = std::move(reads.tensors);
        k.operators = std::move(reads.operators);
        if (n.kind == fx_node_kind::constant) k.operators.insert(i);
        if (k.group.is_external) k.group.kernels = n.kernels;
        for (const auto& [leaf, parts] : k.reads)
            if (const auto place = producer_.find(leaf); place != producer_.end()) k.producers.insert(place->second);
        producer_[i] = kernels_.size();
        parent_.push_back(kernels_.size());
        kernels_.push_back(std::move(k));
    }
}

LLMCOST_INLINE bool graph_fuser::has_mixed_order(const kernel& row, const kernel& column) const {
    constexpr std::uint64_t min_elements = 5U << 20U, min_rows = 4096, max_columns = 16 * 1024;
    const std::uint64_t rows = row.group.elements, columns = row.group.reduced;
    if (column.group.elements != columns || column.group.reduced != rows) return false;
    if (rows * columns < min_elements || rows < min_rows || columns > max_columns) return false;
    return std::any_of(row.reads.begin(), row.reads.end(),
                       [&](const auto& read) { return column.reads.contains(read.first); });
}

LLMCOST_INLINE bool graph_fuser::has_equal_loops(const kernel& a, const kernel& b) const {
    const fusion_group &x = a.group, &y = b.group;
    if (!x.has_reduction && !y.has_reduction) return x.elements == y.elements;
    if (x.has_reduction && y.has_reduction) {
        if (x.is_mixed || y.is_mixed) {
            const kernel& mixed = x.is_mixed ? a : b;
            const kernel& other = x.is_mixed ? b : a;
            if (other.group.is_column_reduction) return has_mixed_order(mixed, other);
            return mixed.group.elements == other.group.elements && mixed.group.reduced == other.group.reduced;
        }
        if (x.is_column_reduction != y.is_column_reduction)
            return x.is_column_reduction ? has_mixed_order(b, a) : has_mixed_order(a, b);
        return x.elements == y.elements && x.reduced == y.reduced;
    }
    const kernel& reduction = x.has_reduction ? a : b;
    const kernel& pointwise = x.has_reduction ? b : a;
    const std::uint64_t elements = pointwise.group.elements;
    if (elements == reduction.group.elements) return true;
    if (elements != reduction.group.elements * reduction.group.reduced) return false;
    // loops over several dimensions can be reordered (`loop_ordering_after_fusion`)
    return !reduction.group.is_column_reduction || pointwise.is_permuted;
}

LLMCOST_INLINE bool graph_fuser::reads_other_positions(const kernel& reader, std::size_t producer) const {
    return std::any_of(reader.reads.begin(), reader.reads.end(), [&](const auto& read) {
        const auto place = producer_.find(read.first);
        return place != producer_.end() && find(place->second) == producer && !read.second.contains(whole_tensor);
    });
}

LLMCOST_INLINE bool graph_fuser::has_path_between(std::size_t first, std::size_t last) const {
    std::vector<std::size_t> stack;
    std::set<std::size_t> visited;
    for (const std::size_t p : kernels_[last].producers)
        if (find(p) != first) stack.push_back(find(p));
    while (!stack.empty()) {
        const std::size_t k = stack.back();
        stack.pop_back();
        if (k == first) return true;
        if (k == last || !visited.insert(k).second) continue;
        for (const std::size_t p : kernels_[k].producers) stack.push_back(find(p));
    }
    return false;
}

LLMCOST_INLINE std::uint64_t graph_fuser::shared_bytes(std::size_t a, std::size_t b) const {
    std::uint64_t sum = 0;
    for (const auto& [leaf, parts] : kernels_[a].reads) {
        const auto other = kernels_[b].reads.find(leaf);
        if (other != kernels_[b].reads.end())
            sum += std::min(bytes_of_reads(graph_, leaf, parts), bytes_of_reads(graph_, leaf, other->second));
    }
    const auto add_produced = [&](std::size_t reader, std::size_t producer) {
        for (const auto& [leaf, parts] : kernels_[reader].reads) {
            const auto place = producer_.find(leaf);
            if (place != producer_.end() && find(place->second) == producer) sum += bytes_of_reads(graph_, leaf, parts);
        }
    };
    add_produced(a, b);
    add_produced(b, a);
    return sum;
}

LLMCOST_INLINE bool graph_fuser::fuse_round() {
    constexpr std::size_t max_attempts = 64, max_nodes = 64;
    constexpr std::uint64_t min_shared_bytes = 10;
    std::map<std::int32_t, std::vector<std::size_t>> kernels_of;  // by tensor
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
        if (kernels_[k].is_fused || kernels_[k].group.is_external) continue;
        for (const auto& [leaf, parts] : kernels_[k].reads) kernels_of[leaf].push_back(k);
        for (const std::int32_t i : kernels_[k].group.nodes) kernels_of[i].push_back(k);
    }
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (auto& [leaf, list] : kernels_of) {
        std::sort(list.begin(), list.end());
        for (std::size_t i = 0; i < list.size(); ++i)
            for (std::size_t j = i + 1; j < list.size() && j <= i + max_attempts; ++j)
                if (list[i] != list[j]) pairs.insert({list[i], list[j]});
    }
    // both reductions or both pointwise first, then by shared bytes, then by distance
    std::vector<std::tuple<bool, std::uint64_t, std::int64_t, std::size_t, std::size_t>> candidates;
    for (const auto& [a, b] : pairs) {
        if (!has_equal_loops(kernels_[a], kernels_[b])) continue;
        const std::uint64_t shared = shared_bytes(a, b);
        if (shared < min_shared_bytes) continue;
        candidates.emplace_back(kernels_[a].group.has_reduction == kernels_[b].group.has_reduction, shared,
                                -static_cast<std::int64_t>(b - a), a, b);
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& x, const auto& y) {
        return std::tie(std::get<0>(x), std::get<1>(x), std::get<2>(x)) >
               std::tie(std::get<0>(y), std::get<1>(y), std::get<2>(y));
    });
    bool fused = false;
    for (const auto& candidate : candidates) {
        const std::size_t a = find(std::get<3>(candidate)), b = find(std::get<4>(candidate));
        if (a == b || kernels_[a].group.nodes.size() + kernels_[b].group.nodes.size() > max_nodes) continue;
        if (!has_equal_loops(kernels_[a], kernels_[b]) || reads_other_positions(kernels_[b], a) ||
            reads_other_positions(kernels_[a], b) || has_path_between(a, b) || has_path_between(b, a))
            continue;
        merge(std::min(a, b), std::max(a, b));
        fused = true;
    }
    return fused;
}

LLMCOST_INLINE void graph_fuser::merge(std::size_t a, std::size_t b) {
    kernel &to = kernels_[a], &from = kernels_[b];
    parent_[b] = a;
    from.is_fused = true;
    for (const auto& [leaf, parts] : from.reads) to.reads[leaf].insert(parts.begin(), parts.end());
    to.producers.insert(from.producers.begin(), from.producers.end());
    std::erase_if(to.producers, [&](std::size_t p) { return find(p) == a; });
    to.operators.merge(from.operators);
    to.is_permuted = to.is_permuted && from.is_permuted;
    fusion_group &x = to.group, &y = from.group;
    x.nodes.insert(x.nodes.end(), y.nodes.begin(), y.nodes.end());
    const bool is_mixed = x.has_reduction && y.has_reduction &&
                          (x.is_mixed || y.is_mixed || x.is_column_reduction != y.is_column_reduction);
    if (!x.has_reduction || (is_mixed && x.is_column_reduction)) {
        x.elements = y.has_reduction ? y.elements : x.elements;
        x.reduced = y.has_reduction ? y.reduced : x.reduced;
        x.is_column_reduction = y.is_column_reduction;
        x.has_reduction = y.has_reduction;
    }
    x.is_mixed = is_mixed || x.is_mixed || y.is_mixed;
}

LLMCOST_INLINE std::vector<fusion_group> graph_fuser::ordered_groups() {
    std::map<std::int32_t, bool> is_read_elsewhere;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
        if (kernels_[k].is_fused) continue;
        for (const auto& [leaf, parts] : kernels_[k].reads) {
            const auto place = producer_.find(leaf);
            const bool is_own = place != producer_.end() && find(place->second) == k;
            if (is_own) continue;
            is_read_elsewhere[leaf] = true;
            kernels_[k].group.read.push_back(leaf);
            kernels_[k].group.bytes_read += bytes_of_reads(graph_, leaf, parts);
        }
    }
    // a kernel runs as soon as those that it reads have run, otherwise in the order of the graph
    std::vector<fusion_group> out;
    std::set<std::size_t> done;
    std::vector<std::size_t> waiting;
    for (std::size_t k = 0; k < kernels_.size(); ++k)
        if (!kernels_[k].is_fused) waiting.push_back(k);
    while (!waiting.empty()) {
        std::vector<std::size_t> next;
        for (const std::size_t k : waiting) {
            kernel& current = kernels_[k];
            const bool is_ready = std::all_of(current.producers.begin(), current.producers.end(),
                                              [&](std::size_t p) { return find(p) == k || done.contains(find(p)); });
            if (!is_ready) {
                next.push_back(k);
                continue;
            }
            done.insert(k);
            fusion_group& group = current.group;
            for (const std::int32_t i : group.nodes) {
                const bool is_stored = buffers_.is_output(i) || is_read_elsewhere.contains(i);
                if (node(i).has_several_results || !is_stored) continue;
                group.written.push_back(i);
                group.bytes_written += node(i).bytes;
            }
            std::set<std::string_view> names;
            for (const std::int32_t i : current.operators) {
                names.insert(node(i).name);
                group.fused_operators.push_back(
                    {node(i).tape_node, node(i).numel * static_cast<std::uint64_t>(node(i).reduced)});
            }
            for (const std::string_view name : names)
                group.operators.append(group.operators.empty() ? "" : "_").append(name);
            out.push_back(std::move(group));
            if (const std::uint64_t parts = num_partial_results(out.back(), device_); parts > 1)
                out.push_back(split_reduction(out.back(), parts));
        }
        if (next.size() == waiting.size()) break;
        waiting = std::move(next);
    }
    return out;
}

LLMCOST_INLINE std::vector<fusion_group> graph_fuser::fuse() {
    constexpr int max_rounds = 10;
    add_kernels();
    for (int round = 0; round < max_rounds && fuse_round(); ++round) {
    }
    return ordered_groups();
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<fusion_group> fuse_graph(const joint_graph& graph, const std::vector<std::int32_t>& nodes,
                                                    const std::vector<std::int32_t>& outputs,
                                                    const inductor_device& device) {
    return detail::graph_fuser(graph, nodes, outputs, device).fuse();
}

}  // namespace llmcost
