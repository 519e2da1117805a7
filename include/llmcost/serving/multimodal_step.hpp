// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>

// Prompts with images, videos or audio.
namespace llmcost {

/// The cost of the multimodal inputs of a request.
struct multimodal_cost {
    std::int64_t num_tokens = 0;  ///< in the prompt
    step_cost encoder_cost{};     ///< in addition to a text of the same length
};

/// The cost of the multimodal inputs of one sequence.
///
/// A forward pass with them minus one with text of the same length. Their tokens are priced as text tokens.
[[nodiscard]] multimodal_cost compute_multimodal_cost(const model& model, workload load, const execution& execution,
                                                      const device& device, kernel_source& kernels);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/multimodal_step.ipp>  // IWYU pragma: export
#endif
