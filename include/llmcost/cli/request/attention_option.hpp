// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::cli::detail {

/// The implementation of `--attention-implementation`; auto: sdpa if the reference and the trace have it.
///
/// Source: transformers/modeling_utils.py, `_check_and_adjust_attn_implementation`.
[[nodiscard]] attention_implementation attention_implementation_of(const arguments& args, const model& m,
                                                                   const workload& load);

/// Whether the reference has a fused attention for a model, and the trace describes it.
[[nodiscard]] bool has_fused_attention(const model& m, workload load);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/attention_option.ipp>  // IWYU pragma: export
#endif
