// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/torch/fusion_group.hpp>
#include <llmcost/torch/joint_graph.hpp>

namespace llmcost {

/// The kernels of a graph in their order, as Inductor lowers and fuses it.
///
/// `nodes`: of the graph in the order of execution. `outputs`: nodes that are stored for others.
///
/// - Pointwise operators are inlined into their readers, unless a library reads them, or several readers would repeat
///   more than four loads.
/// - Reductions of fewer than eight elements are unrolled into pointwise operators. Long ones with few results have a
///   second kernel, which sums the partial results.
/// - Kernels that share tensors are fused if they iterate over the same elements and no other kernel lies between them.
///
/// Source: torch/_inductor/graph.py, `run_node`; torch/_inductor/ir.py, `StorageBox`, `Reduction`;
/// torch/_inductor/scheduler.py, `fuse_nodes`, `MixOrderReduction`; torch/_inductor/codegen/simd.py, `can_fuse`.
[[nodiscard]] std::vector<fusion_group> fuse_graph(const joint_graph& graph, const std::vector<std::int32_t>& nodes,
                                                   const std::vector<std::int32_t>& outputs,
                                                   const inductor_device& device);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/fusion.ipp>  // IWYU pragma: export
#endif
