// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/training_attention.hpp>

#include <algorithm>
#include <cstdint>

#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/kernel_work_formulas.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>

namespace llmcost {

LLMCOST_INLINE bool is_fused_attention(const operator_shape& shape) noexcept {
    return shape.type == find_operator_type("context_attention") || shape.type == find_operator_type("context_mla");
}

LLMCOST_INLINE double attention_seconds(const device& device, const attention_kernel_spec& kernel, double flops,
                                        double pairs, std::int64_t head_dim, bool is_backward) noexcept {
    constexpr double flops_per_clock = 2048, fused_backward = 2.5, unfused_backward = 2, all_pairs = 2;
    constexpr double latency = 8e-6, backward_latency = 20e-6, bandwidth_fraction = 0.85;
    constexpr std::int64_t narrow = 64;
    const double dense = std::max(device.bf16, device.fp16) * 1e12;
    const double ampere = flops_per_clock * device.num_compute_units * device.clock_hertz();
    const double peak = kernel.uses_ampere_instructions && ampere > 0 ? std::min(ampere, dense) : dense;
    const double fraction = head_dim <= narrow ? (is_backward ? kernel.narrow_backward : kernel.narrow_forward)
                                               : (is_backward ? kernel.backward : kernel.forward);
    if (peak <= 0) return 0;
    if (kernel.forward_score_bytes > 0) {
        const double bytes = pairs * (is_backward ? kernel.backward_score_bytes : kernel.forward_score_bytes);
        const double aligned = detail::aligned_fraction(head_dim, *find_operand_type("bfloat16"));
        return kernel.launches * latency / 4 +
               all_pairs * (is_backward ? unfused_backward : 1) * flops / (aligned * fraction * peak) +
               bytes / (bandwidth_fraction * std::max(device.memory_bandwidth, 1.0) * 1e9);
    }
    return is_backward ? backward_latency + fused_backward * flops / (fraction * peak)
                       : latency + flops / (fraction * peak);
}

}  // namespace llmcost
