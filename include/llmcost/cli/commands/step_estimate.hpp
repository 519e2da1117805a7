// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/memory/training_step.hpp>

// The time of a step for the commands that compute memory. All times are those of `llmcost latency`.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec tokens{
    .name = "--tokens",
    .value = "N",
    .type = value_type::number,
    .help = "training tokens of an epoch; reports hours, energy and price on --device (images: their number)"};

}  // namespace option

namespace detail {

/// The command line of `llmcost latency` for the model and the device of another command line.
class latency_command_line {
public:
    explicit latency_command_line(const arguments& args);
    void add(const option_spec& o) { texts_.emplace_back(o.name); }
    void add(const option_spec& o, std::string value) {
        texts_.emplace_back(o.name);
        texts_.emplace_back(std::move(value));
    }
    /// The parsed command line; refers to the texts of this object.
    [[nodiscard]] arguments parse() const;

private:
    std::deque<std::string> texts_;
};

/// Adds the options of the job of a command line of `llmcost train`.
void add_training_job(latency_command_line& line, const arguments& args, const workload& load,
                      std::int64_t data_parallel_size, dtype products);

/// The value of `--tokens`; 0 without the option. Throws: `usage` without `--device`.
std::int64_t parse_epoch_tokens(const arguments& args);

/// The time of an inference step. `tensor_parallel_size` devices share the model.
///
/// Errors of the device, of the types or of the engine are `step_estimate::problem`.
step_estimate estimate_inference_step(const arguments& args, const program& io, const workload& load,
                                      std::int64_t tensor_parallel_size = 1);

/// The time of a training step with the products of a type. Errors are as in `estimate_inference_step`.
step_estimate estimate_training_step(const arguments& args, const program& io, const workload& load,
                                     const training_plan& plan, dtype products);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/step_estimate.ipp>  // IWYU pragma: export
#endif
