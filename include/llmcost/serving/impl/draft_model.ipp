// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/draft_model.hpp>

#include <cstdint>

#include <llmcost/base/inline.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/size_polynomials.hpp>
#include <llmcost/serving/step.hpp>

namespace llmcost {

LLMCOST_INLINE step_cost draft_cost(const draft_model_config& drafts, const step_shape& decodes) {
    const std::int64_t verified = 1 + drafts.num_draft_tokens;
    const auto pass = [&](std::int64_t tokens) {
        return drafts.draft_server->decode_step_model()(decodes.batch, tokens, decodes.past);
    };
    step_cost cost;
    switch (drafts.kind) {
        case draft_kind::one_per_head: return pass(1);
        case draft_kind::one_per_query: return pass(verified);
        case draft_kind::sequential:
            cost = pass(verified);
            if (verified > 2) cost.add(pass(1), static_cast<double>(verified - 2));
            return cost;
        case draft_kind::none: break;
    }
    cost.add(pass(1), static_cast<double>(drafts.num_draft_tokens));
    return cost;
}

}  // namespace llmcost
