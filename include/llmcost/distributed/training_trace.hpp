// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/graph/execution_trace.hpp>

// Execution traces of the ranks of a training job, for network simulators.
namespace llmcost {

/// The execution trace of a rank: its computation, collectives and messages of a step, with dependencies.
///
/// - Computation follows the computation before it, and what it reads: received messages, collectives of layers, and
///   gathered parameters.
/// - A collective follows those of its group. It follows the computation before it, unless it gathers parameters.
/// - No computation waits for the reduction of gradients.
///
/// FLOPs are those of products, bytes those that operations read and write. Durations are not set.
/// Source: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, `FSDPCommContext` (streams of gathers and
/// reductions).
[[nodiscard]] std::vector<trace_node> training_trace_of(const training_rank& rank);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/training_trace.ipp>  // IWYU pragma: export
#endif
