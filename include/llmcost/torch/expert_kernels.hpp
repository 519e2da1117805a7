// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/trace/listener.hpp>

namespace llmcost {

/// The kernels that sort the tokens by expert, without phase and node.
///
/// Source: transformers/integrations/moe.py, `grouped_mm_experts_forward`.
[[nodiscard]] std::vector<torch_kernel> expert_sort_kernels(const fused_kernel& experts);

/// The kernels of an operation of routed experts, without phase and node; none: those of the operation elsewhere.
///
/// - product: one grouped product in bfloat16; in other types a loop over the experts
/// - sum over the experts of a token: a permutation and a sum.
///
/// Source: transformers/integrations/moe.py, `grouped_mm_experts_forward`;
/// aten/src/ATen/native/cuda/GroupedBlas.cpp, `_grouped_mm_cuda`, whose fast path needs bfloat16; GroupedMMUtils.h,
/// `_grouped_mm_fallback`, which copies the offsets to the host and loops over the groups.
[[nodiscard]] std::optional<std::vector<torch_kernel>> expert_kernels(const tape_node& n, const tape_operands& operands,
                                                                      const fused_kernel& experts);

/// The kernels of the gradient of an input of an operation of routed experts; none: those of the operation elsewhere.
///
/// Source: tools/autograd/derivatives.yaml, `index`; aten/src/ATen/native/cuda/Indexing.cu,
/// `index_put_with_sort_kernel`, which wraps negative indices.
[[nodiscard]] std::optional<std::vector<torch_kernel>> expert_gradient_kernels(const tape_node& n,
                                                                               const tape_operands& operands,
                                                                               std::size_t input,
                                                                               const fused_kernel& experts);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/expert_kernels.ipp>  // IWYU pragma: export
#endif
