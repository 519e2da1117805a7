// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/torch/kernel.hpp>

namespace llmcost {

/// The kernels of an optimizer step over parameters, whose bytes are those of the master weights, if there are any.
///
/// `rank`: of the projections of GaLore and APOLLO.
[[nodiscard]] std::vector<torch_kernel> optimizer_step_kernels(const optimizer_spec& optimizer, std::int64_t rank,
                                                               const std::vector<tape_parameter>& parameters);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/torch/impl/optimizer_kernels.ipp>  // IWYU pragma: export
#endif
