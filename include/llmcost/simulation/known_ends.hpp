// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace llmcost {

/// Tokens that a request will write, and those that it gives back then.
struct known_end {
    double left = 0, holds = 0;
};

/// Requests whose ends are known, the soonest first: whether all of them can write that far (SGLang,
/// managers/schedule_policy.py, add_one_req_ignore_eos).
class known_ends {
public:
    void clear() noexcept { all_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    /// One of those that are put into their order by `sort`.
    void add(known_end e) {
        if (e.left > 0) all_.push_back(e);
    }
    void sort() {
        std::stable_sort(all_.begin(), all_.end(), [](const known_end& a, const known_end& b) { return a.left < b.left; });
    }
    /// One more; where it ends behind all others SGLang puts it before the last.
    void insert(known_end e) {
        if (e.left <= 0) return;
        std::size_t at = 0;
        while (at + 1 < all_.size() && e.left > all_[at].left) ++at;
        all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(at), e);
    }
    /// Whether so many free tokens are enough until the last one ends, each giving back what it holds when it does.
    [[nodiscard]] bool fit(double free) const noexcept {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            const auto running = static_cast<double>(all_.size() - i);
            if (free - all_[i].left * running <= running) return false;
            free += all_[i].holds;
        }
        return true;
    }

private:
    std::vector<known_end> all_;
};

}  // namespace llmcost
