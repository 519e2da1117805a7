// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/admission_controller.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <llmcost/base/inline.hpp>
#include <llmcost/simulation/decoding_requests.hpp>
#include <llmcost/simulation/finish_schedule.hpp>
#include <llmcost/simulation/kv_cache_pool.hpp>
#include <llmcost/simulation/new_token_ratio.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/request_table.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

namespace llmcost {

LLMCOST_INLINE void batch_reservation::clear() noexcept {
    pages = 0;
    output_tokens = 0;
    num_prefills = 0;
    finish_times.clear();
}

LLMCOST_INLINE bool admission_controller::can_admit(std::size_t request_id, batch_reservation& reserved) const {
    const bool is_alone = running_.empty() && reserved.num_prefills == 0;
    if (is_alone) return true;  // a request that exceeds the cache would wait forever
    const std::int64_t num_pages = pages_to_allocate(request_id);
    if (policy_.admission != admission_mode::expected_output)
        return static_cast<double>(num_pages) <= kv_cache_.num_available() - reserved.pages;
    if (policy_.has_known_finish_times) return can_finish_all(request_id, reserved);
    const std::int64_t num_remaining_tokens =
        table_.requests[request_id].output_tokens - table_.progress[request_id].num_output_tokens;
    const std::int64_t num_output_tokens = std::min(num_remaining_tokens, max_reserved_output_tokens);
    return static_cast<double>(num_pages * policy_.page_size + num_output_tokens + policy_.page_size) <
           free_tokens(reserved);
}

LLMCOST_INLINE double admission_controller::reserved_output_tokens() const {
    double tokens = 0;
    for (const std::size_t request_id : running_)
        if (table_.progress[request_id].state != request_state::prefill)
            tokens +=
                static_cast<double>(std::min(num_uncommitted_output_tokens(request_id), max_reserved_output_tokens));
    return tokens * (policy_.has_known_finish_times ? 1 : new_token_ratio_.value());
}

LLMCOST_INLINE double admission_controller::reserved_after_chunk(std::size_t request_id) const {
    const request_progress& p = table_.progress[request_id];
    const bool is_last_chunk = p.num_computed_tokens == p.num_prompt_tokens;
    const std::int64_t output = std::min(table_.requests[request_id].output_tokens, max_reserved_output_tokens);
    return static_cast<double>(policy_.page_size + (is_last_chunk ? output : 0));
}

LLMCOST_INLINE std::int64_t admission_controller::largest_chunk(const batch_reservation& reserved,
                                                                std::int64_t requested) const {
    const auto tokens = static_cast<std::int64_t>(free_tokens(reserved));
    return tokens > 0 ? tokens : requested;
}

LLMCOST_INLINE double admission_controller::ratio_after_preemption() const {
    constexpr std::int64_t num_next_tokens = 20;
    double requested_tokens = 1;
    double tokens = 0;
    for (const std::size_t request_id : running_)
        if (table_.progress[request_id].state == request_state::decoding) {
            requested_tokens += static_cast<double>(table_.requests[request_id].output_tokens);
            tokens += static_cast<double>(decoding_.num_committed_output_tokens(request_id) + num_next_tokens);
        }
    return std::min(1.0, tokens / requested_tokens);
}

LLMCOST_INLINE std::int64_t admission_controller::num_cached_tokens(const simulated_request& request,
                                                                    std::int64_t num_loaded_blocks) const {
    const auto tokens =
        has_prefix_blocks(request)
            ? num_prefix_cached_tokens(request) + num_loaded_blocks * kv_cache_.tokens_per_block()
            : static_cast<std::int64_t>(request.cached_fraction * static_cast<double>(request.input_tokens));
    return std::min(tokens, request.input_tokens - 1);
}

LLMCOST_INLINE std::int64_t admission_controller::num_prefix_cached_tokens(const simulated_request& request) const {
    if (!has_prefix_blocks(request)) return 0;
    return kv_cache_.num_cached_prefix_blocks(request.prefix_blocks) * kv_cache_.tokens_per_block();
}

LLMCOST_INLINE std::int64_t admission_controller::private_pages(std::size_t request_id,
                                                                std::int64_t num_computed_tokens) const {
    const simulated_request& request = table_.requests[request_id];
    const std::int64_t num_full_tokens = table_.progress[request_id].num_prompt_tokens + request.output_tokens - 1;
    const std::int64_t num_pages =
        pages_of_request_(policy_.reserves_full_output() ? num_full_tokens : num_computed_tokens);
    if (!has_prefix_blocks(request)) return num_pages;
    const auto num_blocks = static_cast<std::int64_t>(request.prefix_blocks.size());
    return std::max<std::int64_t>(0, num_pages - num_blocks * kv_cache_.pages_per_block());
}

LLMCOST_INLINE std::int64_t admission_controller::pages_to_allocate(std::size_t request_id) const {
    const simulated_request& request = table_.requests[request_id];
    const std::int64_t num_private_pages = private_pages(request_id, table_.progress[request_id].num_prompt_tokens);
    if (!has_prefix_blocks(request)) return num_private_pages;
    const auto num_blocks = static_cast<std::int64_t>(request.prefix_blocks.size());
    const std::int64_t num_missing_blocks = num_blocks - kv_cache_.num_cached_blocks(request.prefix_blocks);
    const std::int64_t num_unreferenced_blocks = kv_cache_.num_unreferenced_blocks(request.prefix_blocks);
    return num_private_pages + (num_missing_blocks + num_unreferenced_blocks) * kv_cache_.pages_per_block();
}

LLMCOST_INLINE finish_estimate admission_controller::estimate_finish(std::size_t request_id) const {
    const std::int64_t num_output_tokens = decoding_.num_committed_output_tokens(request_id);
    const simulated_request& request = table_.requests[request_id];
    return {.remaining_tokens = static_cast<double>(request.output_tokens - num_output_tokens),
            .tokens_freed = static_cast<double>(request.input_tokens + num_output_tokens)};
}

LLMCOST_INLINE bool admission_controller::can_finish_all(std::size_t request_id, batch_reservation& reserved) const {
    const auto page_size = static_cast<double>(policy_.page_size);
    const std::int64_t num_prompt_pages = pages_of_request_(table_.progress[request_id].num_prompt_tokens);
    const double prompt_tokens = static_cast<double>(num_prompt_pages + 1) * page_size;
    if (prompt_tokens > free_tokens(reserved)) return false;
    if (reserved.finish_times.empty())
        reserved.finish_times = finish_times_with(request_id);
    else
        reserved.finish_times.insert(estimate_finish(request_id));
    const double prefill_tokens = static_cast<double>(reserved.num_prefills) * page_size;
    return reserved.finish_times.can_finish(free_tokens(reserved.pages, prefill_tokens) - prompt_tokens);
}

LLMCOST_INLINE finish_schedule admission_controller::finish_times_with(std::size_t request_id) const {
    finish_schedule schedule;
    schedule.add(estimate_finish(request_id));
    for (const bool is_prefill : {false, true})
        for (const std::size_t running_id : running_)
            if ((table_.progress[running_id].state == request_state::prefill) == is_prefill)
                schedule.add(estimate_finish(running_id));
    schedule.sort();
    return schedule;
}

}  // namespace llmcost
