// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llmcost/memory/block_pool.hpp>
#include <llmcost/simulation/decoding_requests.hpp>
#include <llmcost/simulation/finish_schedule.hpp>
#include <llmcost/simulation/kv_cache_pool.hpp>
#include <llmcost/simulation/new_token_ratio.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/request_table.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

namespace llmcost {

/// What the current batch has already claimed. Passed to `admission_controller`, which has no state per batch.
struct batch_reservation {
    double pages = 0;          ///< pages for the next token of the decoding requests
    double output_tokens = 0;  ///< reserved for running requests
    std::int64_t num_prefills = 0;
    finish_schedule finish_times{};  ///< of the running requests and of those that `can_admit` has checked

    void clear() noexcept;
};

/// Decides whether the KV cache has enough free pages for a waiting request.
///
/// Source: sglang, managers/schedule_policy.py, `PrefillAdder`; vllm, v1/core/kv_cache_manager.py.
class admission_controller {
public:
    admission_controller(const scheduling_policy& policy, const request_blocks& pages_of_request, request_table table,
                         const kv_cache_pool& kv_cache, const decoding_requests& decoding, const new_token_ratio& ratio)
        : policy_(policy),
          pages_of_request_(pages_of_request),
          table_(table),
          kv_cache_(kv_cache),
          decoding_(decoding),
          new_token_ratio_(ratio) {}

    /// Requests with allocated pages, in the order of admission.
    [[nodiscard]] const std::vector<std::size_t>& running() const noexcept { return running_; }
    [[nodiscard]] std::int64_t num_running() const noexcept { return static_cast<std::int64_t>(running_.size()); }
    void add_running(std::size_t request_id) { running_.push_back(request_id); }
    void remove_running(std::size_t request_id) {
        running_.erase(std::find(running_.begin(), running_.end(), request_id));
    }

    /// Whether a request can be admitted to a batch that has already claimed `reserved`.
    ///
    /// With known finish times, adds the finish time of the request to `reserved`.
    [[nodiscard]] bool can_admit(std::size_t request_id, batch_reservation& reserved) const;
    /// Output tokens that admission reserves for all running requests.
    [[nodiscard]] double reserved_output_tokens() const;
    /// Tokens that a prefill chunk reserves in addition to its own pages.
    ///
    /// One page, and after the last chunk of a prompt the output of the request.
    [[nodiscard]] double reserved_after_chunk(std::size_t request_id) const;
    /// Free tokens of the cache that are not reserved.
    [[nodiscard]] double free_tokens(const batch_reservation& reserved) const {
        return free_tokens(reserved.pages, reserved.output_tokens);
    }
    /// Prompt tokens that fit into the cache. Returns `requested` if none fit, so that the prefill completes.
    [[nodiscard]] std::int64_t largest_chunk(const batch_reservation& reserved, std::int64_t requested) const;
    /// The new token ratio after a preemption.
    ///
    /// Tokens that the decoding requests have produced or produce in the next 20 steps / all their output tokens.
    /// Source: sglang, managers/scheduler_components/new_token_ratio_tracker.py.
    [[nodiscard]] double ratio_after_preemption() const;
    /// Prompt tokens of a request that are in the prefix cache, or in `num_loaded_blocks` blocks after them.
    ///
    /// The last token is always computed.
    [[nodiscard]] std::int64_t num_cached_tokens(const simulated_request& request,
                                                 std::int64_t num_loaded_blocks = 0) const;
    /// Prompt tokens of a request in its cached prefix blocks.
    [[nodiscard]] std::int64_t num_prefix_cached_tokens(const simulated_request& request) const;
    [[nodiscard]] bool has_prefix_blocks(const simulated_request& request) const {
        return policy_.has_prefix_cache && !request.prefix_blocks.empty();
    }
    /// Pages that a request with `num_computed_tokens` tokens in the cache needs, without those of its prefix blocks.
    [[nodiscard]] std::int64_t private_pages(std::size_t request_id, std::int64_t num_computed_tokens) const;

private:
    static constexpr std::int64_t max_reserved_output_tokens = 4096;  ///< SGLang's CLIP_MAX_NEW_TOKENS

    [[nodiscard]] double free_tokens(double pages, double output_tokens) const {
        return (kv_cache_.num_available() - pages) * static_cast<double>(policy_.page_size) - output_tokens;
    }
    [[nodiscard]] std::int64_t num_uncommitted_output_tokens(std::size_t request_id) const {
        return table_.requests[request_id].output_tokens - decoding_.num_committed_output_tokens(request_id);
    }
    /// Pages that must be available for a complete prompt: private pages, and prefix blocks that no running request
    /// uses.
    [[nodiscard]] std::int64_t pages_to_allocate(std::size_t request_id) const;
    [[nodiscard]] finish_estimate estimate_finish(std::size_t request_id) const;
    /// Whether all running requests and one more can decode all their tokens.
    [[nodiscard]] bool can_finish_all(std::size_t request_id, batch_reservation& reserved) const;
    /// Finish times of a waiting request and of all running ones. The sort is stable, so the order of insertion counts.
    [[nodiscard]] finish_schedule finish_times_with(std::size_t request_id) const;

    const scheduling_policy& policy_;
    const request_blocks& pages_of_request_;
    request_table table_;
    const kv_cache_pool& kv_cache_;
    const decoding_requests& decoding_;
    const new_token_ratio& new_token_ratio_;
    std::vector<std::size_t> running_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/admission_controller.ipp>  // IWYU pragma: export
#endif
