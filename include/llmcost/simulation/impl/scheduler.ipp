// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/scheduler.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/simulation/admission_controller.hpp>
#include <llmcost/simulation/decoding_requests.hpp>
#include <llmcost/simulation/kv_cache_pool.hpp>
#include <llmcost/simulation/new_token_ratio.hpp>
#include <llmcost/simulation/prefix_tiers.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/request_table.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

LLMCOST_INLINE scheduler::scheduler(const scheduling_policy& policy, std::int64_t num_pages,
                                    std::int64_t pages_per_prefix_block, request_table table,
                                    std::int64_t num_draft_tokens, double tokens_per_step,
                                    request_blocks pages_of_request, std::int64_t tokens_per_prefix_block,
                                    const std::vector<kv_cache_tier>& tiers)
    : policy_(policy),
      units_per_page_(pages_of_request.units_per_block),
      pages_of_request_(pages_of_request.kinds.empty() && pages_of_request.fixed_blocks == 0
                            ? blocks_of_all_tokens(policy.page_size)
                            : std::move(pages_of_request)),
      table_(table),
      tiers_(tiers),
      kv_cache_(num_pages * units_per_page_, pages_per_prefix_block,
                tokens_per_prefix_block > 0 ? tokens_per_prefix_block : pages_per_prefix_block * policy.page_size),
      decoding_(policy_, pages_of_request_, table_, tokens_per_step),
      new_token_ratio_(policy_),
      admission_(policy_, pages_of_request_, table_, kv_cache_, decoding_, new_token_ratio_),
      num_draft_tokens_(num_draft_tokens) {
    pages_of_request_.units_per_block = 1;
    if (!tiers_.empty()) kv_cache_.set_lower_tiers(&tiers_, policy_.stores_on_eviction);
}

LLMCOST_INLINE std::int64_t scheduler::num_batched_tokens(const step_batch& batch) const noexcept {
    std::int64_t tokens = batch.num_decodes * (1 + num_draft_tokens_);
    for (const prefill_chunk& chunk : batch.prefills) tokens += chunk.num_tokens;
    return tokens;
}

LLMCOST_INLINE void scheduler::add_request(std::size_t request_id, double now) {
    request_progress& p = table_.progress[request_id];
    p.queued_at = now;
    p.num_prompt_tokens = table_.requests[request_id].input_tokens;
    p.state = request_state::waiting;
    waiting_.push_back(request_id);
}

LLMCOST_INLINE step_batch& scheduler::schedule(double arrival_cutoff) {
    batch_.clear();
    reserved_.clear();
    has_preempted_ = false;
    queue_loaded(arrival_cutoff);
    switch (policy_.batching) {
        case batching_mode::prefill_first: schedule_prefill_first(arrival_cutoff); break;
        case batching_mode::mixed: schedule_mixed(arrival_cutoff); break;
    }
    ++num_batches_;
    decoding_.set_last_batch(num_batches_, batch_.num_decodes > 0);
    if (batch_.empty()) {
        const bool is_idle = num_running() == 0 && waiting_.empty() && loading_.empty();
        if (is_idle) new_token_ratio_.reset();
        return batch_;
    }
    batch_.num_steps = batch_.prefills.empty() ? num_equal_steps(arrival_cutoff) : 1;
    complete_batch();
    return batch_;
}

LLMCOST_INLINE void scheduler::free_finished(const std::vector<std::size_t>& request_ids) {
    for (const std::size_t request_id : request_ids) {
        const bool is_preempted = table_.progress[request_id].state != request_state::finished;
        if (is_preempted) continue;  // its pages are free
        free_pages(request_id);
        --num_finished_unfreed_;
    }
    if (!request_ids.empty()) is_full_ = false;
}

LLMCOST_INLINE void scheduler::truncate(step_batch& batch, std::int64_t num_steps) {
    const std::int64_t num_undone_steps = batch.num_steps - num_steps;
    batch.num_steps = num_steps;
    new_token_ratio_.truncate_decay(num_decay_steps(num_steps));
    num_finished_unfreed_ -= static_cast<std::int64_t>(batch.finished.size());
    decoding_.rewind(num_undone_steps, batch.finished);
    num_finished_unfreed_ += static_cast<std::int64_t>(batch.finished.size());
    kv_cache_.free(decoding_.pages_needed(num_undone_steps));
}

LLMCOST_INLINE void scheduler::schedule_prefill_first(double arrival_cutoff) {
    const std::int64_t num_active = decoding_.size() + num_finished_unfreed_;
    const std::int64_t num_mixed_decodes = policy_.has_mixed_chunk ? num_active : 0;
    if (!delays_prefills(arrival_cutoff))
        add_prefills(policy_.max_num_batched_tokens - num_mixed_decodes, num_mixed_decodes, arrival_cutoff);
    if (batch_.prefills.empty())
        add_decodes();
    else if (num_mixed_decodes > 0 && decoding_.pages_needed(1) <= kv_cache_.num_available())
        count_decodes();
    else if (num_mixed_decodes > 0)
        has_waited_for_pages_ = true;
    // SGLang stores "full" in the running batch. A merge with another batch clears it.
    const bool merges_batches = batch_.num_decodes > 0 && !batch_.prefills.empty();
    if (num_active == 0 || merges_batches) is_full_ = false;
}

LLMCOST_INLINE void scheduler::schedule_mixed(double arrival_cutoff) {
    add_decodes();
    if (has_preempted_ || delays_prefills(arrival_cutoff)) return;
    const std::int64_t num_decode_tokens = batch_.num_decodes * (1 + num_draft_tokens_);
    add_prefills(policy_.max_num_batched_tokens - num_decode_tokens, 0, arrival_cutoff);
}

LLMCOST_INLINE void scheduler::add_decodes() {
    const bool preempts_last_admitted = policy_.preemption == victim_policy::last_admitted;
    const auto exceeds_cache = [&] { return decoding_.pages_needed(1) > kv_cache_.num_available(); };
    if (exceeds_cache()) has_waited_for_pages_ = true;
    const bool waits_for_pages = !preempts_last_admitted && num_finished_unfreed_ > 0;
    if (waits_for_pages && exceeds_cache()) return;
    while (!decoding_.empty() && exceeds_cache() && (preempts_last_admitted ? num_running() : decoding_.size()) > 1)
        preempt(select_victim());
    if (has_preempted_ && !preempts_last_admitted)
        new_token_ratio_.set_after_preemption(admission_.ratio_after_preemption());
    count_decodes();
}

LLMCOST_INLINE void scheduler::count_decodes() {
    batch_.num_decodes = decoding_.size();
    batch_.num_new_decodes = num_new_decodes_;
    reserved_.pages = decoding_.pages_needed(1);
    if (!decoding_.empty()) batch_.mean_decode_length = decoding_.mean_length();
}

LLMCOST_INLINE std::size_t scheduler::select_victim() const {
    const std::vector<std::size_t>& running = admission_.running();
    if (policy_.preemption == victim_policy::last_admitted) return running.back();
    const std::size_t* victim = nullptr;
    for (const std::size_t& request_id : running) {
        if (table_.progress[request_id].state != request_state::decoding) continue;
        if (victim == nullptr || is_preempted_before(request_id, *victim)) victim = &request_id;
    }
    return *victim;
}

LLMCOST_INLINE bool scheduler::is_preempted_before(std::size_t request_id, std::size_t earlier_id) const {
    const std::int64_t num_tokens = decoding_.num_committed_output_tokens(request_id);
    const std::int64_t num_earlier_tokens = decoding_.num_committed_output_tokens(earlier_id);
    if (num_tokens != num_earlier_tokens) return num_tokens < num_earlier_tokens;
    return table_.requests[request_id].input_tokens >= table_.requests[earlier_id].input_tokens;
}

LLMCOST_INLINE void scheduler::preempt(std::size_t request_id) {
    request_progress& p = table_.progress[request_id];
    ++p.num_preemptions;
    ++num_preemptions_;
    has_preempted_ = has_waited_for_pages_ = true;
    is_full_ = false;
    if (p.state == request_state::finished) {  // asynchronous scheduling: the step of its last token still runs
        free_pages(request_id);
        --num_finished_unfreed_;
        return;
    }
    const bool is_last_admitted = policy_.preemption == victim_policy::last_admitted;
    if (p.state == request_state::decoding) {
        p.num_output_tokens = is_last_admitted ? decoding_.num_output_tokens(request_id)
                                               : decoding_.num_committed_output_tokens(request_id);
        decoding_.remove(request_id);
    } else {
        partial_prefills_.erase(std::find(partial_prefills_.begin(), partial_prefills_.end(), request_id));
    }
    free_pages(request_id);
    p.num_prompt_tokens = table_.requests[request_id].input_tokens + p.num_output_tokens;
    p.num_computed_tokens = 0;
    p.state = request_state::waiting;
    if (is_last_admitted)
        waiting_.push_front(request_id);
    else
        waiting_.push_back(request_id);
}

LLMCOST_INLINE void scheduler::free_pages(std::size_t request_id) {
    request_progress& p = table_.progress[request_id];
    const simulated_request& request = table_.requests[request_id];
    const bool is_decoding = p.state == request_state::decoding;
    kv_cache_.free(p.num_pages + (is_decoding ? decoding_.pages_allocated_since_prefill(request_id) : 0));
    if (admission_.has_prefix_blocks(request)) {
        if (p.state == request_state::finished) kv_cache_.insert(request.output_blocks);
        kv_cache_.unpin(request.prefix_blocks);
    }
    p.num_pages = 0;
    p.state = request_state::not_queued;
    ++p.generation;
    admission_.remove_running(request_id);
}

LLMCOST_INLINE bool scheduler::delays_prefills(double arrival_cutoff) {
    if (policy_.batch_wait_steps == 0 || decoding_.empty() || !has_arrived_request(arrival_cutoff)) return false;
    if (num_delayed_steps_ < policy_.batch_wait_steps) {
        ++num_delayed_steps_;
        return true;
    }
    num_delayed_steps_ = 0;
    return false;
}

LLMCOST_INLINE void scheduler::add_prefills(std::int64_t token_budget, std::int64_t num_mixed_decodes,
                                            double arrival_cutoff) {
    std::int64_t prompt_budget =
        policy_.max_prefill_tokens > 0 ? policy_.max_prefill_tokens - num_mixed_decodes : token_budget;
    const bool reserves_output = policy_.admission == admission_mode::expected_output;
    if (reserves_output) {
        if (!partial_prefills_.empty()) is_full_ = false;
        if (is_full_) return;
        reserved_.output_tokens = admission_.reserved_output_tokens() + static_cast<double>(num_mixed_decodes);
    }
    const auto add_chunk = [&](std::size_t request_id, std::int64_t num_tokens) {
        add_prefill_chunk(request_id, num_tokens);
        token_budget -= num_tokens;
        prompt_budget -= num_tokens;
        if (reserves_output) reserved_.output_tokens += admission_.reserved_after_chunk(request_id);
    };

    for (std::size_t i = 0; i < partial_prefills_.size(); ++i) {
        if (token_budget <= 0) return;
        const std::size_t request_id = partial_prefills_[i];
        const request_progress& p = table_.progress[request_id];
        std::int64_t num_tokens = std::min(p.num_prompt_tokens - p.num_computed_tokens, token_budget);
        if (reserves_output) {
            const std::int64_t num_requested = num_tokens;
            num_tokens = std::min(num_tokens, admission_.largest_chunk(reserved_, num_tokens));
            if (num_tokens < num_requested) has_waited_for_pages_ = true;
        }
        if (policy_.batching == batching_mode::mixed &&
            !preempt_for_pages(request_id, p.num_computed_tokens + num_tokens))
            return;
        add_chunk(request_id, num_tokens);
    }
    if (has_preempted_) return;
    while (has_arrived_request(arrival_cutoff) && token_budget > 0 && prompt_budget > 0) {
        const std::size_t request_id = waiting_.front();
        if (num_running() >= policy_.max_num_seqs) {
            is_full_ = true;
            return;
        }
        const bool is_loaded = table_.progress[request_id].state == request_state::loaded;
        const prefix_load load = is_loaded ? prefix_load{} : find_load(request_id);
        const bool loads_first = load.num_blocks > 0 && policy_.prefix_loads == prefix_load_mode::asynchronous;
        if (loads_first && admission_.can_admit(request_id, reserved_)) {
            waiting_.pop_front();
            start_load(request_id, load, arrival_cutoff);
            continue;
        }
        const std::int64_t num_cached_tokens =
            is_loaded ? table_.progress[request_id].num_computed_tokens
                      : admission_.num_cached_tokens(table_.requests[request_id], load.num_blocks);
        const std::int64_t num_remaining = table_.progress[request_id].num_prompt_tokens - num_cached_tokens;
        if (!policy_.has_chunked_prefill && num_remaining > token_budget && !batch_.empty()) return;
        if (!admission_.can_admit(request_id, reserved_)) {
            is_full_ = has_waited_for_pages_ = true;
            return;
        }
        waiting_.pop_front();
        batch_.load_seconds += load.seconds;
        table_.progress[request_id].num_loaded_tokens += load.num_blocks * kv_cache_.tokens_per_block();
        admit(request_id, num_cached_tokens);
        const std::int64_t num_tokens =
            policy_.has_chunked_prefill ? std::min(num_remaining, token_budget) : num_remaining;
        if (num_tokens < num_remaining) partial_prefills_.push_back(request_id);
        add_chunk(request_id, num_tokens);
        if (reserves_output && admission_.free_tokens(reserved_) <= 0) {
            is_full_ = has_waited_for_pages_ = true;
            return;
        }
    }
}

LLMCOST_INLINE bool scheduler::preempt_for_pages(std::size_t request_id, std::int64_t num_computed_tokens) {
    const auto num_private_pages = static_cast<double>(admission_.private_pages(request_id, num_computed_tokens));
    const double num_missing_pages = num_private_pages - table_.progress[request_id].num_pages;
    while (num_missing_pages > kv_cache_.num_available() - reserved_.pages && num_running() > 1) {
        const std::size_t victim_id = select_victim();
        preempt(victim_id);
        if (victim_id == request_id) return false;
        count_decodes();
    }
    return true;
}

LLMCOST_INLINE void scheduler::admit(std::size_t request_id, std::int64_t num_cached_tokens) {
    request_progress& p = table_.progress[request_id];
    const simulated_request& request = table_.requests[request_id];
    if (admission_.has_prefix_blocks(request) && p.state != request_state::loaded) kv_cache_.pin(request.prefix_blocks);
    p.num_computed_tokens = num_cached_tokens;
    p.state = request_state::prefill;
    if (p.num_preemptions == 0) {
        p.num_cached_tokens = num_cached_tokens;
        batch_.first_scheduled.push_back(request_id);
    }
    admission_.add_running(request_id);
}

LLMCOST_INLINE prefix_load scheduler::find_load(std::size_t request_id) const {
    const simulated_request& request = table_.requests[request_id];
    if (tiers_.empty() || !admission_.has_prefix_blocks(request)) return {};
    return tiers_.find(request.prefix_blocks, kv_cache_.num_cached_prefix_blocks(request.prefix_blocks));
}

LLMCOST_INLINE void scheduler::start_load(std::size_t request_id, const prefix_load& load, double now) {
    request_progress& p = table_.progress[request_id];
    const simulated_request& request = table_.requests[request_id];
    p.num_computed_tokens = admission_.num_cached_tokens(request, load.num_blocks);
    p.num_loaded_tokens += load.num_blocks * kv_cache_.tokens_per_block();
    p.state = request_state::loading;
    kv_cache_.pin(request.prefix_blocks);
    transfers_end_ = std::max(transfers_end_, now) + load.seconds;
    loading_.push_back({request_id, transfers_end_});
}

LLMCOST_INLINE void scheduler::queue_loaded(double now) {
    std::size_t num_loaded = 0;
    while (num_loaded < loading_.size() && loading_[num_loaded].loaded_at <= now) ++num_loaded;
    for (std::size_t i = num_loaded; i > 0; --i) {
        const std::size_t request_id = loading_[i - 1].request_id;
        table_.progress[request_id].state = request_state::loaded;
        waiting_.push_front(request_id);
    }
    loading_.erase(loading_.begin(), loading_.begin() + static_cast<std::ptrdiff_t>(num_loaded));
    if (num_loaded > 0) is_full_ = false;
}

LLMCOST_INLINE void scheduler::add_prefill_chunk(std::size_t request_id, std::int64_t num_tokens) {
    request_progress& p = table_.progress[request_id];
    batch_.prefills.push_back({.num_tokens = num_tokens, .cached_length = p.num_computed_tokens});
    ++reserved_.num_prefills;
    p.num_computed_tokens += num_tokens;
    const auto num_pages = static_cast<double>(admission_.private_pages(request_id, p.num_computed_tokens));
    kv_cache_.allocate(num_pages - p.num_pages);
    p.num_pages = num_pages;
    if (p.num_computed_tokens == p.num_prompt_tokens) completed_prefills_.push_back(request_id);
}

LLMCOST_INLINE std::int64_t scheduler::num_equal_steps(double arrival_cutoff) {
    if (!waiting_.empty() && (!is_full_ || num_finished_unfreed_ > 0)) return 1;
    if (policy_.batch_wait_steps > 0 && has_arrived_request(arrival_cutoff)) return 1;
    std::int64_t num_steps = std::min(max_equal_steps, decoding_.steps_until_finish());
    while (num_steps > 1 && decoding_.pages_needed(num_steps) > kv_cache_.num_available()) num_steps = num_steps / 2;
    return num_steps;
}

LLMCOST_INLINE void scheduler::complete_batch() {
    if (batch_.num_decodes > 0) {
        kv_cache_.allocate(decoding_.pages_needed(batch_.num_steps));
        if (batch_.prefills.empty()) new_token_ratio_.decay(num_decay_steps(batch_.num_steps));
        num_new_decodes_ = 0;
        decoding_.advance(batch_.num_steps, batch_.finished);
    }
    for (const std::size_t request_id : completed_prefills_) complete_prefill(request_id);
    completed_prefills_.clear();
    num_finished_unfreed_ += static_cast<std::int64_t>(batch_.finished.size());
}

LLMCOST_INLINE void scheduler::complete_prefill(std::size_t request_id) {
    request_progress& p = table_.progress[request_id];
    if (const auto it = std::find(partial_prefills_.begin(), partial_prefills_.end(), request_id);
        it != partial_prefills_.end())
        partial_prefills_.erase(it);
    p.prefill_batch = num_batches_;
    if (p.num_output_tokens == 0) batch_.first_token.push_back(request_id);
    const std::int64_t num_remaining_tokens =
        table_.requests[request_id].output_tokens - p.num_output_tokens - 1;  // the prefill produces one
    if (num_remaining_tokens <= 0) {
        p.state = request_state::finished;
        batch_.finished.push_back(request_id);
        return;
    }
    ++num_new_decodes_;
    decoding_.add(request_id, num_remaining_tokens);
}

}  // namespace llmcost
