// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training_job.hpp>

// The kernels of one microbatch of a training job.
namespace llmcost::detail {

/// The cost of layers, or of what is outside of them, for one microbatch on one rank.
struct training_pass {
    step_cost forward{}, backward{}, recomputed{};

    [[nodiscard]] double seconds() const noexcept { return forward.seconds + backward.seconds + recomputed.seconds; }
    [[nodiscard]] double launches() const noexcept {
        return forward.launches + backward.launches + recomputed.launches;
    }
    training_pass& add(const training_pass& pass, double times) noexcept {
        forward.add(pass.forward, times);
        backward.add(pass.backward, times);
        recomputed.add(pass.recomputed, times);
        return *this;
    }
};

/// A microbatch on the ranks of one pipeline, if one rank had all layers.
struct training_passes {
    training_pass layers{}, before{}, after{};  ///< layers; embedding; final norm, head and loss
    double tensor_messages = 0;                 ///< all-reduces of tensor parallelism in the forward pass of the layers
    double tensor_message_elements = 0;         ///< of one of them
    double expert_layers = 0;                   ///< layers with routed experts
    double attention_layers = 0;
    double attention_forward_seconds = 0, attention_backward_seconds = 0;  ///< of all layers
};

/// Tokens of a sequence on a context-parallel rank.
[[nodiscard]] constexpr std::int64_t tokens_of_context_rank(std::int64_t sequence, std::int64_t context) noexcept {
    return (sequence + context - 1) / context;
}

/// The kernels of the forward pass and of the loss of a microbatch on a context-parallel rank, before tensor and expert
/// parallelism divide them.
[[nodiscard]] std::vector<model_kernel> forward_kernels_of(const model& full_model, workload load, execution execution,
                                                           const training_plan& plan, std::int64_t context);

/// The kernels of a microbatch on the devices of a tensor-, context- and expert-parallel group.
///
/// `forward_kernels`: those of `forward_kernels_of`.
[[nodiscard]] training_passes training_passes_of(const model& full_model, const workload& load,
                                                 const execution& execution, const device& device,
                                                 kernel_source& kernels, const training_plan& plan,
                                                 const training_job& job,
                                                 const std::vector<model_kernel>& forward_kernels);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/training_pass.ipp>  // IWYU pragma: export
#endif
