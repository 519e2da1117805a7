// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <llmcost/simulation/admission_controller.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

/// The queue and the running requests of an engine on one group of devices: composes its steps by a policy.
class scheduler : admission_controller {
public:
    /// `pages` of the cache; each turn writes `tokens_per_step` tokens for a sequence, of `1 + num_draft_tokens` that
    /// it computes.
    scheduler(const scheduling_policy& policy, std::int64_t pages, std::int64_t pages_per_block,
              const std::vector<simulated_request>& requests, std::vector<request_progress>& progress,
              std::int64_t num_draft_tokens = 0, double tokens_per_step = 1)
        : admission_controller(policy, pages, pages_per_block, requests, progress, tokens_per_step),
          num_draft_tokens_(num_draft_tokens) {}

    [[nodiscard]] const scheduling_policy& policy() const noexcept { return policy_; }
    [[nodiscard]] const kv_cache_pool& pages() const noexcept { return kv_cache_; }
    [[nodiscard]] std::int64_t num_waiting() const noexcept { return static_cast<std::int64_t>(waiting_.size()); }
    /// Requests that hold some of the cache.
    [[nodiscard]] std::int64_t num_running() const noexcept { return num_running_; }
    [[nodiscard]] std::int64_t num_preemptions() const noexcept { return preemptions_; }
    /// Whether someone who comes now could be in a step before anybody leaves.
    [[nodiscard]] bool accepts_requests() const noexcept { return !is_full_ && waiting_.empty(); }
    /// Tokens of a prompt that are in the cache.
    [[nodiscard]] std::int64_t num_cached_prompt_tokens(const simulated_request& r) const {
        return has_prefix_blocks(r) ? kv_cache_.num_cached_prefix_blocks(r.prefix_blocks) *
                                          kv_cache_.pages_per_block() * policy_.page_size
                                    : 0;
    }
    /// Pages that a request needs at its longest.
    [[nodiscard]] std::int64_t max_pages_of(const simulated_request& r) const noexcept {
        return num_pages(r.input_tokens + r.output_tokens - 1);
    }

    /// New tokens of a step.
    [[nodiscard]] std::int64_t num_batched_tokens(const step_batch& b) const noexcept {
        std::int64_t tokens = b.num_decodes * (1 + num_draft_tokens_);
        for (const prefill_chunk& c : b.prefills) tokens += c.num_tokens;
        return tokens;
    }

    /// A request comes at a time.
    void add_request(std::size_t id, double now) {
        request_progress& p = (*progress_)[id];
        p.queued_at = now;
        p.num_prompt_tokens = (*requests_)[id].input_tokens;
        p.state = place::waiting;
        waiting_.push_back(id);
    }

    /// Composes the next step of those that came until then; valid until the next call.
    [[nodiscard]] step_batch& schedule(double arrival_cutoff) {
        batch_.num_steps = batch_.num_decodes = batch_.num_new_decodes = 0;
        batch_.mean_decode_length = 0;
        batch_.prefills.clear();
        batch_.first_scheduled.clear();
        batch_.first_token.clear();
        batch_.finished.clear();
        claimed_pages_ = 0;
        has_preempted_ = false;
        finish_schedule_.clear();
        if (policy_.batching == batching_mode::prefill_first) {
            const std::int64_t ran = num_decoding_ + num_finished_unfreed_,
                               num_mixed_decodes = policy_.has_mixed_chunk ? ran : 0;
            if (!delays_prefills(arrival_cutoff))
                add_prefills(policy_.max_num_batched_tokens - num_mixed_decodes, num_mixed_decodes, arrival_cutoff);
            if (batch_.prefills.empty())
                add_decodes();
            else if (num_mixed_decodes > 0 && pages_needed(num_steps_, 1) <= kv_cache_.num_available())
                count_decodes();
            if (ran == 0 || (batch_.num_decodes > 0 && !batch_.prefills.empty()))
                is_full_ = false;  // that there is no room is held against a batch that others are merged into
        } else {
            add_decodes();
            if (!has_preempted_ && !delays_prefills(arrival_cutoff))
                add_prefills(policy_.max_num_batched_tokens - batch_.num_decodes * (1 + num_draft_tokens_), 0,
                             arrival_cutoff);
        }
        ++num_batches_;
        if (batch_.num_decodes == 0 && batch_.prefills.empty()) {
            if (num_running_ == 0 && waiting_.empty()) new_token_ratio_ = policy_.init_new_token_ratio;
            last_batch_decodes_ = false;
            return batch_;
        }
        last_batch_decodes_ = batch_.num_decodes > 0;
        batch_.num_steps = batch_.prefills.empty() ? num_equal_steps(arrival_cutoff) : 1;
        complete_batch();
        return batch_;
    }
    /// What those that ended held can be had again.
    void free_finished(const std::vector<std::size_t>& request_ids) {
        for (const std::size_t id : request_ids)
            if ((*progress_)[id].state == place::finished) {
                release_pages(id);
                --num_finished_unfreed_;
            }
        if (!request_ids.empty()) is_full_ = false;
    }

    /// Cuts the steps of the batch that was composed last: someone came who may be in the next one.
    void truncate(step_batch& batch, std::int64_t steps) {
        const std::int64_t undone = batch.num_steps - steps;
        num_steps_ -= undone;
        batch.num_steps = steps;
        new_token_ratio_ = decayed_ratio(previous_new_token_ratio_, num_decay_steps(steps));
        for (const std::size_t id : batch.finished) {
            request_progress& p = (*progress_)[id];
            if (p.finish_step <= num_steps_) continue;
            p.num_pages -= pages_allocated_since_prefill(p, p.finish_step);
            add(id, p.finish_step);
        }
        num_finished_unfreed_ -= static_cast<std::int64_t>(batch.finished.size());
        batch.finished.erase(std::remove_if(batch.finished.begin(), batch.finished.end(),
                                            [&](std::size_t id) { return (*progress_)[id].finish_step > num_steps_; }),
                             batch.finished.end());
        num_finished_unfreed_ += static_cast<std::int64_t>(batch.finished.size());
        kv_cache_.free(pages_needed(num_steps_, undone));
    }

private:
    static constexpr std::int64_t max_equal_steps = 128;

    // ---- those that write

    /// It has written its last token in the turn that it was to end in.
    void finish_request(std::size_t id) {
        request_progress& p = (*progress_)[id];
        remove(id);
        p.num_pages += pages_allocated_since_prefill(p, p.finish_step);
        p.state = place::finished;
        batch_.finished.push_back(id);
    }
    /// Puts all that write into the step, once there is room for what they write.
    void add_decodes() {
        const bool preempts_last_admitted = policy_.preemption == victim_policy::last_admitted;
        if (!preempts_last_admitted && num_finished_unfreed_ > 0 &&
            pages_needed(num_steps_, 1) > kv_cache_.num_available())
            return;  // until those give theirs back
        while (num_decoding_ > 0 && pages_needed(num_steps_, 1) > kv_cache_.num_available() &&
               (preempts_last_admitted ? num_running_ : num_decoding_) > 1)
            preempt(select_victim());
        if (has_preempted_ && !preempts_last_admitted) new_token_ratio_ = ratio_after_preemption();
        count_decodes();
    }
    void count_decodes() {
        batch_.num_decodes = num_decoding_;
        batch_.num_new_decodes = num_new_decodes_;
        claimed_pages_ = pages_needed(num_steps_, 1);
        if (num_decoding_ > 0)
            batch_.mean_decode_length = total_length_offset_ / static_cast<double>(num_decoding_) +
                                        static_cast<double>(num_steps_) * tokens_per_step_;
    }
    [[nodiscard]] std::size_t select_victim() {
        remove_stale_entries();
        if (policy_.preemption == victim_policy::last_admitted) return admission_order_.back().id;
        const admitted_request* minimum = nullptr;  // of the fewest outputs, then the longest prompt, then the newest
        for (const admitted_request& a : admission_order_) {
            if ((*progress_)[a.id].state != place::decoding) continue;
            if (minimum == nullptr || num_committed_output_tokens(a.id) < num_committed_output_tokens(minimum->id) ||
                (num_committed_output_tokens(a.id) == num_committed_output_tokens(minimum->id) &&
                 (*requests_)[a.id].input_tokens >= (*requests_)[minimum->id].input_tokens))
                minimum = &a;
        }
        return minimum->id;
    }
    void preempt(std::size_t id) {
        request_progress& p = (*progress_)[id];
        ++p.num_preemptions;
        ++preemptions_;
        has_preempted_ = true;
        is_full_ = false;
        if (p.state == place::finished) {
            release_pages(id);
            return void(--num_finished_unfreed_);
        }  // its last token is on its way
        if (p.state == place::decoding) {
            p.num_output_tokens = policy_.preemption == victim_policy::last_admitted ? num_output_tokens(id)
                                                                                     : num_committed_output_tokens(id);
            remove(id);
        } else {
            partial_prefills_.erase(std::find(partial_prefills_.begin(), partial_prefills_.end(), id));
        }
        release_pages(id);
        p.num_prompt_tokens = (*requests_)[id].input_tokens + p.num_output_tokens;
        p.num_computed_tokens = 0;
        p.state = place::waiting;
        if (policy_.preemption == victim_policy::last_admitted)
            waiting_.push_front(id);
        else
            waiting_.push_back(id);
    }
    /// Gives back all that a request holds.
    void release_pages(std::size_t id) {
        request_progress& p = (*progress_)[id];
        kv_cache_.free(p.num_pages + (p.state == place::decoding ? pages_allocated_since_prefill(p, num_steps_) : 0));
        if (has_prefix_blocks((*requests_)[id])) kv_cache_.unpin((*requests_)[id].prefix_blocks);
        p.num_pages = 0;
        p.state = place::not_queued;
        ++p.generation;
        --num_running_;
    }
    // ---- prompts

    /// Whether prompts wait for others while someone writes.
    [[nodiscard]] bool delays_prefills(double arrival_cutoff) {
        if (policy_.batch_wait_steps == 0 || num_decoding_ == 0 || waiting_.empty() ||
            (*progress_)[waiting_.front()].queued_at > arrival_cutoff)
            return false;
        if (num_delayed_steps_ < policy_.batch_wait_steps) {
            ++num_delayed_steps_;
            return true;
        }
        num_delayed_steps_ = 0;
        return false;
    }
    /// `mixed` tokens of the step are of those that write.
    void add_prefills(std::int64_t token_budget, std::int64_t num_mixed_decodes, double arrival_cutoff) {
        std::int64_t of_prompts =
            policy_.max_prefill_tokens > 0 ? policy_.max_prefill_tokens - num_mixed_decodes : token_budget;
        const bool foresees = policy_.admission == admission_mode::expected_output;
        if (foresees && !partial_prefills_.empty()) is_full_ = false;
        if (foresees && is_full_) return;
        double reserved_tokens = foresees ? reserved_output_tokens() + static_cast<double>(num_mixed_decodes) : 0;
        for (std::size_t i = 0; i < partial_prefills_.size(); ++i) {
            if (token_budget <= 0) return;
            const std::size_t id = partial_prefills_[i];
            const request_progress& p = (*progress_)[id];
            std::int64_t n = std::min(p.num_prompt_tokens - p.num_computed_tokens, token_budget);
            if (foresees) n = std::min(n, largest_chunk(reserved_tokens, n));
            if (policy_.batching == batching_mode::mixed && !free_pages_for(id, p.num_computed_tokens + n)) return;
            add_prefill_chunk(id, n);
            token_budget -= n;
            of_prompts -= n;
            if (foresees) reserved_tokens += reserved_after_chunk(id);
        }
        if (has_preempted_) return;
        while (!waiting_.empty() && token_budget > 0 && of_prompts > 0) {
            const std::size_t id = waiting_.front();
            request_progress& p = (*progress_)[id];
            if (p.queued_at > arrival_cutoff) return;
            if (num_running_ >= policy_.max_num_seqs) return void(is_full_ = true);
            const simulated_request& r = (*requests_)[id];
            const std::int64_t num_cached = num_cached_tokens(r), left = p.num_prompt_tokens - num_cached;
            if (!policy_.has_chunked_prefill && left > token_budget &&
                (batch_.num_decodes > 0 || !batch_.prefills.empty()))
                return;
            if (!can_admit(id, reserved_tokens)) return void(is_full_ = true);
            waiting_.pop_front();
            admit(id, num_cached);
            const std::int64_t n = policy_.has_chunked_prefill ? std::min(left, token_budget) : left;
            if (n < left) partial_prefills_.push_back(id);
            add_prefill_chunk(id, n);
            token_budget -= n;
            of_prompts -= n;
            if (!foresees) continue;
            reserved_tokens += reserved_after_chunk(id);
            if (free_tokens(reserved_tokens) <= 0) return void(is_full_ = true);
        }
    }
    /// Has the newest give their pages to the next chunk of a prompt; whether it is not among them itself.
    [[nodiscard]] bool free_pages_for(std::size_t id, std::int64_t computed) {
        const auto needed = static_cast<double>(private_pages(id, computed)) - (*progress_)[id].num_pages;
        while (needed > kv_cache_.num_available() - claimed_pages_ && num_running_ > 1) {
            const std::size_t victim_id = select_victim();
            preempt(victim_id);
            if (victim_id == id) return false;
            count_decodes();
        }
        return true;
    }
    void admit(std::size_t id, std::int64_t num_cached_tokens) {
        request_progress& p = (*progress_)[id];
        if (has_prefix_blocks((*requests_)[id])) kv_cache_.pin((*requests_)[id].prefix_blocks);
        p.num_computed_tokens = num_cached_tokens;
        p.state = place::prefill;
        if (p.num_preemptions == 0) {
            p.num_cached_tokens = num_cached_tokens;
            batch_.first_scheduled.push_back(id);
        }
        admission_order_.push_back({id, p.generation});
        ++num_running_;
    }
    void add_prefill_chunk(std::size_t id, std::int64_t tokens) {
        request_progress& p = (*progress_)[id];
        batch_.prefills.push_back({tokens, p.num_computed_tokens});
        p.num_computed_tokens += tokens;
        const auto pages = static_cast<double>(private_pages(id, p.num_computed_tokens));
        kv_cache_.allocate(pages - p.num_pages);
        p.num_pages = pages;
        if (p.num_computed_tokens == p.num_prompt_tokens) completed_prefills_.push_back(id);
    }

    // ---- time

    /// Steps that are alike: until someone ends, has no room, or may come in.
    [[nodiscard]] std::int64_t num_equal_steps(double arrival_cutoff) {
        std::int64_t steps = std::min(max_equal_steps, next_finish_step() - num_steps_);
        if (!waiting_.empty() && (!is_full_ || num_finished_unfreed_ > 0)) steps = 1;
        if (policy_.batch_wait_steps > 0 && !waiting_.empty() &&
            (*progress_)[waiting_.front()].queued_at <= arrival_cutoff)
            steps = 1;
        while (steps > 1 && pages_needed(num_steps_, steps) > kv_cache_.num_available()) steps = steps / 2;
        return steps;
    }
    /// All that the batch does is done.
    void complete_batch() {
        if (batch_.num_decodes > 0) {
            kv_cache_.allocate(pages_needed(num_steps_, batch_.num_steps));
            num_steps_ += batch_.num_steps;
            previous_new_token_ratio_ = new_token_ratio_;
            if (batch_.prefills.empty())
                new_token_ratio_ = decayed_ratio(new_token_ratio_, num_decay_steps(batch_.num_steps));
            num_new_decodes_ = 0;
            while (num_decoding_ > 0 && next_finish_step() <= num_steps_) finish_request(pop_next_finished());
        }
        for (const std::size_t id : completed_prefills_) {
            request_progress& p = (*progress_)[id];
            if (const auto at = std::find(partial_prefills_.begin(), partial_prefills_.end(), id);
                at != partial_prefills_.end())
                partial_prefills_.erase(at);
            const std::int64_t remaining_tokens = (*requests_)[id].output_tokens - p.num_output_tokens - 1;
            p.prefill_batch = num_batches_;
            if (p.num_output_tokens == 0) batch_.first_token.push_back(id);
            if (remaining_tokens <= 0) {
                p.state = place::finished;
                batch_.finished.push_back(id);
                continue;
            }
            p.first_decode_step = num_steps_;
            ++num_new_decodes_;
            add(id, num_steps_ + static_cast<std::int64_t>(
                                     std::ceil(static_cast<double>(remaining_tokens) / tokens_per_step_ - 1e-9)));
        }
        completed_prefills_.clear();
        num_finished_unfreed_ += static_cast<std::int64_t>(batch_.finished.size());
    }

    std::int64_t num_draft_tokens_;
    std::deque<std::size_t> waiting_;
    std::vector<std::size_t> partial_prefills_;    ///< whose prompt is computed in part
    std::vector<std::size_t> completed_prefills_;  ///< prompts of the batch that is composed
    std::int64_t num_new_decodes_ = 0, num_delayed_steps_ = 0, preemptions_ = 0;
    std::int64_t num_finished_unfreed_ = 0;  ///< that ended, and hold their pages until they are released
    bool is_full_ = false;
};

}  // namespace llmcost
