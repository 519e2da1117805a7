// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/serving/step.hpp>
#include <llmcost/trace/collective.hpp>

// The parts of the time of a training step on many devices.
namespace llmcost {

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

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/parallel_training_cost.ipp>  // IWYU pragma: export
#endif
