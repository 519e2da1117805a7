// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/distributed/training_rank.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

// What each rank of a job of Megatron-Core holds, computes and communicates in a step.
namespace llmcost {

/// Why `megatron_ranks_of` does not support a job; empty if it does.
[[nodiscard]] std::string megatron_ranks_error(const model& m, const training_parallelism& parallel,
                                               const megatron_settings& settings);

/// The given ranks of a job of Megatron-Core. `load`: a microbatch.
///
/// A layer of hidden states of h bytes has, with tensor parallelism over t ranks:
///
///     layer                     forward                      backward
///     column-parallel           -                            all-reduce of h
///     row-parallel, embedding   all-reduce of h              -
///     with sequence parallelism:
///     column-parallel           all-gather of h / t          all-gather of h / t, reduce-scatter of h
///     row-parallel, embedding   reduce-scatter of h          all-gather of h / t
///
/// Queries, keys and values are one column-parallel layer, and so are gate and up projection. The loss has three
/// all-reduces of 4 bytes per token, or one all-gather of 12 bytes per token with Transformer Engine.
///
/// After all microbatches, data-parallel ranks reduce the buffer of each stage in float32 (`buffer_elements`): an
/// all-reduce, or a reduce-scatter with the distributed optimizer, which gathers the parameters after its step. Then
/// tensor-parallel ranks sum the gradients of norms, and the first and the last stage those of tied embeddings.
///
/// Source: megatron/core/tensor_parallel/layers.py, `LinearWithGradAccumulationAndAsyncCommunication`,
/// `VocabParallelEmbedding.forward`; tensor_parallel/cross_entropy.py, `_VocabParallelCrossEntropy.forward`;
/// pipeline_parallel/p2p_communication.py; distributed/finalize_model_grads.py, `finalize_model_grads`;
/// distributed/param_and_grad_buffer.py, `start_grad_sync`, `start_param_sync`.
[[nodiscard]] std::vector<training_rank> megatron_ranks_of(const model& m, workload load, training_plan plan,
                                                           const training_parallelism& parallel,
                                                           const megatron_settings& settings,
                                                           const std::vector<std::int64_t>& ranks);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/megatron_ranks.ipp>  // IWYU pragma: export
#endif
