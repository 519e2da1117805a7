// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/serving/model_kernel.hpp>

// What each device of a split model holds.
namespace llmcost {

/// Parameters on each device: of embeddings and head, which nobody quantises, of routed experts, of all else.
struct device_parameters {
    double kept = 0, routed = 0, others = 0;

    [[nodiscard]] constexpr double all() const noexcept { return kept + routed + others; }
};
[[nodiscard]] inline device_parameters parameters_of(const model& whole, const execution& how) {
    const model part = sharded(whole, how.shards);
    const auto parameters = [&](scope_query asked) {
        const workload any{.sequence = 1, .past = 0, .head = logits::all};
        return static_cast<double>(count_model(part, any, asked).params.to_64());
    };
    const double kept = parameters(scope_query{role::embedding}) + parameters(scope_query{role::head});
    const double routed = parameters(scope_query{role::experts});
    return {kept, routed / static_cast<double>(how.shards.expert * how.shards.expert_tensor),
            parameters({}) - kept - routed};
}

/// Bytes of weights on each device.
[[nodiscard]] inline double weight_bytes(const model& whole, const execution& how) {
    const device_parameters n = parameters_of(whole, how);
    return how.unquantised()->weight_bytes * n.kept + how.products->weight_bytes * n.others +
           how.experts->weight_bytes * n.routed;
}

/// Bytes of a workload's cache on each device, at its end.
[[nodiscard]] inline double cache_bytes(const model& whole, const workload& load, const execution& how) {
    return how.cache->weight_bytes * static_cast<double>(count_model(sharded(whole, how.shards), load).cache.to_64());
}

/// Bytes that training holds for a parameter from step to step: the weight and its gradient in 16 bits, AdamW's copy and
/// both moments in 32 (ZeRO, arXiv 1910.02054, section 3.1).
inline constexpr double training_state_bytes = 2 + 2 + 3 * 4;

/// Bytes that autograd keeps on each device until backward, operation by operation as the reference executes them: fused
/// attention keeps less.
[[nodiscard]] inline double kept_for_backward(const model& whole, workload load, const execution& how) {
    load.training = true;
    load.weights = load.activations = dtype_from(how.unquantised()->name);
    return static_cast<double>(count_model(sharded(whole, how.shards), load).saved_bytes);
}

}  // namespace llmcost
