// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/new_token_ratio.hpp>

#include <cstdint>

#include <llmcost/base/inline.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

namespace llmcost {

LLMCOST_INLINE new_token_ratio::new_token_ratio(const scheduling_policy& policy)
    : initial_(policy.init_new_token_ratio),
      minimum_(policy.min_new_token_ratio),
      decay_per_step_((policy.init_new_token_ratio - policy.min_new_token_ratio) /
                      static_cast<double>(policy.new_token_ratio_decay_steps)),
      value_(initial_) {}

LLMCOST_INLINE void new_token_ratio::decay(std::int64_t num_steps) noexcept {
    before_decay_ = value_;
    value_ = decayed(value_, num_steps);
}

}  // namespace llmcost
