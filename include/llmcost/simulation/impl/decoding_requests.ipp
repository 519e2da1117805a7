// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/decoding_requests.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/request_table.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

namespace llmcost {

LLMCOST_INLINE decoding_requests::decoding_requests(const scheduling_policy& policy, request_table table,
                                                    double tokens_per_step)
    : policy_(policy),
      table_(table),
      tokens_per_step_(tokens_per_step),
      num_requests_by_page_phase_(static_cast<std::size_t>(policy.page_size)) {}

LLMCOST_INLINE std::int64_t decoding_requests::num_output_tokens(std::size_t request_id) const {
    const request_progress& p = table_.progress[request_id];
    const std::int64_t output_tokens = table_.requests[request_id].output_tokens;
    if (p.state == request_state::finished) return output_tokens;
    if (p.state != request_state::decoding) return p.num_output_tokens;
    const auto num_decoded_tokens =
        static_cast<std::int64_t>(static_cast<double>(num_steps_ - p.first_decode_step) * tokens_per_step_);
    return std::min(p.num_output_tokens + 1 + num_decoded_tokens, output_tokens);
}

LLMCOST_INLINE std::int64_t decoding_requests::num_committed_output_tokens(std::size_t request_id) const {
    const request_progress& p = table_.progress[request_id];
    const bool has_token = p.state == request_state::decoding || p.state == request_state::finished;
    const bool is_in_last_batch = last_batch_has_decodes_ || p.prefill_batch == last_batch_;
    const bool is_in_flight = policy_.num_async_steps > 0 && has_token && is_in_last_batch;
    return num_output_tokens(request_id) - (is_in_flight ? 1 : 0);
}

LLMCOST_INLINE double decoding_requests::pages_needed(std::int64_t num_steps) const noexcept {
    if (policy_.reserves_full_output()) return 0;
    const std::int64_t page_size = policy_.page_size;
    if (tokens_per_step_ != 1)
        return static_cast<double>(num_steps) * tokens_per_step_ * static_cast<double>(size_) /
               static_cast<double>(page_size);
    std::int64_t pages = num_steps / page_size * size_;
    for (std::int64_t i = 0; i < num_steps % page_size; ++i)
        pages += num_requests_by_page_phase_[static_cast<std::size_t>((page_size - (num_steps_ + i) % page_size) %
                                                                      page_size)];
    return static_cast<double>(pages);
}

LLMCOST_INLINE void decoding_requests::add(std::size_t request_id, std::int64_t num_remaining_tokens) {
    table_.progress[request_id].first_decode_step = num_steps_;
    const double steps = std::ceil(static_cast<double>(num_remaining_tokens) / tokens_per_step_ - 1e-9);
    insert(request_id, num_steps_ + static_cast<std::int64_t>(steps));
}

LLMCOST_INLINE void decoding_requests::remove(std::size_t request_id) {
    const request_progress& p = table_.progress[request_id];
    --size_;
    total_length_offset_ -= length_offset(p);
    --num_requests_by_page_phase_[page_phase(p)];
}

LLMCOST_INLINE void decoding_requests::advance(std::int64_t num_steps, std::vector<std::size_t>& finished) {
    num_steps_ += num_steps;
    while (!empty() && next_finish_step() <= num_steps_) {
        const std::size_t request_id = pop_finish_event();
        request_progress& p = table_.progress[request_id];
        remove(request_id);
        p.num_pages += pages_allocated_since_prefill(p, p.finish_step);
        p.state = request_state::finished;
        finished.push_back(request_id);
    }
}

LLMCOST_INLINE void decoding_requests::rewind(std::int64_t num_steps, std::vector<std::size_t>& finished) {
    num_steps_ -= num_steps;
    const auto decodes_again = [&](std::size_t request_id) {
        return table_.progress[request_id].finish_step > num_steps_;
    };
    for (const std::size_t request_id : finished) {
        if (!decodes_again(request_id)) continue;
        request_progress& p = table_.progress[request_id];
        p.num_pages -= pages_allocated_since_prefill(p, p.finish_step);
        insert(request_id, p.finish_step);
    }
    finished.erase(std::remove_if(finished.begin(), finished.end(), decodes_again), finished.end());
}

LLMCOST_INLINE void decoding_requests::set_last_batch(std::int64_t index, bool has_decodes) noexcept {
    last_batch_ = index;
    last_batch_has_decodes_ = has_decodes;
}

LLMCOST_INLINE void decoding_requests::insert(std::size_t request_id, std::int64_t finish_step) {
    request_progress& p = table_.progress[request_id];
    p.state = request_state::decoding;
    p.finish_step = finish_step;
    finish_heap_.push_back({finish_step, request_id, p.generation});
    std::push_heap(finish_heap_.begin(), finish_heap_.end());
    ++size_;
    total_length_offset_ += length_offset(p);
    ++num_requests_by_page_phase_[page_phase(p)];
}

LLMCOST_INLINE double decoding_requests::pages_allocated_since_prefill(const request_progress& p,
                                                                       std::int64_t step) const noexcept {
    const std::int64_t num_steps = step - p.first_decode_step;
    if (policy_.reserves_full_output()) return 0;
    if (tokens_per_step_ != 1)
        return static_cast<double>(num_steps) * tokens_per_step_ / static_cast<double>(policy_.page_size);
    return static_cast<double>(policy_.num_pages(p.num_computed_tokens + num_steps) -
                               policy_.num_pages(p.num_computed_tokens));
}

LLMCOST_INLINE std::size_t decoding_requests::page_phase(const request_progress& p) const noexcept {
    const std::int64_t offset = (p.num_computed_tokens - p.first_decode_step) % policy_.page_size;
    return static_cast<std::size_t>(offset < 0 ? offset + policy_.page_size : offset);
}

LLMCOST_INLINE std::int64_t decoding_requests::next_finish_step() {
    const auto is_stale = [&](const finish_event& e) {
        return table_.progress[e.request_id].generation != e.generation;
    };
    while (is_stale(finish_heap_.front())) pop_finish_event();
    return finish_heap_.front().step;
}

LLMCOST_INLINE std::size_t decoding_requests::pop_finish_event() {
    const std::size_t request_id = finish_heap_.front().request_id;
    std::pop_heap(finish_heap_.begin(), finish_heap_.end());
    finish_heap_.pop_back();
    return request_id;
}

}  // namespace llmcost
