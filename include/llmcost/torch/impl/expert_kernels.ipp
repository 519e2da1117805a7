// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/expert_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_operands.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE torch_kernel expert_kernel_launch(literal name, torch_kernel_kind kind,
                                                               std::uint64_t bytes_read, std::uint64_t bytes_written,
                                                               dtype type = dtype::float32) {
    torch_kernel k;
    k.name = name;
    k.kind = kind;
    k.type = type;
    k.bytes_read = bytes_read;
    k.bytes_written = bytes_written;
    return k;
}

/// A product per expert: (rows, inner) x (inner, columns), where the experts share `rows` or `inner`.
[[nodiscard]] LLMCOST_INLINE std::vector<torch_kernel> grouped_product_kernels(torch_kernel k,
                                                                               const fused_kernel& experts,
                                                                               bool shares_inner) {
    std::int64_t& shared = shares_inner ? k.inner : k.rows;
    const std::int64_t groups = std::max<std::int64_t>(std::min(experts.num_experts, shared), 1);
    const bool is_fused = k.type == dtype::bfloat16;
    if (is_fused) {
        add_operand(k, shape(k.rows, k.inner));
        add_operand(k, shares_inner ? shape(k.inner, k.columns) : shape(experts.num_experts, k.inner, k.columns));
        add_operand(k, shape(experts.num_experts));
    }
    shared = (shared + groups - 1) / groups;
    k.name = is_fused ? "aten::_grouped_mm" : "aten::mm";
    k.kind = is_fused ? torch_kernel_kind::batched_product : torch_kernel_kind::product;
    k.batch = is_fused ? groups : 1;
    const auto bytes = [&](std::int64_t rows, std::int64_t columns) {
        return static_cast<std::uint64_t>(k.batch * rows * columns) * static_cast<std::uint64_t>(bits_of(k.type)) / 8;
    };
    k.bytes_read = bytes(k.rows, k.inner) + bytes(k.inner, k.columns);
    k.bytes_written = bytes(k.rows, k.columns);
    k.flops = 2 * static_cast<std::uint64_t>(k.batch * k.rows * k.columns * k.inner);
    if (is_fused) return {k};
    // `mm(rows, weight, out)`
    add_operand(k, shape(k.rows, k.inner));
    add_operand(k, shape(k.inner, k.columns));
    add_operand(k, shape(k.rows, k.columns));
    std::vector<torch_kernel> list(static_cast<std::size_t>(groups) + 1, k);
    const auto offset_bytes = static_cast<std::uint64_t>(4 * groups);
    list.front() = expert_kernel_launch("aten::copy_", torch_kernel_kind::copy_contiguous, offset_bytes, offset_bytes);
    return list;
}

/// The gradient of an indexed tensor: zeros, and the sum of the gradients of equal indices.
[[nodiscard]] LLMCOST_INLINE std::vector<torch_kernel> index_gradient_kernels(std::uint64_t indexed_bytes,
                                                                              std::uint64_t gradient_bytes,
                                                                              dtype type) {
    return {expert_kernel_launch("aten::fill_", torch_kernel_kind::fill, 0, indexed_bytes, type),
            expert_kernel_launch("aten::remainder", torch_kernel_kind::elementwise, 0, 0),
            expert_kernel_launch("aten::_index_put_impl_", torch_kernel_kind::scatter, gradient_bytes, gradient_bytes,
                                 type)};
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::vector<torch_kernel> expert_sort_kernels(const fused_kernel& experts) {
    const auto indices = static_cast<std::uint64_t>(experts.num_tokens * experts.num_experts_per_tok);
    const auto groups = static_cast<std::uint64_t>(experts.num_experts);
    using kind = torch_kernel_kind;
    return {detail::expert_kernel_launch("aten::sort", kind::sort, 8 * indices, 16 * indices),
            detail::expert_kernel_launch("aten::floor_divide", kind::elementwise, 8 * indices, 8 * indices),
            detail::expert_kernel_launch("aten::copy_", kind::elementwise_cast, 8 * indices, 4 * indices),
            detail::expert_kernel_launch("aten::histc", kind::scatter, 4 * indices, 4 * groups),
            detail::expert_kernel_launch("aten::cumsum", kind::scan, 4 * groups, 4 * groups)};
}

LLMCOST_INLINE std::optional<std::vector<torch_kernel>> expert_kernels(const tape_node& n,
                                                                       const tape_operands& operands,
                                                                       const fused_kernel& experts) {
    const tensor& out = operands.output;
    using kind = torch_kernel_kind;
    switch (n.kind) {
        case op::matmul: {
            const detail::product_sizes s = detail::product_sizes_of(out, n.torch_flops, false);
            torch_kernel k;
            k.type = out.type;
            k.rows = s.rows;
            k.columns = s.columns;
            k.inner = s.inner;
            k.is_transposed_b = true;
            return detail::grouped_product_kernels(k, experts, false);
        }
        case op::constant: {  // the inverse permutation
            const auto indices = static_cast<std::uint64_t>(experts.num_tokens * experts.num_experts_per_tok);
            return std::vector{
                detail::expert_kernel_launch("aten::arange", kind::fill, 0, 8 * indices),
                detail::expert_kernel_launch("aten::_index_put_impl_", kind::scatter, 16 * indices, 8 * indices)};
        }
        case op::index_add: {
            const std::uint64_t bytes = detail::unique_bytes(operands.inputs.back());
            torch_kernel sum =
                detail::expert_kernel_launch("aten::sum", kind::column_reduction, bytes, n.output_bytes, out.type);
            sum.rows = experts.num_experts_per_tok;
            sum.columns = static_cast<std::int64_t>(out.numel);
            return std::vector{detail::expert_kernel_launch("aten::index", kind::gather, bytes, bytes, out.type), sum};
        }
        default: return std::nullopt;
    }
}

LLMCOST_INLINE std::optional<std::vector<torch_kernel>> expert_gradient_kernels(const tape_node& n,
                                                                                const tape_operands& operands,
                                                                                std::size_t input,
                                                                                const fused_kernel& experts) {
    const dtype type = operands.output.type;
    switch (n.kind) {
        case op::index_add: {  // of the sum: an expanded view; of the permutation: a sum by index
            const std::uint64_t bytes = detail::unique_bytes(operands.inputs.back());
            if (input + 1 != operands.inputs.size()) return std::vector<torch_kernel>{};
            return detail::index_gradient_kernels(bytes, bytes, type);
        }
        case op::gather: return detail::index_gradient_kernels(n.inputs[input].bytes, n.output_bytes, type);
        case op::matmul: {
            const detail::product_sizes s = detail::product_sizes_of(operands.output, n.torch_flops, false);
            torch_kernel k;
            k.type = type;
            k.rows = input == 0 ? s.rows : s.columns;
            k.columns = s.inner;
            k.inner = input == 0 ? s.columns : s.rows;
            k.is_transposed_a = input != 0;
            return detail::grouped_product_kernels(k, experts, input != 0);
        }
        default: return std::nullopt;
    }
}

}  // namespace llmcost
