// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/finish_schedule.hpp>

#include <algorithm>
#include <cstddef>

#include <llmcost/base/inline.hpp>

namespace llmcost {

LLMCOST_INLINE void finish_schedule::sort() {
    std::stable_sort(estimates_.begin(), estimates_.end(), [](const finish_estimate& a, const finish_estimate& b) {
        return a.remaining_tokens < b.remaining_tokens;
    });
}

LLMCOST_INLINE void finish_schedule::insert(finish_estimate e) {
    if (e.remaining_tokens <= 0) return;
    std::size_t position = 0;
    while (position + 1 < estimates_.size() && e.remaining_tokens > estimates_[position].remaining_tokens) ++position;
    estimates_.insert(estimates_.begin() + static_cast<std::ptrdiff_t>(position), e);
}

LLMCOST_INLINE bool finish_schedule::can_finish(double free) const noexcept {
    for (std::size_t i = 0; i < estimates_.size(); ++i) {
        const auto running = static_cast<double>(estimates_.size() - i);
        if (free - estimates_[i].remaining_tokens * running <= running) return false;
        free += estimates_[i].tokens_freed;
    }
    return true;
}

}  // namespace llmcost
