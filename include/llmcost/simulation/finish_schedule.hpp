// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    void clear() noexcept { estimates_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return estimates_.empty(); }
    /// Adds a request before `sort`.
    void add(finish_estimate e) {
        if (e.remaining_tokens > 0) estimates_.push_back(e);
    }
    void sort();
    /// Adds a request after `sort`. SGLang inserts a request that finishes last before the previous last one.
    void insert(finish_estimate e);
    /// Whether `free` tokens suffice until the last request finishes. Each request frees its tokens when it finishes.
    [[nodiscard]] bool can_finish(double free) const noexcept;

private:
    std::vector<finish_estimate> estimates_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/finish_schedule.ipp>  // IWYU pragma: export
#endif
