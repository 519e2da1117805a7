// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/schedule_options.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/serving/operator_times.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/step.hpp>

// The times of the operations of a pass, for the commands that list operations, modules or layers.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec operations_engine = with_help(
    engine, "torch: times of PyTorch on --device, as llmcost latency (default: each operation as one kernel)");
inline constexpr option_spec operations_execution =
    with_help(torch_execution,
              "of --engine torch: eager; graph: kernels in a CUDA graph; compile: torch.compile; reduce-overhead: "
              "compile in CUDA graphs (default eager)");

}  // namespace option

/// The options of `--engine torch` in commands that list operations.
inline constexpr std::array torch_pass_options{option::operations_engine, option::operations_execution,
                                               option::torch_host,        option::tf32,
                                               option::precision,         option::implementation};

/// The times of the operations of a pass on a device.
struct timed_operations {
    operator_times times{};
    std::optional<torch_step> torch{};  ///< of `--engine torch`; none: each operation is one kernel
    double loss_seconds = 0;            ///< of the loss of a training step, which is not in the graph
    double optimizer_seconds = 0;

    [[nodiscard]] seconds_of_operations seconds() const { return {times.forward, times.backward}; }
};

namespace detail {

/// Whether `--engine torch` is given. Throws: `usage` for another engine, and for options that require torch.
[[nodiscard]] bool has_torch_engine(const arguments& args);

/// The training step of a deployment: its default loss, its adapter, and a schedule.
[[nodiscard]] training_plan training_plan_of(const deployment& p, const training_schedule& schedule);

/// The time of a step of PyTorch; `plan`: of a training step, null for a forward pass.
///
/// All commands have this time, so that their totals are equal.
[[nodiscard]] torch_step time_torch_step(const deployment& p, const workload& load, const training_plan* plan);

/// The kernels of `time_torch_step`, in the order of their launches.
[[nodiscard]] std::vector<torch_kernel> list_torch_kernels(const deployment& p, const workload& load,
                                                           const training_plan* plan);

/// Completes the workload of a graph for PyTorch: element types, attention, and the mode of the modules.
/// Throws: `usage` for options that PyTorch does not have.
void complete_torch_graph_workload(const arguments& args, const deployment& p, workload& load);

/// The times of PyTorch for the operations of a graph with `num_operations` forward operations.
[[nodiscard]] timed_operations time_torch_operations(const arguments& args, const deployment& p, const workload& load,
                                                     std::size_t num_operations);

/// The time of a forward pass of PyTorch with a workload of another command.
[[nodiscard]] torch_step time_torch_pass(const arguments& args, const deployment& p, workload load);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/timed_operations.ipp>  // IWYU pragma: export
#endif
