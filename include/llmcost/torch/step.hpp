// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/torch/kernel.hpp>

namespace llmcost {

/// A machine that launches the kernels of an eager PyTorch program.
struct torch_host {
    literal name = "";
    double microseconds_per_kernel = 0;  ///< of Python, the dispatcher, autograd and the launch, in steady state
};

/// Measured hosts: median of the time to issue a step divided by its kernels, in steps that the host bounds.
///
/// Source: tests/memory/h100_runs.jsonl.gz (`issue_ms` of 69 runs: 14 to 57 µs, quartiles 20 and 31 µs); the H200
/// machine: wall time of 11 training steps without idle host, 29 to 50 µs.
inline constexpr torch_host torch_hosts[]{{"h100", 24}, {"h200", 37}};

/// The host with this name; null if there is none.
[[nodiscard]] constexpr const torch_host* find_torch_host(std::string_view name) noexcept {
    for (const torch_host& host : torch_hosts)
        if (name == host.name) return &host;
    return nullptr;
}

inline constexpr std::size_t num_step_phases = 4;
/// Names of `step_phase`, in its order.
inline constexpr literal step_phase_names[num_step_phases]{"forward", "recompute", "backward", "optimizer"};

/// The cost of the kernels of a phase.
struct torch_phase_cost {
    double device_seconds = 0;
    double flops = 0;  ///< of products, convolutions and attention
    double bytes = 0;  ///< read and written
    double launches = 0;
};

/// Equal kernels of a step: same operator, operands, type and phase.
struct timed_torch_kernel {
    torch_kernel kernel;
    double launches = 0;
    double seconds = 0;  ///< of one launch, on the device
};

/// The time of a step of a PyTorch program on one device.
struct torch_step {
    bool is_compiled = false;  ///< by torch.compile
    torch_phase_cost phases[num_step_phases]{};
    std::vector<timed_torch_kernel> kernels{};  ///< in the order of their first launch
    /// device seconds by operation, in the order of `graph_of`, followed by the operations of the loss
    std::vector<double> forward_seconds{};
    std::vector<double> backward_seconds{};  ///< with recomputation
    double device_seconds = 0;
    double host_seconds = 0;  ///< to issue all kernels; 0 in a CUDA graph
    double lower = 0;         ///< interval of `seconds`
    double upper = 0;

    /// The host runs ahead of the device, so the slower of both counts.
    [[nodiscard]] double seconds() const noexcept {
        return host_seconds > device_seconds ? host_seconds : device_seconds;
    }
    [[nodiscard]] bool is_host_bound() const noexcept { return host_seconds > device_seconds; }
    [[nodiscard]] const torch_phase_cost& phase(step_phase p) const noexcept {
        return phases[static_cast<std::size_t>(p)];
    }
    [[nodiscard]] double num_launches() const noexcept {
        double launches = 0;
        for (const torch_phase_cost& p : phases) launches += p.launches;
        return launches;
    }
    /// Device seconds of the loss, forward and backward, of a graph with `num_operations` operations.
    [[nodiscard]] double loss_seconds(std::size_t num_operations) const noexcept;
};

/// The time of kernels: equal ones are merged. `num_passes`: repetitions of forward and backward.
[[nodiscard]] torch_step time_kernels(const std::vector<torch_kernel>& kernels, double num_passes, const device& device,
                                      double host_microseconds, tf32_mode tf32, bool is_training);

/// The time of a training step. With gradient accumulation, forward and backward are repeated.
///
/// `host_microseconds`: per kernel; 0: a CUDA graph.
[[nodiscard]] torch_step time_training_step(const model& m, const workload& load, const training_plan& plan,
                                            const device& device, double host_microseconds,
                                            tf32_mode tf32 = tf32_mode::standard);

/// The time of a forward pass without gradients.
[[nodiscard]] torch_step time_forward_pass(const model& m, const workload& load, const device& device,
                                           double host_microseconds, tf32_mode tf32 = tf32_mode::standard);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/step.ipp>  // IWYU pragma: export
#endif
