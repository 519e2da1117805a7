// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <llmcost/distributed/device_mesh.hpp>

// How a training job divides a model and its samples over devices.
namespace llmcost {

/// The program whose rules place the parameters of a model on devices.
enum class split_rules : std::uint8_t {
    torch,         ///< `parallelize_module` and `fully_shard`, as torchtitan uses them
    transformers,  ///< `base_model_tp_plan` and `DistributedConfig` of Transformers
    megatron,      ///< Megatron-Core
};

/// The sizes of a training job: parallelism, pipeline schedule and microbatches.
///
/// World size: data_replicate · data · context · tensor · pipeline. Experts have a mesh of their own over the same
/// ranks: expert_tensor · expert · expert_data = data_replicate · data · context · tensor.
struct training_parallelism {
    split_rules rules = split_rules::torch;
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t context = 1;
    std::int64_t data = 1;               ///< ranks with different samples, which may shard parameters
    std::int64_t data_replicate = 1;     ///< replicas of the shards of `data` (HSDP)
    std::int64_t expert = 1;             ///< ranks over which routed experts are distributed
    std::int64_t expert_tensor = 1;      ///< ranks that divide each expert
    bool has_sequence_parallel = false;  ///< norms and residuals are sharded along the sequence
    bool rotates_context = false;        ///< keys and values travel in turns, not all at once
    bool has_loss_parallel = false;      ///< logits stay sharded along the vocabulary

    std::string schedule = "1f1b";         ///< name of the pipeline schedule
    std::int64_t stages_per_rank = 1;      ///< model chunks (virtual stages) of a pipeline rank
    std::int64_t microbatches = 1;         ///< microbatches of a data-parallel rank in a step
    std::int64_t first_stage_layers = -1;  ///< layers of the first stage; −1: as many as the others
    std::int64_t last_stage_layers = -1;   ///< layers of the last stage; −1: as many as the others

    [[nodiscard]] std::int64_t world_size() const noexcept {
        return tensor * pipeline * context * data * data_replicate;
    }
    /// Ranks with different samples.
    [[nodiscard]] std::int64_t num_replicas() const noexcept { return data * data_replicate; }
    /// Ranks that hold equal experts, or shard them as data-parallel ranks.
    [[nodiscard]] std::int64_t expert_data() const noexcept {
        return data_replicate * data * context * tensor / (expert * expert_tensor);
    }
    [[nodiscard]] bool is_distributed() const noexcept { return world_size() > 1 || expert > 1; }
};

/// The mesh of a job, outermost dimension first, without dimensions of size 1.
///
/// torch, transformers: pp, dp_replicate, dp, cp, tp. Megatron: pp, dp, cp, tp.
/// Source: torchtitan/distributed/parallel_dims.py; megatron/core/parallel_state.py, `initialize_model_parallel`
/// (order "tp-cp-ep-dp-pp").
[[nodiscard]] device_mesh mesh_of(const training_parallelism& parallel);

/// Why the sizes of a job contradict each other; empty if they do not. A sentence that names the sizes.
[[nodiscard]] std::string parallelism_error(const training_parallelism& parallel, std::int64_t num_layers,
                                            std::int64_t num_experts);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/training_parallelism.ipp>  // IWYU pragma: export
#endif
