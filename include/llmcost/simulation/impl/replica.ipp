// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/replica.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <llmcost/base/inline.hpp>
#include <llmcost/serving/stage_links.hpp>
#include <llmcost/simulation/kv_cache_pool.hpp>
#include <llmcost/simulation/scheduler.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

LLMCOST_INLINE double pipeline::schedule_step(double now, const simulated_step_cost& step) noexcept {
    for (std::size_t i = 0; i < stage_free_seconds_.size(); ++i) {
        now = std::max(now, stage_free_seconds_[i]) +
              (step.seconds - step.first_stage_seconds) / static_cast<double>(stage_free_seconds_.size());
        if (i == 0) now += step.first_stage_seconds;
        if (i + 1 < stage_free_seconds_.size())
            now += leaves_node_[i] ? step.stage_transfer_time.inter_node_seconds
                                   : step.stage_transfer_time.intra_node_seconds;
        stage_free_seconds_[i] = now;
    }
    return now;
}

LLMCOST_INLINE std::int64_t replica::num_weighted_requests() const noexcept {
    std::int64_t sum = 0;
    for (const scheduler& s : ranks_) sum += 4 * s.num_waiting() + s.num_running();
    return sum;
}

LLMCOST_INLINE double replica::next_loaded() const noexcept {
    double soonest = std::numeric_limits<double>::infinity();
    for (const scheduler& s : ranks_) soonest = std::min(soonest, s.next_loaded());
    return soonest;
}

LLMCOST_INLINE void replica::add_request(std::size_t id, double now, std::size_t to) {
    const bool could_enter = ranks_[to].accepts_requests();
    ranks_[to].add_request(id, now);
    if (is_busy_ && steps_ > 1 && could_enter) cut(now);
}

LLMCOST_INLINE double replica::seconds_of(std::int64_t i) const noexcept {
    if (num_planned_steps_ <= 1) return first_.seconds;
    return first_.seconds +
           (last_.seconds - first_.seconds) * static_cast<double>(i) / static_cast<double>(num_planned_steps_ - 1);
}

LLMCOST_INLINE void replica::is_slower_than(simulated_step_cost& all, const simulated_step_cost& one) noexcept {
    all.seconds = std::max(all.seconds, one.seconds);
    all.joules = std::max(all.joules, one.joules);
    all.first_stage_seconds = std::max(all.first_stage_seconds, one.first_stage_seconds);
    all.stage_transfer_time.intra_node_seconds =
        std::max(all.stage_transfer_time.intra_node_seconds, one.stage_transfer_time.intra_node_seconds);
    all.stage_transfer_time.inter_node_seconds =
        std::max(all.stage_transfer_time.inter_node_seconds, one.stage_transfer_time.inter_node_seconds);
}

LLMCOST_INLINE void replica::cut(double now) {
    std::int64_t low = 1, high = steps_;  // the first step that ends at `now` or later
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (begin_ + seconds_until(middle) >= now)
            high = middle;
        else
            low = middle + 1;
    }
    const std::int64_t keep = low + ranks_.front().policy().num_async_steps;
    if (keep >= steps_) return;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
        if (running_[i].num_steps > 0) ranks_[i].truncate(running_[i], keep);
    steps_ = keep;
    end_ = begin_ + seconds_until(keep);
}

LLMCOST_INLINE simulated_steps replica::this_run() const {
    simulated_steps s{begin_, end_, steps_};
    double pages = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        s.num_decodes += running_[i].num_decodes;
        s.num_prefills += static_cast<std::int64_t>(running_[i].prefills.size());
        for (const prefill_chunk& c : running_[i].prefills) s.prefill_tokens += c.num_tokens;
        s.running += ranks_[i].num_running();
        s.waiting += ranks_[i].num_waiting();
        pages += ranks_[i].kv_cache().num_used() / static_cast<double>(ranks_[i].kv_cache().num_pages());
    }
    s.kv_cache_utilization = pages / static_cast<double>(ranks_.size());
    return s;
}

}  // namespace llmcost
