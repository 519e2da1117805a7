// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <llmcost/memory/block_pool.hpp>
#include <llmcost/simulation/request_table.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

namespace llmcost {

/// The requests that decode.
///
/// All of them advance by one step together. One step counter therefore gives the length, the finish step and the
/// page demand of every request. The cost does not depend on the number of requests.
class decoding_requests {
public:
    /// `tokens_per_step`: output tokens per request and step; above 1 with speculative decoding.
    /// `pages_of_request`: pages by length.
    decoding_requests(const scheduling_policy& policy, const request_blocks& pages_of_request, request_table table,
                      double tokens_per_step);

    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Mean number of tokens before the next step.
    [[nodiscard]] double mean_length() const noexcept {
        return total_length_offset_ / static_cast<double>(size_) + static_cast<double>(num_steps_) * tokens_per_step_;
    }
    /// Output tokens of a request in the steps scheduled so far.
    [[nodiscard]] std::int64_t num_output_tokens(std::size_t request_id) const;
    /// Output tokens of a request that the engine has received when it schedules the next batch.
    ///
    /// Asynchronous scheduling: the previous step has not returned its tokens.
    [[nodiscard]] std::int64_t num_committed_output_tokens(std::size_t request_id) const;
    /// Pages that all requests together need for the next `num_steps` steps. A mean with speculative decoding.
    [[nodiscard]] double pages_needed(std::int64_t num_steps) const noexcept;
    /// Pages that a request has allocated since it began to decode.
    [[nodiscard]] double pages_allocated_since_prefill(std::size_t request_id) const noexcept {
        return pages_allocated_since_prefill(table_.progress[request_id], num_steps_);
    }
    /// Steps until the next request finishes. Requires that a request decodes.
    [[nodiscard]] std::int64_t steps_until_finish() { return next_finish_step() - num_steps_; }

    /// Adds a request whose prefill has completed and that has `num_remaining_tokens` tokens to decode.
    void add(std::size_t request_id, std::int64_t num_remaining_tokens);
    void remove(std::size_t request_id);
    /// Advances by `num_steps` steps. Appends the requests that finish to `finished`.
    void advance(std::int64_t num_steps, std::vector<std::size_t>& finished);
    /// Undoes the last `num_steps` steps. Removes the requests that decode again from `finished`.
    void rewind(std::int64_t num_steps, std::vector<std::size_t>& finished);
    /// Records the batch that was scheduled last. `index` is that of `request_progress::prefill_batch`.
    void set_last_batch(std::int64_t index, bool has_decodes) noexcept;

private:
    struct finish_event {
        std::int64_t step;
        std::size_t request_id;
        std::uint32_t generation;
        /// Orders a heap whose top is the earliest event.
        friend bool operator<(const finish_event& a, const finish_event& b) noexcept {
            return a.step != b.step ? a.step > b.step : a.request_id > b.request_id;
        }
    };

    void insert(std::size_t request_id, std::int64_t finish_step);
    /// Pages that a request has allocated between its first decode step and `step`.
    [[nodiscard]] double pages_allocated_since_prefill(const request_progress& p, std::int64_t step) const noexcept;
    /// Tokens of a request at step 0 if it had decoded from there on.
    [[nodiscard]] double length_offset(const request_progress& p) const noexcept {
        return static_cast<double>(p.num_computed_tokens) - static_cast<double>(p.first_decode_step) * tokens_per_step_;
    }
    /// The requests that need pages of one kind of block tables.
    ///
    /// A request is `growing` until it stores `max_tokens` tokens: from then on, its window frees as many pages as it
    /// needs.
    struct page_demand {
        block_table_kind kind;
        std::int64_t num_growing = 0;
        /// Growing requests by phase: the length offset modulo the block size. Requests of the same phase need a new
        /// page in the same steps.
        std::vector<std::int64_t> num_growing_by_phase;
        std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> num_by_last_growth;  ///< by step and phase
    };
    /// The phase of a request, and the step in which it has stopped to grow.
    struct page_growth {
        std::size_t phase;
        std::int64_t end_step;
    };
    [[nodiscard]] page_growth growth_of(const page_demand& d, const request_progress& p) const noexcept;
    /// Pages of one kind in the next `num_steps` steps.
    [[nodiscard]] double pages_needed(const page_demand& d, std::int64_t num_steps) const noexcept;
    /// Adds `difference` requests with the progress `p`.
    void count_pages(const request_progress& p, std::int64_t difference);
    /// Moves the requests that stop to grow between two steps, in either direction.
    void move_growth(std::int64_t from_step, std::int64_t to_step);
    [[nodiscard]] std::int64_t next_finish_step();
    std::size_t pop_finish_event();

    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

    const scheduling_policy& policy_;
    request_table table_;
    double tokens_per_step_;
    std::int64_t size_ = 0;
    std::int64_t num_steps_ = 0;      ///< decode steps so far
    double total_length_offset_ = 0;  ///< sum of `length_offset` over all requests
    std::int64_t last_batch_ = 0;     ///< index of the batch that was scheduled last
    bool last_batch_has_decodes_ = false;
    std::vector<page_demand> page_demands_;
    std::vector<finish_event> finish_heap_;  ///< entries of freed requests stay until they reach the top
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/decoding_requests.ipp>  // IWYU pragma: export
#endif
