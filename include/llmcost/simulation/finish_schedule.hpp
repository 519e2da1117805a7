// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace llmcost {

/// The remaining output of a request, and the tokens of its KV cache that it frees at its end.
struct finish_estimate {
    double remaining_tokens = 0, tokens_freed = 0;
};

/// Requests in the order of their finish times. Decides whether all of them can decode to their ends.
///
/// Source: sglang, managers/schedule_policy.py, `add_one_req_ignore_eos`.
class finish_schedule {
public:
    void clear() noexcept { all_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    /// Adds a request before `sort`.
    void add(finish_estimate e) {
        if (e.remaining_tokens > 0) all_.push_back(e);
    }
    void sort() {
        std::stable_sort(all_.begin(), all_.end(), [](const finish_estimate& a, const finish_estimate& b) {
            return a.remaining_tokens < b.remaining_tokens;
        });
    }
    /// Adds a request after `sort`. SGLang inserts a request that finishes last before the previous last one.
    void insert(finish_estimate e) {
        if (e.remaining_tokens <= 0) return;
        std::size_t at = 0;
        while (at + 1 < all_.size() && e.remaining_tokens > all_[at].remaining_tokens) ++at;
        all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(at), e);
    }
    /// Whether `free` tokens suffice until the last request finishes. Each request frees its tokens when it finishes.
    [[nodiscard]] bool can_finish(double free) const noexcept {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            const auto running = static_cast<double>(all_.size() - i);
            if (free - all_[i].remaining_tokens * running <= running) return false;
            free += all_[i].tokens_freed;
        }
        return true;
    }

private:
    std::vector<finish_estimate> all_;
};

}  // namespace llmcost
