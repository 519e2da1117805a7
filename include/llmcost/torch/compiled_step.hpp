// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/torch/fusion.hpp>
#include <llmcost/torch/joint_graph.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/partition.hpp>
#include <llmcost/torch/step.hpp>

namespace llmcost {

/// A model compiled by `torch.compile` with the backend Inductor: one graph without breaks, of static sizes.
struct compiled_model {
    joint_graph graph{};
    graph_partition partition{};  ///< a forward pass without gradients: all nodes are in `forward`
    std::vector<fusion_group> forward{}, backward{};
};

/// What a compiled step is not modeled with: activation checkpointing, the fused loss, quantized weights, sharding,
/// offloading, and optimizers that run in backward; empty: nothing of a plan.
[[nodiscard]] literal compile_conflict(const training_plan& plan) noexcept;

/// Compiles forward and backward of a recorded training step. Requires the operands of the tape.
[[nodiscard]] compiled_model compile_training(const tape& pass, const inductor_device& device);

/// The device whose properties Inductor reads. Without multiprocessors: an H100.
[[nodiscard]] inductor_device inductor_device_of(const device& d) noexcept;

/// The kernels of a compiled training step in the order of their launches, with those of the eager optimizer.
///
/// With gradient accumulation, those of the last pass.
/// Throws: `description_error` if the plan has a `compile_conflict`.
[[nodiscard]] std::vector<torch_kernel> compiled_training_kernels(const model& m, const workload& load,
                                                                  training_plan plan, const inductor_device& device);

/// The kernels of a compiled forward pass without gradients, in the order of their launches.
[[nodiscard]] std::vector<torch_kernel> compiled_forward_kernels(const model& m, const workload& load,
                                                                 const inductor_device& device);

/// The time of a compiled training step. With gradient accumulation, forward and backward are repeated.
///
/// `host_microseconds`: per kernel; 0: CUDA graphs (`mode="reduce-overhead"`).
[[nodiscard]] torch_step time_compiled_training_step(const model& m, const workload& load, const training_plan& plan,
                                                     const device& device, double host_microseconds,
                                                     tf32_mode tf32 = tf32_mode::standard);

/// The time of a compiled forward pass without gradients.
[[nodiscard]] torch_step time_compiled_forward_pass(const model& m, const workload& load, const device& device,
                                                    double host_microseconds, tf32_mode tf32 = tf32_mode::standard);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/compiled_step.ipp>  // IWYU pragma: export
#endif
