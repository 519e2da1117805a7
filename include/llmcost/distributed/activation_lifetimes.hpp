// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <llmcost/distributed/pipeline_schedule.hpp>

// Activations that a schedule keeps for backward.
namespace llmcost::distributed {

/// The largest numbers of activations that are alive at the same time. An activation is one stage's of one microbatch.
struct activation_peaks {
    std::vector<int> ranks{};   ///< of all stages of a rank
    std::vector<int> stages{};  ///< of each stage alone; the stages of a rank peak at different times
};

/// Counts activations from their forward to their weight gradient, both inclusive.
///
/// Backward of an overlap frees its activation after the forward of the overlap has created one.
/// Source: PyTorch, schedules.py, `analyze_pipeline_activation_liveness`, `num_slots`.
[[nodiscard]] activation_peaks peak_activations(const pipeline_schedule& schedule);

/// Bytes that one microbatch of each stage saves for backward, by the action that frees them.
struct activation_sizes {
    std::vector<double> input_gradient_bytes{};   ///< freed by the gradient of the input: `I`, or `B`
    std::vector<double> weight_gradient_bytes{};  ///< freed by the gradient of the weights: `W`, or `B`
};

/// The largest sum of the bytes that are alive at the same time, by rank.
[[nodiscard]] std::vector<double> peak_activation_bytes(const pipeline_schedule& schedule,
                                                        const activation_sizes& sizes);

}  // namespace llmcost::distributed

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/activation_lifetimes.ipp>  // IWYU pragma: export
#endif
