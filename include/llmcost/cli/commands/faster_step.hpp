// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/padded_vocabulary.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/torch/step.hpp>

// Changes of a program that make its step faster.
namespace llmcost::cli::detail {

/// A change of a step, and the time per input relative to the unchanged step.
struct faster_step {
    std::string change{};
    double seconds = 0;
    double relative_time = 1;
    double lower = 0;  ///< interval of `seconds` if its method is another one: torch.compile; 0: not set
    double upper = 0;
};

/// The changes that save at least one percent of the time per input and fit into the device, the best first.
///
/// They are torch.compile, a fused optimizer, fused attention, autocast in bfloat16, and a vocabulary that is padded to
/// a multiple of 64. If the host limits the step, they also are a CUDA graph and a larger batch.
[[nodiscard]] std::vector<faster_step> find_faster_steps(const deployment& p, const workload& load,
                                                         const training_plan& plan, const torch_step& step);

/// The padded vocabulary, if it saves at least one percent of a step that takes `seconds`. `time(model)`: the seconds
/// of the step of a model.
template <class Time>
[[nodiscard]] std::vector<faster_step> find_faster_padding(const deployment& p, double seconds, Time time) {
    constexpr double min_saving = 0.01;
    if (p.execution.vocabulary_multiple > 1) return {};  // the engine pads
    const std::optional<model> padded = model_with_padded_vocabulary(p.model);
    if (!padded) return {};
    const double changed = time(*padded);
    if (changed > seconds * (1 - min_saving)) return {};
    return {{padding_label(*padded), changed, changed / seconds}};
}

/// The changes as lines of text; empty if there are none.
[[nodiscard]] std::string faster_step_lines(const std::vector<faster_step>& steps);

/// Writes `"faster"`.
void write_faster_steps(json_writer& json, const std::vector<faster_step>& steps);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/faster_step.ipp>  // IWYU pragma: export
#endif
