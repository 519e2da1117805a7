// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/torch/step.hpp>

// Changes of a PyTorch program that make its training step faster.
namespace llmcost::cli::detail {

/// A change of a training step, and the time per input relative to the unchanged step.
struct faster_step {
    std::string change{};
    double seconds = 0;
    double relative_time = 1;
};

/// The changes that save at least one percent of the time per input and fit into the device, the best first.
///
/// They are a CUDA graph and a larger batch if the host limits the step, a fused optimizer, fused attention, autocast
/// in bfloat16, and a vocabulary that is padded to a multiple of 64.
[[nodiscard]] std::vector<faster_step> find_faster_steps(const deployment& p, const workload& load,
                                                         const training_plan& plan, const torch_step& step);

/// The changes as lines of text; empty if there are none.
[[nodiscard]] std::string faster_step_lines(const std::vector<faster_step>& steps);

/// Writes `"faster"`.
void write_faster_steps(json_writer& json, const std::vector<faster_step>& steps);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/faster_step.ipp>  // IWYU pragma: export
#endif
