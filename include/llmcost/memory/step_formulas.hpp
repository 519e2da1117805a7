// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/model/model_spec.hpp>

// Closed-form FLOPs of a training step, as papers use them for dense decoders.
namespace llmcost {

/// The reason why formulas for dense decoders do not apply to a model; empty if they apply.
[[nodiscard]] std::string_view why_formula_undefined(const model& m) noexcept;

/// FLOPs of a step by parameters only: 6 N per token (arXiv 2001.08361, section 2.1).
[[nodiscard]] inline count flops_6nd(count parameters, count tokens) { return count(6) * parameters * tokens; }

/// FLOPs of a step with attention: 6 N + 12 L H Q T per token (arXiv 2204.02311, appendix B).
[[nodiscard]] count palm_step_flops(const model& m, count parameters, count tokens, count sequence);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/step_formulas.ipp>  // IWYU pragma: export
#endif
