// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/simulation/decoding_requests.hpp>
#include <llmcost/simulation/finish_schedule.hpp>
#include <llmcost/simulation/kv_cache_pool.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

/// Whether the cache has room for one more prompt, by what those that run hold and are still to write (SGLang,
/// managers/schedule_policy.py, PrefillAdder).
class admission_controller : protected decoding_requests {
protected:
    admission_controller(const scheduling_policy& policy, std::int64_t pages, std::int64_t pages_per_block,
                         const std::vector<simulated_request>& requests, std::vector<request_progress>& progress,
                         double tokens_per_step)
        : decoding_requests(policy, requests, progress, tokens_per_step),
          kv_cache_(pages, pages_per_block),
          new_token_ratio_(policy.init_new_token_ratio) {}

    /// The share of outputs that admission foresees, so many steps later.
    [[nodiscard]] double decayed_ratio(double share, std::int64_t steps) const noexcept {
        const double fall = (policy_.init_new_token_ratio - policy_.min_new_token_ratio) /
                            static_cast<double>(policy_.new_token_ratio_decay_steps);
        return std::max(policy_.min_new_token_ratio, share - fall * static_cast<double>(steps));
    }
    /// In how many of the steps that were composed last it falls: not in one before which somebody gave way.
    [[nodiscard]] std::int64_t num_decay_steps(std::int64_t steps) const noexcept {
        return has_preempted_ ? steps - 1 : steps;
    }
    /// And those of them that an engine knows of when it composes the next one: not those of a step that still runs.
    [[nodiscard]] std::int64_t num_committed_output_tokens(std::size_t id) const {
        const request_progress& p = (*progress_)[id];
        const bool runs = policy_.num_async_steps > 0 && (p.state == place::decoding || p.state == place::finished) &&
                          (last_batch_decodes_ || p.prefill_batch == num_batches_);
        return num_output_tokens(id) - (runs ? 1 : 0);
    }
    /// The share of outputs that those that are left have written, and what they will write soon (SGLang,
    /// managers/scheduler_components/new_token_ratio_tracker.py).
    [[nodiscard]] double ratio_after_preemption() {
        remove_stale_entries();
        double requested_tokens = 1, soon = 0;
        for (const admitted_request& a : admission_order_)
            if ((*progress_)[a.id].state == place::decoding) {
                requested_tokens += static_cast<double>((*requests_)[a.id].output_tokens);
                soon += static_cast<double>(num_committed_output_tokens(a.id) + 20);
            }
        return std::min(1.0, soon / requested_tokens);
    }
    /// Forgets who is no longer there.
    void remove_stale_entries() {
        admission_order_.erase(
            std::remove_if(admission_order_.begin(), admission_order_.end(),
                           [&](const admitted_request& a) { return (*progress_)[a.id].generation != a.life; }),
            admission_order_.end());
    }
    /// Tokens of a prompt that are in the cache; the last one is always computed.
    [[nodiscard]] std::int64_t num_cached_tokens(const simulated_request& r) const {
        auto tokens = static_cast<std::int64_t>(r.cached_fraction * static_cast<double>(r.input_tokens));
        if (has_prefix_blocks(r))
            tokens =
                kv_cache_.num_cached_prefix_blocks(r.prefix_blocks) * kv_cache_.pages_per_block() * policy_.page_size;
        return std::min(tokens, r.input_tokens - 1);
    }
    [[nodiscard]] double reserved_output_tokens() {
        remove_stale_entries();
        double tokens = 0;
        for (const admitted_request& a : admission_order_)
            if ((*progress_)[a.id].state != place::prefill)
                tokens += static_cast<double>(std::min(
                    (*requests_)[a.id].output_tokens - num_committed_output_tokens(a.id), max_reserved_output_tokens));
        return tokens * (policy_.has_known_finish_times ? 1 : new_token_ratio_);
    }
    /// Whether all that run, and one more, can write to their ends.
    [[nodiscard]] bool can_finish_all(std::size_t id, double reserved_tokens) {
        const auto end_of = [&](std::size_t candidate_id) {
            const std::int64_t written = num_committed_output_tokens(candidate_id);
            return finish_estimate{static_cast<double>((*requests_)[candidate_id].output_tokens - written),
                                   static_cast<double>((*requests_)[candidate_id].input_tokens + written)};
        };
        const auto block = static_cast<double>(policy_.page_size);
        const double prompt_tokens = static_cast<double>(num_pages((*progress_)[id].num_prompt_tokens) + 1) * block;
        if (prompt_tokens > free_tokens(reserved_tokens)) return false;
        if (!finish_schedule_.empty()) {
            finish_schedule_.insert(end_of(id));
        } else {
            finish_schedule_.add(end_of(id));
            for (const bool prompts : {false, true})
                for (const admitted_request& a : admission_order_)
                    if (((*progress_)[a.id].state == place::prefill) == prompts) finish_schedule_.add(end_of(a.id));
            finish_schedule_.sort();
        }
        return finish_schedule_.can_finish(free_tokens(static_cast<double>(batch_.prefills.size()) * block) -
                                           prompt_tokens);
    }
    /// Beside the pages that a prompt takes: one more, and behind its last chunk all that it may write.
    [[nodiscard]] double reserved_after_chunk(std::size_t id) const {
        const request_progress& p = (*progress_)[id];
        const std::int64_t output = std::min((*requests_)[id].output_tokens, max_reserved_output_tokens);
        return static_cast<double>(policy_.page_size + (p.num_computed_tokens == p.num_prompt_tokens ? output : 0));
    }
    /// Tokens that the cache has room for beside those that are foreseen.
    [[nodiscard]] double free_tokens(double reserved_tokens) const {
        return (kv_cache_.num_available() - claimed_pages_) * static_cast<double>(policy_.page_size) - reserved_tokens;
    }
    /// Of a chunk; all of it where there is room for nothing, so that it comes to an end.
    [[nodiscard]] std::int64_t largest_chunk(double reserved_tokens, std::int64_t chunk) const {
        const auto tokens = static_cast<std::int64_t>(free_tokens(reserved_tokens));
        return tokens > 0 ? tokens : chunk;
    }
    [[nodiscard]] bool has_prefix_blocks(const simulated_request& r) const {
        return policy_.has_prefix_cache && !r.prefix_blocks.empty();
    }
    /// Pages beside its named blocks that a request holds once so many of its tokens are computed.
    [[nodiscard]] std::int64_t private_pages(std::size_t id, std::int64_t computed) const {
        const simulated_request& r = (*requests_)[id];
        const std::int64_t all =
            num_pages(reserves_full_output() ? (*progress_)[id].num_prompt_tokens + r.output_tokens - 1 : computed);
        if (!has_prefix_blocks(r)) return all;
        return std::max<std::int64_t>(
            0, all - static_cast<std::int64_t>(r.prefix_blocks.size()) * kv_cache_.pages_per_block());
    }
    /// Pages that its whole prompt needs, with those of its blocks that no running request holds.
    [[nodiscard]] std::int64_t pages_to_allocate(std::size_t id) const {
        const simulated_request& r = (*requests_)[id];
        const std::int64_t num_private_pages = private_pages(id, (*progress_)[id].num_prompt_tokens);
        if (!has_prefix_blocks(r)) return num_private_pages;
        const std::int64_t missing =
            static_cast<std::int64_t>(r.prefix_blocks.size()) - kv_cache_.num_cached_blocks(r.prefix_blocks);
        return num_private_pages +
               (missing + kv_cache_.num_unreferenced_blocks(r.prefix_blocks)) * kv_cache_.pages_per_block();
    }
    [[nodiscard]] bool can_admit(std::size_t id, double reserved_tokens) {
        const std::int64_t needed = pages_to_allocate(id);
        if (num_running_ == 0 && batch_.prefills.empty()) return true;  // else it would never be answered
        if (policy_.admission != admission_mode::expected_output)
            return static_cast<double>(needed) <= kv_cache_.num_available() - claimed_pages_;
        if (policy_.has_known_finish_times) return can_finish_all(id, reserved_tokens);
        const std::int64_t output =
            std::min((*requests_)[id].output_tokens - (*progress_)[id].num_output_tokens, max_reserved_output_tokens);
        return static_cast<double>(needed * policy_.page_size + output + policy_.page_size) <
               free_tokens(reserved_tokens);
    }

    struct admitted_request {
        std::size_t id;
        std::uint32_t life;
    };
    finish_schedule finish_schedule_;  ///< of those that run and were looked at for this step
    kv_cache_pool kv_cache_;
    double new_token_ratio_,
        previous_new_token_ratio_ = 0;  ///< of what is to be written that admission foresees; before the last batch
    std::vector<admitted_request> admission_order_;  ///< as they were admitted
    std::int64_t num_running_ = 0;
    std::int64_t num_batches_ = 0;     ///< that were composed
    bool last_batch_decodes_ = false;  ///< whether the last of them has those that write
    double claimed_pages_ = 0;         ///< pages that those that write need in the step that is composed
    bool has_preempted_ = false;
    step_batch batch_;

private:
    static constexpr std::int64_t max_reserved_output_tokens = 4096;  ///< SGLang's CLIP_MAX_NEW_TOKENS
};

}  // namespace llmcost
