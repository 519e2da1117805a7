// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <llmcost/torch/joint_graph.hpp>

namespace llmcost::detail {

/// What a kernel reads of each tensor: slices and gathered rows by their nodes, `whole_tensor` for all of it.
using tensor_reads = std::map<std::int32_t, std::set<std::int32_t>>;
inline constexpr std::int32_t whole_tensor = -1;

/// Bytes that are read of a tensor.
[[nodiscard]] std::uint64_t bytes_of_reads(const joint_graph& graph, std::int32_t tensor,
                                           const std::set<std::int32_t>& reads);

/// What a kernel of Inductor reads and computes.
struct inlined_reads {
    tensor_reads tensors{};
    std::uint64_t num_loads = 0;         ///< loads per element
    std::uint64_t num_operators = 0;     ///< loads and operators per element
    bool is_permuted = false;            ///< reads a transposed tensor
    std::set<std::int32_t> operators{};  ///< nodes of the inlined operators
};

/// Turns sums with the result of a product into products that add to their result (`addmm`).
///
/// The product must have no other reader, and the sum at least one that is not pointwise. Changes the kinds of `graph`;
/// returns the nodes without the replaced products.
/// Source: torch/_inductor/fx_passes/post_grad.py, `addmm`, `is_valid_addmm_fusion`.
std::vector<std::int32_t> fuse_added_products(joint_graph& graph, const std::vector<std::int32_t>& nodes,
                                              const std::vector<std::int32_t>& outputs);

/// Decides which operators of a graph have a buffer, as Inductor lowers it. The others are inlined into their readers.
///
/// Source: torch/_inductor/graph.py, `GraphLowering.run_node`; torch/_inductor/ir.py, `StorageBox.mark_reuse`,
/// `should_realize_on_reuse`, `has_exceeded_max_reads`, `Reduction.create`.
class inductor_buffers {
public:
    inductor_buffers(const joint_graph& graph, const std::vector<std::int32_t>& nodes,
                     const std::vector<std::int32_t>& outputs);

    /// Whether a node has a buffer: its own kernel computes it.
    [[nodiscard]] bool is_realized(std::int32_t i) const { return is_realized_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] bool is_output(std::int32_t i) const { return is_output_[static_cast<std::size_t>(i)]; }
    /// What the kernel of a node reads.
    [[nodiscard]] inlined_reads reads_of(std::int32_t i) const;
    /// Whether a reduction has so few elements that a pointwise kernel computes it.
    [[nodiscard]] static bool is_unrolled(const fx_node& n) noexcept {
        constexpr std::int64_t threshold = 8;
        return n.kind == fx_node_kind::reduction && n.reduced < threshold;
    }

private:
    [[nodiscard]] const fx_node& node(std::int32_t i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }
    /// The node whose buffer a view shows.
    [[nodiscard]] std::int32_t base_of(std::int32_t i) const;
    /// Adds what reading a node loads.
    void add_read(std::int32_t i, inlined_reads& out) const;
    /// Whether the bias of a product is added by the kernels that read it: all of them are pointwise.
    ///
    /// Source: torch/_inductor/fx_passes/post_grad.py, `unfuse_bias_add_to_pointwise`.
    [[nodiscard]] bool has_unfused_bias(std::int32_t i) const;
    [[nodiscard]] bool needs_buffer(std::int32_t i, const inlined_reads& own) const;

    const joint_graph& graph_;
    std::vector<bool> is_in_graph_, is_realized_, is_output_, is_read_by_library_, is_read_by_others_;
    std::vector<std::int32_t> num_users_;
    std::vector<inlined_reads> reads_;  ///< of nodes without a buffer
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/inductor_buffers.ipp>  // IWYU pragma: export
#endif
