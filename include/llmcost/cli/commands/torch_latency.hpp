// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/step.hpp>

// The time of a step of a PyTorch program, for `llmcost latency --engine torch` and `llmcost train`.
namespace llmcost::cli::detail {

/// Completes a workload for PyTorch on the device: element types, attention implementation and CUDA kernels.
///
/// `schedule`: of a training step; null for a forward pass.
/// Throws: `usage` for element types that PyTorch's products do not have.
void complete_torch_workload(const arguments& args, const deployment& p, const training_schedule* schedule,
                             workload& load);

/// A training step as PyTorch runs it. Data-parallel ranks sum their gradients after backward.
training_cost torch_training_cost(const deployment& p, const workload& load, const training_plan& plan,
                                  const torch_step& step);

/// A forward pass as PyTorch runs it; without kernels of an engine.
timed_step torch_forward_cost(const deployment& p, const workload& load, const torch_step& step);

/// The operators of a step, as PyTorch's profiler lists them: calls, device time, share.
std::string torch_operator_table(const torch_step& step);

/// The kernels of a step with their operands.
table torch_kernel_table(const torch_step& step);

/// Writes `"operands"`: the sizes of each operand.
void write_operands(json_writer& json, const torch_kernel& k);

/// Writes `"device_seconds"`, `"host_seconds"`, `"launches"` and `"kernels"`.
void write_torch_step(json_writer& json, const torch_step& step);

/// Which of device and host limits the step.
std::string torch_method_line(const torch_step& step);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/torch_latency.ipp>  // IWYU pragma: export
#endif
