// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/megatron_tape.hpp>
#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

// The memory of each rank of a training job.
namespace llmcost {

/// Options of Megatron-Core that are not sizes of the job.
struct megatron_settings {
    vocabulary_loss loss = vocabulary_loss::native;
    bool has_distributed_optimizer = true;  ///< `--use-distributed-optimizer`
    bool exchanges_heads = false;           ///< `--cp-comm-type a2a`
    bool recomputes_mlps = false;
    bool recomputes_moe = false;
    bool recomputes_norms = false;
    bool recomputes_activations = false;
    std::int64_t vocabulary_multiple = 128;  ///< `--make-vocab-size-divisible-by`
};

/// The vocabulary of a job of Megatron-LM: a multiple of `multiple` · tp.
///
/// Source: megatron/training/tokenizer/tokenizer.py, `_vocab_size_with_padding`.
[[nodiscard]] std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t multiple, std::int64_t tensor);

/// Elements of a buffer of Megatron-Core that holds parameters or their gradients.
///
/// Each parameter begins at a multiple of 64 elements. With the distributed optimizer, the buffer ends at a multiple of
/// lcm(ranks, 128) elements.
///
/// Source: megatron/core/distributed/param_and_grad_buffer.py, `_pad_start_of_param_if_needed`,
/// `_pad_end_of_bucket_if_needed`; one bucket.
[[nodiscard]] std::uint64_t buffer_elements(const std::vector<tape_parameter>& parameters, bool is_routed,
                                            std::int64_t num_data_ranks, bool has_distributed_optimizer);

/// The static memory of a stage in Megatron-Core, for parameters of 16 bits, in bytes:
///
///     parameters: 2 · elements
///     gradients: 4 · elements (`main_grad`)
///     optimizer: 12 · elements / ranks (float32 parameters and two moments).
///
/// Ranks: the data-parallel ranks of dense parameters (dp · cp), or those of routed experts; 1 without the distributed
/// optimizer. Elements: of `buffer_elements`. Parameters of 32 bits have no other copy.
///
/// `is_padded`: buffers have the padding of `buffer_elements`; without it, the bytes are a lower bound.
///
/// Source: megatron/core/optimizer/distrib_optimizer.py, `_build_model_and_main_param_groups`
/// (`shard_main_param = shard_model_param.clone().float()`); megatron/core/distributed/distributed_data_parallel.py.
void set_megatron_state(stage_memory& memory, const tape& stage, const training_parallelism& parallel,
                        bool has_distributed_optimizer, bool is_padded = true);

/// Bytes of the workspaces of cuBLAS in Transformer Engine, and in PyTorch for the head.
///
/// Source: transformer_engine/pytorch/module/base.py, `get_cublas_workspace_size_bytes` (32 MiB + 256 from Hopper on).
[[nodiscard]] std::uint64_t megatron_workspace_bytes(std::int32_t cuda_capability, bool has_head);

/// The memory of the ranks of a job.
struct training_job_memory {
    std::vector<stage_memory> stages{};         ///< by pipeline stage
    std::vector<rank_training_memory> ranks{};  ///< by pipeline rank; the other ranks of a stage are equal
    [[nodiscard]] const rank_training_memory& largest() const;
};

/// The recorded pass of a tensor-parallel rank with all layers.
struct recorded_job {
    tape pass{};
    training_schedule schedule{};
    megatron_settings settings{};
    std::vector<std::int32_t> regions{};                          ///< of the layers
    std::vector<std::uint64_t> signatures{};                      ///< of the layers; equal layers have equal signatures
    std::int32_t cuda_capability = 0;                             ///< of library workspaces
    std::map<std::vector<std::uint64_t>, tape> stages{};          ///< by signatures of their layers
    std::map<std::vector<std::uint64_t>, stage_memory> memory{};  ///< by stage and schedule
};

namespace detail {

/// The model of a job of Megatron-LM: with its padded vocabulary. Sets the kernels of its workload and plan.
[[nodiscard]] model megatron_model_of(const model& m, workload& load, training_plan& plan,
                                      const training_parallelism& parallel, const megatron_settings& settings);

/// The pass of a tensor-parallel rank, and the plan of its replay.
[[nodiscard]] recorded_training record_rank(const model& m, const workload& load, const training_plan& plan,
                                            std::int64_t tensor);

}  // namespace detail

/// Records the pass of a rank. Jobs share it if they differ in pipeline, data parallelism or microbatches only.
[[nodiscard]] recorded_job record_job(const model& m, workload load, training_plan plan,
                                      const training_parallelism& parallel, const megatron_settings& settings = {});

/// Bytes that each layer of a recorded pass adds to the activations that a stage saves for a microbatch.
///
/// `saved_bytes` of a stage with layers i and i + 1, less that of a stage with layer i. Stages are neither the first
/// nor the last. 0 for layers that only those stages have: a sum over the layers of a stage is a lower bound.
[[nodiscard]] std::vector<std::uint64_t> saved_bytes_of_layers(const recorded_job& recorded);

/// The schedule of a stage of a job: its shards, and what a pipeline changes.
[[nodiscard]] training_schedule stage_schedule_of(const recorded_job& recorded, const training_parallelism& parallel);

/// The memory of a pipeline stage of a job. Stores the stage and its memory in `recorded`.
///
/// `schedule`: of `stage_schedule_of`. `is_padded`: as of `set_megatron_state`.
[[nodiscard]] stage_memory stage_memory_of(recorded_job& recorded, const stage_layers& layers,
                                           const training_parallelism& parallel, const training_schedule& schedule,
                                           bool is_padded = true);

/// The memory of each pipeline stage of a job. Stores the memory of stages in `recorded`.
[[nodiscard]] std::vector<stage_memory> stage_memory_of(recorded_job& recorded, const training_parallelism& parallel);

/// The memory of each pipeline rank of a job whose pass is recorded.
[[nodiscard]] training_job_memory training_memory_of(recorded_job& recorded, const training_parallelism& parallel);

/// Computes the memory of each pipeline rank of a training job. `load`: a microbatch, with the complete sequence.
///
/// Tensor parallelism divides heads, features and vocabulary; sequence parallelism divides tensors of equal sizes on
/// all tensor-parallel ranks; context parallelism divides the sequence.
///
/// Throws: `std::exception` of the pipeline schedule if it does not support the sizes.
[[nodiscard]] training_job_memory training_memory_of(const model& m, workload load, training_plan plan,
                                                     const training_parallelism& parallel,
                                                     const megatron_settings& settings = {});

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/training_memory.ipp>  // IWYU pragma: export
#endif
