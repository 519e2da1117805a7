// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/workload.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/torch/compiled_step.hpp>

namespace llmcost {

/// Replays a compiled training step: each kernel allocates its results, which exist until the last kernel reads them.
///
/// The gradients of outputs that the loss does not depend on are tensors of zeros, and the gradients of all parameters
/// are returned at the end of backward.
/// Source: torch/_inductor/codegen/wrapper.py (allocation before a kernel, `del` after the last use);
/// torch/csrc/autograd/python_function.cpp, `PyNode::apply` (`materialize_grads`).
[[nodiscard]] memory_timeline replay_compiled(const compiled_model& compiled, const tape& pass,
                                              const training_schedule& plan);

/// Simulates the training of a compiled model, with an eager optimizer.
///
/// Throws: `description_error` if the plan has a `compile_conflict`.
[[nodiscard]] training_run train_compiled(const model& m, const workload& load, training_plan plan);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/compiled_memory.ipp>  // IWYU pragma: export
#endif
