// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/ops.hpp>

// The memory of each device of a sharded model.
namespace llmcost {

/// Bytes of weights on each device. Adapters have 16 bits.
[[nodiscard]] double weight_bytes(const model& full_model, const execution& execution_config);

/// The element types in which an engine runs a model.
[[nodiscard]] workload workload_of(const execution& execution_config);

/// The memory management of an engine on a device; without an engine, that of `none`.
[[nodiscard]] engine_memory_profile memory_profile_of(const engine& serving_engine, const device& target_device);

/// A memory management with another fraction of the device memory: `--gpu-memory-utilization` of vLLM,
/// `--mem-fraction-static` of SGLang, `free_gpu_memory_fraction` of TensorRT-LLM.
[[nodiscard]] engine_memory_profile with_memory_share(engine_memory_profile profile, double share);

/// The memory of the ranks of a model with the weights of an execution and `pipeline` stages.
///
/// An adapter has 16 bits. Its activations are not included.
[[nodiscard]] rank_memory ranks_of_execution(const model& full_model, const execution& execution_config,
                                             const engine_memory_profile& profile, std::int64_t pipeline = 1);

/// Bytes of the KV cache of a workload on each device, at its end.
[[nodiscard]] double cache_bytes(const model& full_model, const workload& load, const execution& execution_config);

/// Inference memory of each device for one step with several groups of sequences and `weights` bytes of weights.
[[nodiscard]] inference_memory inference_memory_per_device(const model& full_model, const std::vector<workload>& groups,
                                                           const execution& execution_config,
                                                           const engine_memory_profile& engine, double weights);

/// The default loss: labels for a model with a head, otherwise the sum of the output.
[[nodiscard]] constexpr training_loss default_loss(const model& m) noexcept {
    return m.config.head == head_kind::none ? training_loss::sum : training_loss::labels;
}

/// Training memory of each device.
struct training_memory {
    memory_bytes peak{};
    std::uint64_t states = 0;  ///< bytes of weights, gradients and optimizer state
    std::uint64_t saved = 0;   ///< bytes saved for backward

    std::uint64_t trained = 0;   ///< trainable parameters
    std::uint64_t updated = 0;   ///< bytes that the optimizer reads and writes per step, each tensor once
    primitives<count> update{};  ///< arithmetic of the optimizer without its products
    std::vector<optimizer_product> products{};
    double share = 1;  ///< fraction of the states on each device, with expert parallelism
};

/// Training memory of each device: float32 weights with 16-bit autocast. Attention is SDPA unless execution is eager.
///
/// With expert parallelism, each device has its share of the states.
[[nodiscard]] training_memory training_memory_per_device(const model& full_model, workload load,
                                                         const execution& execution_config, const training_plan& plan);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/memory.ipp>  // IWYU pragma: export
#endif
