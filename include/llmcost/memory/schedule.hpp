// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/optimizer.hpp>

// What is asked of training over some steps, and what comes of it.
namespace llmcost {

/// What forgets what it made and makes it again in backward.
enum class recompute_mode : std::uint8_t {
    none,
    selective,  ///< core attention: from queries, keys and values to the context (Megatron-LM, arXiv 2205.05198)
    full        ///< layers
};

/// How devices that train replicas of a model share what each of them would hold.
enum class sharding_strategy : std::uint8_t {
    ddp,    ///< nothing is shared; gradients are summed in buckets beside them (DistributedDataParallel)
    zero1,  ///< state in parts (DeepSpeed, stage 1)
    zero2,  ///< and gradients (stage 2)
    zero3,  ///< and weights, each one flattened (stage 3)
    fsdp    ///< the same by the first dimension, a layer gathered at a time (PyTorch's `fully_shard`)
};

/// A training step beside the pass itself.
struct training_schedule {
    const optimizer_spec* optimizer = find_optimizer("adamw");
    std::int64_t galore_rank = 128;          ///< of GaLore's projections
    bool has_optimizer_in_backward = false;  ///< each parameter as soon as its gradient is there, which goes then
    bool has_master_weights = false;         ///< a copy in 32 bits of weights in fewer, which the optimizer moves
    bool has_float32_gradients = false;      ///< summed in 32 bits beside weights in fewer (Megatron-LM's `main_grad`)
    bool offloads_optimizer = false;         ///< its state is in the host's memory
    bool offloads_activations = false;       ///< what backward needs is in the host's memory until then
    recompute_mode recompute = recompute_mode::none;
    std::int32_t num_recomputed_layers = INT32_MAX;  ///< the first of them
    std::int64_t gradient_accumulation_steps = 1;    ///< passes whose gradients are summed before a step
    std::int64_t data_parallel_size = 1;             ///< devices
    sharding_strategy sharding = sharding_strategy::ddp;
    std::uint64_t input_bytes = 0;  ///< bytes of ids and labels
    int num_steps = 2;              ///< state exists from the first step on

    [[nodiscard]] bool updates_in_backward() const noexcept {
        return has_optimizer_in_backward || optimizer->only_in_backward;
    }
};

/// Where the most memory is needed.
struct memory_peak {
    memory_bytes bytes{};
    int step = 0;
    std::string_view phase{};
    std::string_view operation{};  ///< the operation whose forward, backward or update reaches it
};

/// What memory holds at a moment of the last step: where each outermost layer ends, forwards and backwards.
struct memory_snapshot {
    std::string_view phase{};
    std::string path{};  ///< the layer; empty: in front of, between or behind layers
    memory_bytes bytes{};
    std::uint64_t peak_bytes = 0;  ///< the largest total since the moment before
};

/// Memory of training over its steps.
struct memory_timeline {
    std::uint64_t num_trainable = 0;                      ///< elements
    std::uint64_t recomputed_flops = 0;                   ///< what FlopCounterMode adds to backward
    std::uint64_t saved_bytes = 0;                        ///< floating tensors that the graph holds when forward ends
    primitives<count> optimizer_step{};                   ///< what the optimizer executes in a step, on this device
    std::vector<optimizer_product> optimizer_products{};  ///< of these, products of matrices
    std::uint64_t step_counter_bytes = 0;                 ///< bytes of them in the optimizer's state
    std::uint64_t offloaded_bytes = 0;  ///< bytes in the host's memory: what backward needs, the optimizer's state
    memory_peak peak{};
    memory_bytes peak_by_category{};  ///< each category's own, at different moments
    std::vector<memory_snapshot> snapshots{};
    memory_bytes after_forward{}, after_backward{}, after_step{};  ///< of the last step
};

}  // namespace llmcost
