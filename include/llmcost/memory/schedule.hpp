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
enum class recomputation : std::uint8_t {
    none,
    selective,  ///< core attention: from queries, keys and values to the context (Megatron-LM, arXiv 2205.05198)
    full        ///< layers
};

/// How devices that train replicas of a model share what each of them would hold.
enum class sharing : std::uint8_t {
    replicas,   ///< nothing is shared; gradients are summed in buckets beside them (DistributedDataParallel)
    optimizer,  ///< state in parts (DeepSpeed, stage 1)
    gradients,  ///< and gradients (stage 2)
    weights,    ///< and weights, each one flattened (stage 3)
    layers      ///< the same by the first dimension, a layer gathered at a time (PyTorch's `fully_shard`)
};

/// A training step beside the pass itself.
struct training_schedule {
    const optimizer_row* optimizer = find_optimizer("adamw");
    std::int64_t rank = 128;            ///< of GaLore's projections
    bool steps_in_backward = false;     ///< each parameter as soon as its gradient is there, which goes then
    bool master_weights = false;        ///< a copy in 32 bits of weights in fewer, which the optimizer moves
    bool gradients_in_float = false;    ///< summed in 32 bits beside weights in fewer (Megatron-LM's `main_grad`)
    bool offloads_optimizer = false;    ///< its state is in the host's memory
    bool offloads_activations = false;  ///< what backward needs is in the host's memory until then
    recomputation recompute = recomputation::none;
    std::int32_t recomputed_layers = INT32_MAX;  ///< the first of them
    std::int64_t accumulation = 1;               ///< passes whose gradients are summed before a step
    std::int64_t shards = 1;                     ///< devices
    sharing shares = sharing::replicas;
    std::uint64_t inputs = 0;  ///< bytes of ids and labels
    int steps = 2;             ///< state exists from the first step on

    [[nodiscard]] bool updates_in_backward() const noexcept { return steps_in_backward || optimizer->only_in_backward; }
};

/// Where the most memory is needed.
struct memory_peak {
    memory_bytes bytes{};
    int step = 0;
    std::string_view phase{};
    std::string_view at{};  ///< the operation whose forward, backward or update reaches it
};

/// What memory holds at a moment of the last step: where each outermost layer ends, forwards and backwards.
struct memory_moment {
    std::string_view phase{};
    std::string path{};  ///< the layer; empty: in front of, between or behind layers
    memory_bytes bytes{};
    std::uint64_t most = 0;  ///< the largest total since the moment before
};

/// Memory of training over its steps.
struct memory_timeline {
    std::uint64_t trainable = 0;                          ///< elements
    std::uint64_t recomputed_flops = 0;                   ///< what FlopCounterMode adds to backward
    std::uint64_t saved_bytes = 0;                        ///< floating tensors that the graph holds when forward ends
    primitives<count> optimizer_step{};                   ///< what the optimizer executes in a step, on this device
    std::vector<optimizer_product> optimizer_products{};  ///< of these, products of matrices
    std::uint64_t counts_of_steps = 0;                    ///< bytes of them in the optimizer's state
    std::uint64_t offloaded = 0;  ///< bytes in the host's memory: what backward needs, the optimizer's state
    memory_peak peak{};
    memory_bytes own_peaks{};  ///< each category's own, at different moments
    std::vector<memory_moment> moments{};
    memory_bytes after_forward{}, after_backward{}, after_step{};  ///< of the last step
};

}  // namespace llmcost
