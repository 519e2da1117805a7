// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/size_polynomials.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/step_time_model.hpp>

// Speculative decoding with a draft model or a draft head.
namespace llmcost {

class server;

/// A draft model or a draft head, which proposes tokens for each sequence of a step.
struct draft_model_config {
    std::int64_t num_draft_tokens = 0;
    server* draft_server = nullptr;      ///< generates the draft tokens; null: no cost
    draft_kind kind = draft_kind::none;  ///< of a draft head; none: a separate model, one token after the other
};

/// Mean output tokens per request and step with `draft` draft tokens.
///
/// `accepted_tokens`: measured mean of accepted draft tokens per step. Without it (0), a draft token is accepted with
/// the probability `acceptance_rate`, given that all before it are: the sum of acceptance_rate^i for i = 0 … draft.
[[nodiscard]] double expected_tokens_per_step(std::int64_t draft, double acceptance_rate,
                                              double accepted_tokens = 0) noexcept;

/// The cost of the n = `num_draft_tokens` draft tokens of a decode step. `steps`: decode steps of the draft model.
///
///  - a separate model: n passes over one token;
///  - `sequential`: a pass over the hidden states of the n + 1 tokens of the last verification, then n − 1 passes
///    over one token;
///  - `one_per_head`: one pass over one position;
///  - `one_per_query`: one pass, whose context are the n + 1 tokens of the last verification.
///
/// Source: vllm, v1/spec_decode/eagle.py, `propose`; v1/spec_decode/medusa.py, `propose`.
[[nodiscard]] step_cost draft_cost(step_time_model& steps, draft_kind kind, std::int64_t num_draft_tokens,
                                   const step_shape& decodes);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/draft_model.ipp>  // IWYU pragma: export
#endif
