// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/memory/tape.hpp>

// Sequence parallelism: norms and residuals are divided along the sequence.
namespace llmcost {

/// The tensors of a tensor-parallel rank that sequence parallelism divides, by index.
///
/// They have a gradient, and equal sizes with and without tensor parallelism: they are neither heads nor features of
/// the rank. Queries, keys and values have complete sequences.
///
/// `pass`, `undivided`: the passes of one model with and without tensor parallelism. None if their operations differ.
/// Source: arXiv 2205.05198, section 4.2.2; torch/distributed/tensor/parallel/style.py, `SequenceParallel`.
[[nodiscard]] std::vector<bool> sequence_divided_tensors(const tape& pass, const tape& undivided);

/// Divides tensors of a pass by the number of tensor-parallel ranks, with what operations save of them.
void divide_sequence(tape& pass, const std::vector<bool>& divided, std::int64_t tensor);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/sequence_parallel.ipp>  // IWYU pragma: export
#endif
