// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/inductor_buffers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_operands.hpp>

namespace llmcost::detail {

/// Turns `mm(a, b)` into `addmm(summand, a, b)`.
LLMCOST_INLINE void add_summand(torch_kernel& product, const fx_node& summand) {
    product.name = "aten::addmm";
    product.bytes_read += summand.bytes;
    const torch_kernel mm = product;
    product.num_operands = 0;
    add_operand(product, summand.sizes);
    for (int i = 0; i < mm.num_operands; ++i) add_operand(product, mm.operands[i]);
}

LLMCOST_INLINE std::vector<std::int32_t> fuse_added_products(joint_graph& graph, const std::vector<std::int32_t>& nodes,
                                                             const std::vector<std::int32_t>& outputs) {
    const auto node_of = [&](std::int32_t i) -> fx_node& { return graph.nodes[static_cast<std::size_t>(i)]; };
    std::vector<std::int32_t> num_users(graph.nodes.size(), 0);
    std::vector<bool> is_materialized(graph.nodes.size(), false), is_replaced(graph.nodes.size(), false);
    for (const std::int32_t i : outputs) {
        ++num_users[static_cast<std::size_t>(i)];
        is_materialized[static_cast<std::size_t>(i)] = true;
    }
    for (std::size_t k = nodes.size(); k-- > 0;) {
        const fx_node& n = node_of(nodes[k]);
        for (const std::int32_t input : n.inputs) {
            ++num_users[static_cast<std::size_t>(input)];
            const bool passes = n.kind == fx_node_kind::view && !is_materialized[static_cast<std::size_t>(nodes[k])];
            if (n.kind != fx_node_kind::pointwise && !passes) is_materialized[static_cast<std::size_t>(input)] = true;
        }
    }
    for (const std::int32_t i : nodes) {
        fx_node& sum = node_of(i);
        if (sum.kind != fx_node_kind::pointwise || std::string_view(sum.name) != "add" || sum.inputs.size() != 2 ||
            !is_materialized[static_cast<std::size_t>(i)])
            continue;
        for (std::size_t k = 0; k < 2; ++k) {
            const std::int32_t product = sum.inputs[k], other = sum.inputs[1 - k];
            const fx_node& p = node_of(product);
            if (p.kind != fx_node_kind::external || std::string_view(p.name) != "mm" || p.type != node_of(other).type ||
                num_users[static_cast<std::size_t>(product)] != 1)
                continue;
            sum.kind = fx_node_kind::external;
            sum.kernels = p.kernels;
            sum.tape_node = p.tape_node;
            if (!sum.kernels.empty()) add_summand(sum.kernels.back(), node_of(other));
            std::vector<std::int32_t> inputs = p.inputs;
            inputs.push_back(other);
            sum.inputs = std::move(inputs);
            is_replaced[static_cast<std::size_t>(product)] = true;
            break;
        }
    }
    std::vector<std::int32_t> remaining;
    for (const std::int32_t i : nodes)
        if (!is_replaced[static_cast<std::size_t>(i)]) remaining.push_back(i);
    return remaining;
}

LLMCOST_INLINE inductor_buffers::inductor_buffers(const joint_graph& graph, const std::vector<std::int32_t>& nodes,
                                                  const std::vector<std::int32_t>& outputs)
    : graph_(graph),
      is_in_graph_(graph.nodes.size(), false),
      is_realized_(graph.nodes.size(), false),
      is_output_(graph.nodes.size(), false),
      is_read_by_library_(graph.nodes.size(), false),
      is_read_by_others_(graph.nodes.size(), false),
      num_users_(graph.nodes.size(), 0),
      reads_(graph.nodes.size()) {
    for (const std::int32_t i : nodes) is_in_graph_[static_cast<std::size_t>(i)] = true;
    for (const std::int32_t i : outputs) is_output_[static_cast<std::size_t>(base_of(i))] = true;
    for (const std::int32_t i : nodes) {
        const fx_node& n = node(i);
        for (const std::int32_t input : n.inputs) {
            const auto base = static_cast<std::size_t>(base_of(input));
            if (n.kind == fx_node_kind::external) is_read_by_library_[base] = true;
            // the destination of a scatter is filled first
            if (n.kind == fx_node_kind::scatter && input == n.inputs.front()) is_read_by_library_[base] = true;
            if (n.kind == fx_node_kind::view) continue;
            ++num_users_[base];
            if (n.kind != fx_node_kind::pointwise) is_read_by_others_[base] = true;
        }
    }
    for (const std::int32_t i : nodes) {
        inlined_reads own;
        const fx_node& n = node(i);
        for (std::size_t k = has_unfused_bias(i) ? 1 : 0; k < n.inputs.size(); ++k) add_read(n.inputs[k], own);
        if (n.gathered_bytes > 0) {
            const auto table = own.tensors.find(base_of(n.inputs.front()));
            if (table != own.tensors.end()) table->second = {i};
        }
        if (is_unrolled(n)) own.num_loads *= static_cast<std::uint64_t>(n.reduced);
        ++own.num_operators;
        if (n.kind != fx_node_kind::constant && n.kind != fx_node_kind::view) own.operators.insert(i);
        is_realized_[static_cast<std::size_t>(i)] = needs_buffer(i, own);
        reads_[static_cast<std::size_t>(i)] = std::move(own);
    }
}

LLMCOST_INLINE std::int32_t inductor_buffers::base_of(std::int32_t i) const {
    while (node(i).kind == fx_node_kind::view && is_in_graph_[static_cast<std::size_t>(i)]) i = node(i).inputs.front();
    return i;
}

LLMCOST_INLINE bool inductor_buffers::has_unfused_bias(std::int32_t i) const {
    const auto place = static_cast<std::size_t>(i);
    return node(i).kind == fx_node_kind::external && std::string_view(node(i).name) == "addmm" && is_in_graph_[place] &&
           !is_output_[place] && !is_read_by_others_[place];
}

LLMCOST_INLINE bool inductor_buffers::needs_buffer(std::int32_t i, const inlined_reads& own) const {
    constexpr std::uint64_t max_repeated_loads = 4, max_loads = 8, max_operators = 30;
    const auto place = static_cast<std::size_t>(i);
    switch (node(i).kind) {
        case fx_node_kind::input:
        case fx_node_kind::tangent:
        case fx_node_kind::result:
        case fx_node_kind::external:
        case fx_node_kind::scatter: return true;
        case fx_node_kind::view: return false;
        case fx_node_kind::constant: return is_output_[place] || is_read_by_library_[place];
        case fx_node_kind::reduction:
            if (!is_unrolled(node(i))) return true;
            break;
        default: break;
    }
    if (is_output_[place] || is_read_by_library_[place] || node(i).has_several_results) return true;
    if (num_users_[place] > 1 && (own.num_loads > max_repeated_loads || own.num_operators > max_operators)) return true;
    return own.num_loads > max_loads;
}

LLMCOST_INLINE void inductor_buffers::add_read(std::int32_t i, inlined_reads& out) const {
    std::int32_t base = i, part = whole_tensor;
    while (node(base).kind == fx_node_kind::view && is_in_graph_[static_cast<std::size_t>(base)]) {
        const fx_node& view = node(base);
        if (std::string_view(view.name) == "permute") out.is_permuted = true;
        if (std::string_view(view.name) == "slice") part = base;
        base = view.inputs.front();
    }
    const auto place = static_cast<std::size_t>(base);
    if (is_in_graph_[place] && !is_realized_[place]) {
        const inlined_reads& inlined = reads_[place];
        for (const auto& [tensor, reads] : inlined.tensors) {
            const bool is_divided = part != whole_tensor && node(tensor).numel == node(base).numel;
            is_divided ? void(out.tensors[tensor].insert(part))
                       : out.tensors[tensor].insert(reads.begin(), reads.end());
        }
        out.operators.insert(inlined.operators.begin(), inlined.operators.end());
        out.num_loads += inlined.num_loads;
        out.num_operators += inlined.num_operators;
        out.is_permuted = out.is_permuted || inlined.is_permuted;
        return;
    }
    out.tensors[base].insert(part);
    ++out.num_loads;
    ++out.num_operators;
    if (has_unfused_bias(base)) add_read(node(base).inputs.front(), out);
}

LLMCOST_INLINE std::uint64_t bytes_of_reads(const joint_graph& graph, std::int32_t tensor,
                                            const std::set<std::int32_t>& reads) {
    const fx_node& source = graph.nodes[static_cast<std::size_t>(tensor)];
    std::uint64_t sum = 0;
    for (const std::int32_t i : reads) {
        if (i == whole_tensor) return source.bytes;
        const fx_node& part = graph.nodes[static_cast<std::size_t>(i)];
        sum += part.gathered_bytes > 0 ? part.gathered_bytes
                                       : part.numel * source.bytes / std::max<std::uint64_t>(source.numel, 1);
    }
    return std::min(sum, source.bytes);
}

LLMCOST_INLINE inlined_reads inductor_buffers::reads_of(std::int32_t i) const {
    return reads_[static_cast<std::size_t>(i)];
}

}  // namespace llmcost::detail
