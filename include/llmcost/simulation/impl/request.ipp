// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/request.hpp>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE bool request_slo::is_met_by(const request_record& r) const noexcept {
    return meets_ttft(r) && (tpot == 0 || tpot_safety_factor * r.time_per_output_token() <= tpot) &&
           (end_to_end == 0 || end_to_end_at_quantile(r) <= end_to_end);
}

}  // namespace llmcost
