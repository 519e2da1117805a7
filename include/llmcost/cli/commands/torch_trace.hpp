// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/request/deployment.hpp>

// `llmcost graph --format chrome --engine torch`: the timeline of a step of PyTorch.
namespace llmcost::cli::detail {

/// The kernels of a forward pass or of a training step on a stream, and their launches by the host, as a Chrome trace.
///
/// `load`: completed for PyTorch. Kernels have the names of PyTorch's profiler, and their phase as category.
[[nodiscard]] std::string torch_step_trace(const deployment& p, const workload& load);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/torch_trace.ipp>  // IWYU pragma: export
#endif
