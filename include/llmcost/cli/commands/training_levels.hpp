// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/latency_text.hpp>
#include <llmcost/cli/request/deployment.hpp>

// `llmcost levels --training`: a training step by module, with the time of `llmcost latency --training`.
namespace llmcost::cli::detail {

/// Device seconds of a module in the phases of a training step.
struct training_level {
    std::string name{};  ///< path of a module, `loss`, `(all-reduce)` or `(optimizer)`
    double forward = 0;
    double backward = 0;   ///< with recomputation
    double optimizer = 0;  ///< of the row `(optimizer)`

    [[nodiscard]] double seconds() const noexcept { return forward + backward + optimizer; }
};

/// The modules of a training step, the slowest first, then all-reduce and optimizer. Equal layers are combined.
[[nodiscard]] std::vector<training_level> training_levels_of(const deployment& p, const workload& load,
                                                             const latency_training_response& response);

/// Runs `llmcost levels --training`.
[[nodiscard]] command_output run_training_levels(const arguments& args, const program& io);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/training_levels.ipp>  // IWYU pragma: export
#endif
