// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <llmcost/base/dtype.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/trace/tensor.hpp>

// The sizes of the operands of PyTorch's kernels.
namespace llmcost::detail {

/// Bytes of the distinct elements of a tensor.
[[nodiscard]] inline std::uint64_t unique_bytes(const tensor& v) {
    return v.unique_numel() * static_cast<std::uint64_t>(bits_of(v.type)) / 8;
}

[[nodiscard]] constexpr shape shape_of(const tensor& v) noexcept {
    shape s;
    s.rank = v.rank;
    for (int i = 0; i < v.rank; ++i) s.size[i] = v.size[i];
    return s;
}

/// The dimensions of a product from its operands: FLOPs = 2 · batch · rows · columns · inner.
struct product_sizes {
    std::int64_t batch = 1, rows = 0, columns = 0, inner = 0;
};
[[nodiscard]] inline product_sizes product_sizes_of(const tensor& out, std::uint64_t flops, bool is_batched) {
    product_sizes s;
    const auto elements = static_cast<std::int64_t>(out.numel);
    if (elements == 0 || out.rank == 0) return s;
    s.inner = static_cast<std::int64_t>(flops) / 2 / elements;
    s.columns = out.dim(-1);
    s.rows = is_batched && out.rank > 1 ? out.dim(-2) : elements / std::max<std::int64_t>(s.columns, 1);
    s.batch = elements / std::max<std::int64_t>(s.rows * s.columns, 1);
    return s;
}

inline void add_operand(torch_kernel& k, const shape& s) {
    if (k.num_operands < torch_kernel::max_operands) k.operands[k.num_operands++] = s;
}

}  // namespace llmcost::detail
