// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/memory/caching_allocator.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/optimizer.hpp>

// The options of a training run, and the resulting memory over time.
namespace llmcost {

/// Activation checkpointing: which activations are recomputed in backward.
enum class recompute_mode : std::uint8_t {
    none,
    selective,  ///< core attention: from queries, keys and values to the context (Megatron-LM, arXiv 2205.05198)
    full        ///< complete layers
};

/// How data-parallel devices shard parameters, gradients and optimizer state.
enum class sharding_strategy : std::uint8_t {
    ddp,    ///< no sharding; gradients are summed in separate buckets (DistributedDataParallel)
    zero1,  ///< shards optimizer state (DeepSpeed, stage 1)
    zero2,  ///< also shards gradients (stage 2)
    zero3,  ///< also shards parameters, each flattened (stage 3)
    fsdp    ///< shards everything by the first dimension and gathers one layer at a time (PyTorch's `fully_shard`)
};

/// The modules that `fully_shard` is applied to, before the model itself.
enum class fsdp_wrapping : std::uint8_t {
    layers,
    embedding_layers_head,  ///< also the token embedding, and the final norm with the head
    transformers            ///< the plan of Transformers, which puts a tied embedding into one unit with the final norm
};

/// The options of `fully_shard`.
///
/// Source: torch/distributed/fsdp/_fully_shard/_fully_shard.py and _fsdp_api.py, `MixedPrecisionPolicy`.
struct fsdp_options {
    fsdp_wrapping wrapping = fsdp_wrapping::layers;
    bool reshards_after_forward = true;        ///< layers free their parameters after forward
    std::int64_t reshard_size = 0;             ///< ranks over which they stay sharded after forward; 0: all
    dtype stored_type = dtype::unspecified;    ///< of shards; default: as computed with
    dtype gathered_type = dtype::unspecified;  ///< default: as computed with
    dtype reduced_type = dtype::unspecified;   ///< of reduced gradients; default: as computed with
    std::int64_t replicas = 1;                 ///< HSDP: replicas of the shards, which sum gradients
    bool is_data_axis_named_fsdp = false;      ///< in meshes of Transformers
};

/// The accumulated batches that reduce gradients.
///
/// Source: `set_requires_gradient_sync`, `set_requires_all_reduce`, `DistributedDataParallel.no_sync`.
enum class gradient_sync : std::uint8_t {
    all,
    last,
    last_all_reduce  ///< each reduces within the shards, the last also across replicas
};

/// The options of a training step in addition to the workload.
struct training_schedule {
    const optimizer_spec* optimizer = find_optimizer("adamw");
    std::int64_t galore_rank = 128;  ///< rank of GaLore's projections
    /// updates each parameter as soon as its gradient exists, then frees the gradient
    bool has_optimizer_in_backward = false;
    bool has_master_weights = false;  ///< stores a float32 copy of low-precision weights, which the optimizer updates
    /// sums gradients of low-precision weights in float32 (Megatron-LM's `main_grad`)
    bool has_float32_gradients = false;
    bool offloads_optimizer = false;    ///< optimizer state is in host memory
    bool offloads_activations = false;  ///< saved tensors are in host memory until backward
    recompute_mode recompute = recompute_mode::none;
    std::int32_t num_recomputed_layers = INT32_MAX;  ///< recomputes the first layers only
    /// recomputed layers save fused attention, and every second matrix product without bias, beginning with the first
    ///
    /// Source: torchtitan/distributed/activation_checkpoint.py, `_apply_op_sac` (`per_op_sac`).
    bool saves_operators = false;
    std::int64_t gradient_accumulation_steps = 1;  ///< passes whose gradients are summed before a step
    std::int64_t data_parallel_size = 1;           ///< number of data-parallel devices
    std::int64_t tensor_parallel_size = 1;         ///< ranks that divide each layer
    std::int64_t expert_data_parallel_size = 1;    ///< data-parallel ranks of distributed experts
    sharding_strategy sharding = sharding_strategy::ddp;
    fsdp_options fsdp{};
    gradient_sync sync = gradient_sync::all;
    bool clips_gradients = false;
    std::uint64_t bucket_bytes = 0;  ///< of DDP; 0: 25 MiB, the first 1 MiB
    std::uint64_t input_bytes = 0;   ///< bytes of input ids and labels
    /// compute capability of the CUDA device, for example 90; 0: none. Memory is that of PyTorch's caching allocator.
    std::int32_t cuda_capability = 0;
    std::uint64_t num_multiprocessors = 132;  ///< of the CUDA device; default: H100, H200
    int num_steps = 2;                        ///< simulated steps; optimizer state exists from the first step on

    [[nodiscard]] bool updates_in_backward() const noexcept {
        return has_optimizer_in_backward || optimizer->only_in_backward;
    }
};

/// The moment of peak memory.
struct memory_peak {
    memory_bytes bytes{};
    int step = 0;
    std::string_view phase{};
    std::string_view operation{};  ///< operation whose forward, backward or update reaches the peak
};

/// A snapshot of the last step, at the end of each outermost layer in forward and backward.
struct memory_snapshot {
    std::string_view phase{};
    std::string path{};  ///< path of the layer; empty: before, between or after layers
    memory_bytes bytes{};
    std::uint64_t peak_bytes = 0;  ///< peak since the previous snapshot
};

/// Memory of a training run over its steps.
struct memory_timeline {
    std::uint64_t num_trainable = 0;     ///< number of trained elements
    std::uint64_t recomputed_flops = 0;  ///< FLOPs of recomputation that FlopCounterMode adds to backward
    std::uint64_t saved_bytes = 0;       ///< floating-point tensors saved for backward at the end of forward
    primitives<count> optimizer_step{};  ///< primitives of one optimizer step on this device
    std::vector<optimizer_product> optimizer_products{};  ///< matrix products of the optimizer step
    std::uint64_t step_counter_bytes = 0;                 ///< bytes of step counters in the optimizer state
    std::uint64_t offloaded_bytes = 0;                    ///< bytes in host memory: saved tensors, optimizer state
    memory_peak peak{};
    memory_bytes peak_by_category{};  ///< peak of each category, at different moments
    std::vector<memory_snapshot> snapshots{};
    memory_bytes before_forward{}, after_forward{}, after_backward{}, after_step{};  ///< of the last step
    memory_bytes forward_peak{}, backward_peak{}, step_peak{};                       ///< of the last step
    std::optional<allocator_statistics> allocator{};  ///< figures of the CUDA allocator after the last step
    std::uint64_t library_workspace_bytes = 0;        ///< cuBLAS workspaces, which belong to no category
};

}  // namespace llmcost
