// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/step.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/kernel_list.hpp>
#include <llmcost/torch/kernel_time.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

/// The bytes that distinguish kernels in the table of a step.
[[nodiscard]] LLMCOST_INLINE std::string key_of(const torch_kernel& k) {
    std::string key = k.name + k.operators;
    const auto append = [&](std::int64_t n) { key.append(reinterpret_cast<const char*>(&n), sizeof n); };
    for (const std::int64_t n :
         {static_cast<std::int64_t>(k.kind), static_cast<std::int64_t>(k.phase), static_cast<std::int64_t>(k.type),
          static_cast<std::int64_t>(k.bytes_read), static_cast<std::int64_t>(k.bytes_written), k.batch, k.rows,
          k.columns, k.inner, static_cast<std::int64_t>(k.is_transposed_a),
          static_cast<std::int64_t>(k.is_transposed_b), static_cast<std::int64_t>(k.is_continuation)})
        append(n);
    for (int i = 0; i < k.num_operands; ++i)
        for (int j = 0; j < k.operands[i].rank; ++j) append(k.operands[i].size[j]);
    return key;
}

/// Relative bounds that contain nine of ten measured steps (docs/latency-pytorch.md, "Accuracy").
struct relative_bounds {
    double lower, upper;
};
inline constexpr relative_bounds training_device_bounds{.lower = 0.90, .upper = 1.12};
inline constexpr relative_bounds forward_device_bounds{.lower = 0.90, .upper = 1.25};
inline constexpr relative_bounds host_bounds{.lower = 0.6, .upper = 1.6};

LLMCOST_INLINE void add_seconds(std::vector<double>& seconds_of_operations, std::int32_t operation, double seconds) {
    const auto i = static_cast<std::size_t>(operation);
    if (i >= seconds_of_operations.size()) seconds_of_operations.resize(i + 1);
    seconds_of_operations[i] += seconds;
}

/// Merges equal kernels and adds their times.
[[nodiscard]] LLMCOST_INLINE torch_step timed_kernels(std::vector<torch_kernel> kernels, tf32_mode tf32,
                                                      double num_passes, const device& device, double host_microseconds,
                                                      const relative_bounds& device_bounds) {
    torch_step step;
    std::unordered_map<std::string, std::size_t> places;
    for (torch_kernel& k : kernels) {
        k.tf32 = tf32;
        const auto [place, is_new] = places.try_emplace(key_of(k), step.kernels.size());
        if (is_new) step.kernels.push_back({k, 0, kernel_seconds(device, k)});
        timed_torch_kernel& row = step.kernels[place->second];
        const double passes = k.phase == step_phase::optimizer ? 1 : k.is_accumulation ? num_passes - 1 : num_passes;
        const double times = static_cast<double>(k.num_repetitions) * passes;
        row.launches += times;
        torch_phase_cost& phase = step.phases[static_cast<std::size_t>(k.phase)];
        phase.device_seconds += times * row.seconds;
        phase.flops += times * static_cast<double>(k.flops);
        phase.bytes += times * static_cast<double>(k.bytes());
        phase.launches += times;
        step.device_seconds += times * row.seconds;
        std::vector<double>& seconds = k.phase == step_phase::forward ? step.forward_seconds : step.backward_seconds;
        for (const operation_share& s : k.shares) add_seconds(seconds, s.operation, s.share * times * row.seconds);
        if (k.shares.empty() && k.operation >= 0) add_seconds(seconds, k.operation, times * row.seconds);
        step.host_seconds += times * host_microseconds * 1e-6;
    }
    step.lower = std::max(step.device_seconds * device_bounds.lower, step.host_seconds * host_bounds.lower);
    step.upper = std::max(step.device_seconds * device_bounds.upper, step.host_seconds * host_bounds.upper);
    return step;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE double torch_step::loss_seconds(std::size_t num_operations) const noexcept {
    double seconds = 0;
    for (const std::vector<double>* const operations : {&forward_seconds, &backward_seconds})
        for (std::size_t i = num_operations; i < operations->size(); ++i) seconds += (*operations)[i];
    return seconds;
}

LLMCOST_INLINE torch_step time_kernels(const std::vector<torch_kernel>& kernels, double num_passes,
                                       const device& device, double host_microseconds, tf32_mode tf32,
                                       bool is_training) {
    return detail::timed_kernels(kernels, tf32, num_passes, device, host_microseconds,
                                 is_training ? detail::training_device_bounds : detail::forward_device_bounds);
}

LLMCOST_INLINE torch_step time_training_step(const model& m, const workload& load, const training_plan& plan,
                                             const device& device, double host_microseconds, tf32_mode tf32) {
    return time_kernels(training_kernels(m, load, plan), static_cast<double>(plan.schedule.gradient_accumulation_steps),
                        device, host_microseconds, tf32, true);
}

LLMCOST_INLINE torch_step time_forward_pass(const model& m, const workload& load, const device& device,
                                            double host_microseconds, tf32_mode tf32) {
    return time_kernels(forward_kernels(m, load), 1, device, host_microseconds, tf32, false);
}

}  // namespace llmcost
