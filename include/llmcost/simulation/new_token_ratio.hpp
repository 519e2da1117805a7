// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <llmcost/simulation/scheduling_policy.hpp>

namespace llmcost {

/// The fraction of remaining output tokens that admission reserves. Decays with every decode step.
///
/// Source: sglang, managers/scheduler_components/new_token_ratio_tracker.py.
class new_token_ratio {
public:
    explicit new_token_ratio(const scheduling_policy& policy);

    [[nodiscard]] double value() const noexcept { return value_; }
    void decay(std::int64_t num_steps) noexcept;
    /// Shortens the last decay to `num_steps` steps.
    void truncate_decay(std::int64_t num_steps) noexcept { value_ = decayed(before_decay_, num_steps); }
    /// Raises the ratio after a preemption.
    void set_after_preemption(double ratio) noexcept { value_ = ratio; }
    /// Resets the ratio when no request is left.
    void reset() noexcept { value_ = initial_; }

private:
    [[nodiscard]] double decayed(double ratio, std::int64_t num_steps) const noexcept {
        return std::max(minimum_, ratio - decay_per_step_ * static_cast<double>(num_steps));
    }

    double initial_;
    double minimum_;
    double decay_per_step_;
    double value_;
    double before_decay_ = 0;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/new_token_ratio.ipp>  // IWYU pragma: export
#endif
