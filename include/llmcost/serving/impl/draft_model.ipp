// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/draft_model.hpp>

#include <cstdint>

#include <llmcost/base/inline.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/size_polynomials.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/step_time_model.hpp>

namespace llmcost {

LLMCOST_INLINE double expected_tokens_per_step(std::int64_t draft, double acceptance_rate,
                                               double accepted_tokens) noexcept {
    if (accepted_tokens > 0) return 1 + accepted_tokens;
    double chance = 1, tokens = 1;
    for (std::int64_t i = 0; i < draft; ++i) tokens += chance *= acceptance_rate;
    return tokens;
}

LLMCOST_INLINE step_cost draft_cost(step_time_model& steps, draft_kind kind, std::int64_t num_draft_tokens,
                                    const step_shape& decodes) {
    const std::int64_t verified = 1 + num_draft_tokens;
    const auto pass = [&](std::int64_t tokens) { return steps(decodes.batch, tokens, decodes.past); };
    step_cost cost;
    switch (kind) {
        case draft_kind::one_per_head: return pass(1);
        case draft_kind::one_per_query: return pass(verified);
        case draft_kind::sequential:
            cost = pass(verified);
            if (verified > 2) cost.add(pass(1), static_cast<double>(verified - 2));
            return cost;
        case draft_kind::none: break;
    }
    cost.add(pass(1), static_cast<double>(num_draft_tokens));
    return cost;
}

}  // namespace llmcost
