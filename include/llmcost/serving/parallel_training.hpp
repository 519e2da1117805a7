// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training_attention.hpp>
#include <llmcost/trace/collective.hpp>

// The time of a training step of a job on many devices.
namespace llmcost {

/// Which communication runs at the same time as computation.
struct training_overlap {
    bool data = true;       ///< gradient reduction under backward, parameter gathering under forward
    bool tensor = false;    ///< collectives of tensor parallelism under products
    bool expert = false;    ///< all-to-all of experts under other computation of the layer
    bool pipeline = false;  ///< messages between stages
};

/// How a job is trained, in addition to `training_plan`.
struct training_job {
    training_parallelism parallel{};
    sharding_strategy sharding = sharding_strategy::ddp;
    bool reshards_after_forward = true;    ///< FSDP, ZeRO-3: gathers parameters again in backward
    bool reduces_each_microbatch = false;  ///< FSDP, ZeRO-2, ZeRO-3: reduces the gradients of each microbatch
    double gathered_bytes = 2;             ///< of a gathered parameter
    double reduced_bytes = 4;              ///< of a reduced gradient
    training_overlap overlap{};
    const attention_kernel_spec* attention = nullptr;  ///< null: the calibration of prefill attention
    std::vector<std::string> recomputed_modules{};     ///< of selective recomputation; empty: core_attn
    std::int64_t recomputed_layers = -1;               ///< first layers that full recomputation repeats; −1: all
    double host_seconds_per_launch = -1;               ///< of eager kernels; −1: by the execution
};

/// The communication of one group of ranks in a step, on the slowest rank.
struct training_communication {
    mesh_axis axis{};
    std::int64_t size = 1;       ///< ranks of the group
    bool crosses_nodes = false;  ///< whether a network connects ranks of the group
    double seconds = 0;
    double exposed_seconds = 0;  ///< seconds that no computation hides
    double bytes_sent = 0;       ///< by a device
    double bytes_received = 0;   ///< by a device
};

/// The time of a training step of a job, on the pipeline rank that takes the longest.
///
/// `step` = `forward` + `backward` + `recomputed` + exposed communication + `bubble` + `host` + `optimizer`.
struct parallel_training_cost {
    step_cost forward{};   ///< of all microbatches
    step_cost backward{};  ///< without recomputation
    step_cost recomputed{};
    double optimizer_seconds = 0;  ///< update and gradient norm
    double bubble_seconds = 0;     ///< the rank waits for other pipeline stages
    double host_seconds = 0;       ///< the device waits for the host to launch kernels
    std::vector<training_communication> communication{};
    step_time total{};
    double model_flops = 0;     ///< of a device: 3 · forward FLOPs, without recomputation
    double hardware_flops = 0;  ///< of a device, with recomputation
    double tokens_per_second_per_device = 0;
    double recomputed_share = 0;  ///< repeated forward FLOPs / forward FLOPs of layers
    double parameters = 0;        ///< of the pipeline rank, before data-parallel sharding

    [[nodiscard]] double exposed_seconds() const noexcept;
    /// Model FLOPs / (peak · seconds). Source: PaLM, arXiv 2204.02311, appendix B.
    [[nodiscard]] double model_flops_utilization(double peak) const noexcept;
    /// FLOPs with recomputation / (peak · seconds). Source: PaLM, arXiv 2204.02311, appendix B.
    [[nodiscard]] double hardware_flops_utilization(double peak) const noexcept;
};

/// The fraction of the time of all microbatches that a pipeline rank waits with GPipe or 1F1B: (p − 1) / (v · m).
///
/// p: pipeline ranks, v: stages per rank (interleaved 1F1B), m: microbatches. Stages take equal times.
/// Source: Megatron-LM, arXiv 2104.04473, section 2.2.
[[nodiscard]] double bubble_fraction(const training_parallelism& parallel) noexcept;

/// Time and bytes of a collective over `size` ranks with distance `stride`, of which `node` share a node.
///
/// `bytes`: of the whole message: the gathered tensor, the reduced tensor, what a device sends in an all-to-all.
/// Rings of NCCL pass through all nodes, so that the slower of links and network bounds the time.
struct collective_time {
    double seconds = 0;
    double sent_bytes = 0;  ///< by a device; it receives as many
};
[[nodiscard]] collective_time time_collective(collective_kind kind, double bytes, std::int64_t size,
                                              std::int64_t stride, const execution& execution, const device& device,
                                              kernel_source& kernels);

/// Time and bytes of the dispatch of tokens to experts, or of their combination.
///
/// `token_bytes`: of the tokens of a device, each of which has `copies` experts. Devices of a node receive every copy.
/// A token crosses the network once for each node of its experts: (n − 1) · (1 − (1 − 1/n)^copies) nodes on average.
/// Source: DeepSeek-V3, arXiv 2412.19437, section 3.2.2 (DeepEP).
[[nodiscard]] collective_time time_token_exchange(double token_bytes, std::int64_t copies, std::int64_t size,
                                                  std::int64_t stride, const execution& execution, const device& device,
                                                  kernel_source& kernels);

/// Seconds of communication that remain after all layers are computed.
///
/// The layers are computed one after the other. The message of a layer can be sent after its computation, and messages
/// follow each other: `end = max(end, computed) + message`.
[[nodiscard]] double exposed_after_layers(std::int64_t num_layers, double layer_seconds,
                                          double message_seconds) noexcept;

/// The time of a training step of a job.
///
/// `load`: a microbatch of one data-parallel rank. Microbatches: `job.parallel.microbatches`.
/// Throws: `config_error` for sizes that contradict each other.
[[nodiscard]] parallel_training_cost time_parallel_training(const model& full_model, workload load,
                                                            const execution& execution, const device& device,
                                                            kernel_source& kernels, const training_plan& plan,
                                                            const training_job& job);

/// What the time of a job assumes: one line each.
[[nodiscard]] std::vector<std::string> assumptions_of(const training_job& job, const training_plan& plan,
                                                      const execution& execution);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/parallel_training.ipp>  // IWYU pragma: export
#endif
