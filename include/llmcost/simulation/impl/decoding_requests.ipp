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

LLMCOST_INLINE decoding_requests::decoding_requests(const scheduling_policy& policy,
                                                    const request_blocks& pages_of_request, request_table table,
                                                    double tokens_per_step)
    : policy_(policy), table_(table), tokens_per_step_(tokens_per_step) {
    for (const block_table_kind& kind : pages_of_request.kinds)
        page_demands_.push_back(
            {.kind = kind,
             .num_growing = 0,
             .num_growing_by_phase = std::vector<std::int64_t>(static_cast<std::size_t>(kind.block_size)),
             .num_by_last_growth = {}});
}

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

LLMCOST_INLINE double decoding_requests::pages_needed(const page_demand& d, std::int64_t num_steps) const noexcept {
    const std::int64_t block_size = d.kind.block_size, end = num_steps_ + num_steps;
    const auto first = d.num_by_last_growth.lower_bound({num_steps_ + 1, 0}), last = d.num_by_last_growth.end();
    if (tokens_per_step_ != 1) {
        double request_steps = static_cast<double>(num_steps) * tokens_per_step_ * static_cast<double>(d.num_growing);
        for (auto it = first; it != last && it->first.first < end; ++it)
            request_steps -= static_cast<double>((end - it->first.first) * it->second) * tokens_per_step_;
        return static_cast<double>(d.kind.num_tables) * request_steps / static_cast<double>(block_size);
    }
    // pages that a request of a phase needs in the steps `from` to `end`
    const auto num_pages = [&](std::size_t phase, std::int64_t from) {
        const auto offset = static_cast<std::int64_t>(phase) + block_size - 1;
        return (offset + end) / block_size - (offset + from) / block_size;
    };
    std::int64_t pages = num_steps / block_size * d.num_growing;
    for (std::int64_t i = 0; i < num_steps % block_size; ++i)
        pages +=
            d.num_growing_by_phase[static_cast<std::size_t>((block_size - (num_steps_ + i) % block_size) % block_size)];
    for (auto it = first; it != last && it->first.first < end; ++it)
        pages -= num_pages(it->first.second, it->first.first) * it->second;
    return static_cast<double>(pages * d.kind.num_tables);
}

LLMCOST_INLINE double decoding_requests::pages_needed(std::int64_t num_steps) const noexcept {
    if (policy_.reserves_full_output()) return 0;
    double pages = 0;
    for (const page_demand& d : page_demands_) pages += pages_needed(d, num_steps);
    return pages;
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
    count_pages(p, -1);
}

LLMCOST_INLINE void decoding_requests::advance(std::int64_t num_steps, std::vector<std::size_t>& finished) {
    move_growth(num_steps_, num_steps_ + num_steps);
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
    move_growth(num_steps_, num_steps_ - num_steps);
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
    count_pages(p, 1);
}

LLMCOST_INLINE double decoding_requests::pages_allocated_since_prefill(const request_progress& p,
                                                                       std::int64_t step) const noexcept {
    if (policy_.reserves_full_output()) return 0;
    double pages = 0;
    for (const page_demand& d : page_demands_) {
        const std::int64_t block_size = d.kind.block_size, end_step = growth_of(d, p).end_step;
        const std::int64_t growing_steps = std::min(step, end_step) - p.first_decode_step;
        if (tokens_per_step_ != 1) {
            pages += static_cast<double>(d.kind.num_tables) * static_cast<double>(growing_steps) * tokens_per_step_ /
                     static_cast<double>(block_size);
            continue;
        }
        const auto num_pages = [&](std::int64_t tokens) { return (tokens + block_size - 1) / block_size; };
        pages += static_cast<double>(
            d.kind.num_tables * (num_pages(p.num_computed_tokens + growing_steps) - num_pages(p.num_computed_tokens)));
    }
    return pages;
}

LLMCOST_INLINE decoding_requests::page_growth decoding_requests::growth_of(const page_demand& d,
                                                                           const request_progress& p) const noexcept {
    const std::int64_t block_size = d.kind.block_size;
    const std::int64_t offset = (p.num_computed_tokens - p.first_decode_step) % block_size;
    page_growth growth{.phase = static_cast<std::size_t>(offset < 0 ? offset + block_size : offset),
                       .end_step = unlimited};
    if (d.kind.max_tokens > 0) {
        const std::int64_t num_tokens = std::max<std::int64_t>(0, d.kind.max_tokens - p.num_computed_tokens);
        growth.end_step =
            p.first_decode_step + static_cast<std::int64_t>(static_cast<double>(num_tokens) / tokens_per_step_);
    }
    return growth;
}

LLMCOST_INLINE void decoding_requests::count_pages(const request_progress& p, std::int64_t difference) {
    for (page_demand& d : page_demands_) {
        const page_growth growth = growth_of(d, p);
        if (growth.end_step > num_steps_) {
            d.num_growing += difference;
            d.num_growing_by_phase[growth.phase] += difference;
        }
        if (growth.end_step == unlimited) continue;
        const auto it = d.num_by_last_growth.try_emplace({growth.end_step, growth.phase}).first;
        it->second += difference;
        if (it->second == 0) d.num_by_last_growth.erase(it);
    }
}

LLMCOST_INLINE void decoding_requests::move_growth(std::int64_t from_step, std::int64_t to_step) {
    const std::int64_t sign = from_step < to_step ? -1 : 1;
    for (page_demand& d : page_demands_) {
        const auto last = d.num_by_last_growth.lower_bound({std::max(from_step, to_step) + 1, 0});
        for (auto it = d.num_by_last_growth.lower_bound({std::min(from_step, to_step) + 1, 0}); it != last; ++it) {
            d.num_growing += sign * it->second;
            d.num_growing_by_phase[it->first.second] += sign * it->second;
        }
    }
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
