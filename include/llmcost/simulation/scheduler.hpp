// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

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

/// The scheduler of one data-parallel rank of an engine: forms the batch of each step according to a policy.
class scheduler {
public:
    /// `num_pages`: size of the KV cache. `num_draft_tokens`: draft tokens verified per request and step.
    /// `tokens_per_step`: output tokens per request and step, at most `1 + num_draft_tokens`. `pages_of_request`: pages
    /// by length; default: one per `policy.page_size` tokens. `tokens_per_prefix_block`; 0: those of its pages.
    /// `tiers`: memory for prefix blocks below that of the device.
    ///
    /// `pages_per_prefix_block` and the KV cache of the scheduler have the units of `pages_of_request`.
    scheduler(const scheduling_policy& policy, std::int64_t num_pages, std::int64_t pages_per_prefix_block,
              request_table table, std::int64_t num_draft_tokens = 0, double tokens_per_step = 1,
              request_blocks pages_of_request = {}, std::int64_t tokens_per_prefix_block = 0,
              const std::vector<kv_cache_tier>& tiers = {});
    scheduler(const scheduler&) = delete;  // `admission_` refers to other members
    scheduler& operator=(const scheduler&) = delete;

    [[nodiscard]] const scheduling_policy& policy() const noexcept { return policy_; }
    [[nodiscard]] const kv_cache_pool& kv_cache() const noexcept { return kv_cache_; }
    [[nodiscard]] std::int64_t num_waiting() const noexcept { return static_cast<std::int64_t>(waiting_.size()); }
    /// Requests with allocated pages.
    [[nodiscard]] std::int64_t num_running() const noexcept { return admission_.num_running(); }
    [[nodiscard]] std::int64_t num_preemptions() const noexcept { return num_preemptions_; }
    /// Whether a request has waited for pages, or a prefix was evicted. Otherwise a larger KV cache gives the same
    /// schedule.
    [[nodiscard]] bool has_waited_for_pages() const noexcept {
        return has_waited_for_pages_ || kv_cache_.has_evicted();
    }
    /// Whether a request that arrives now can be scheduled before a running request finishes.
    [[nodiscard]] bool accepts_requests() const noexcept { return !is_full_ && waiting_.empty(); }
    /// Prompt tokens of a request that are in the prefix cache.
    [[nodiscard]] std::int64_t num_cached_prompt_tokens(const simulated_request& request) const {
        return admission_.num_prefix_cached_tokens(request);
    }
    /// Pages that a request needs for its prompt and its complete output.
    [[nodiscard]] std::int64_t max_pages_of(const simulated_request& request) const noexcept {
        return pages_of_request_(request.input_tokens + request.output_tokens - 1);
    }
    /// New tokens of a step, with draft tokens.
    [[nodiscard]] std::int64_t num_batched_tokens(const step_batch& batch) const noexcept;

    /// The time at which the next prefix is loaded; infinity if none is being loaded.
    [[nodiscard]] double next_loaded() const noexcept {
        return loading_.empty() ? std::numeric_limits<double>::infinity() : loading_.front().loaded_at;
    }

    /// Adds a request to the waiting queue.
    void add_request(std::size_t request_id, double now);
    /// Forms the next batch from the requests that arrived up to `arrival_cutoff`.
    ///
    /// A batch without prefills may cover several equal steps. The result is valid until the next call.
    [[nodiscard]] step_batch& schedule(double arrival_cutoff);
    /// Frees the pages of finished requests.
    void free_finished(const std::vector<std::size_t>& request_ids);
    /// Shortens the last batch to `num_steps` steps, because a request arrived that can be added to the next one.
    void truncate(step_batch& batch, std::int64_t num_steps);

private:
    static constexpr std::int64_t max_equal_steps = 128;

    /// SGLang: prefills only, as long as a request can be admitted. Otherwise decodes only.
    ///
    /// With `--enable-mixed-chunk`, decodes are added to a prefill batch if enough pages are free.
    void schedule_prefill_first(double arrival_cutoff);
    /// vLLM and TensorRT-LLM: all decodes first, then prefills within the remaining token budget.
    void schedule_mixed(double arrival_cutoff);

    // Decodes.

    /// Adds all decoding requests to the batch. Preempts requests until the others have pages for the next token.
    void add_decodes();
    void count_decodes();
    /// The request to preempt. `fewest_output_tokens`: ties go to the longest prompt, then to the last admitted.
    [[nodiscard]] std::size_t select_victim() const;
    [[nodiscard]] bool is_preempted_before(std::size_t request_id, std::size_t earlier_id) const;
    void preempt(std::size_t request_id);
    /// Frees all pages of a running request.
    void free_pages(std::size_t request_id);

    // Prefills.

    /// Whether prefills wait for more requests while any request decodes.
    [[nodiscard]] bool delays_prefills(double arrival_cutoff);
    /// Whether the first waiting request arrived up to `arrival_cutoff`.
    [[nodiscard]] bool has_arrived_request(double arrival_cutoff) const {
        return !waiting_.empty() && table_.progress[waiting_.front()].queued_at <= arrival_cutoff;
    }
    /// Adds chunks of partial prefills, then of waiting requests, until a limit is reached.
    ///
    /// `num_mixed_decodes`: decodes that share the batch (SGLang, `--enable-mixed-chunk`).
    void add_prefills(std::int64_t token_budget, std::int64_t num_mixed_decodes, double arrival_cutoff);
    /// Preempts requests until a partial prefill has pages for `num_computed_tokens` tokens.
    ///
    /// Returns false if the request itself is preempted.
    [[nodiscard]] bool preempt_for_pages(std::size_t request_id, std::int64_t num_computed_tokens);
    void admit(std::size_t request_id, std::int64_t num_cached_tokens);
    /// The prefix of a waiting request that lower tiers have and the device does not.
    [[nodiscard]] prefix_load find_load(std::size_t request_id) const;
    /// Pins the prefix blocks of a request and queues the transfer of those in lower tiers.
    void start_load(std::size_t request_id, const prefix_load& load, double now);
    /// Returns requests whose prefix was loaded up to `now` to the front of the waiting queue.
    void queue_loaded(double now);
    void add_prefill_chunk(std::size_t request_id, std::int64_t num_tokens);

    // Steps.

    /// Number of equal steps: until a request finishes, pages run out, or a waiting request can be admitted.
    [[nodiscard]] std::int64_t num_equal_steps(double arrival_cutoff);
    /// The new token ratio does not decay in a step before which requests are preempted.
    [[nodiscard]] std::int64_t num_decay_steps(std::int64_t num_steps) const noexcept {
        return has_preempted_ ? num_steps - 1 : num_steps;
    }
    /// Advances the decoding requests by the steps of the batch and completes its prefills.
    void complete_batch();
    void complete_prefill(std::size_t request_id);

    scheduling_policy policy_;
    std::int64_t units_per_page_;
    request_blocks pages_of_request_;  ///< in units: all pages of the members have this size
    request_table table_;
    prefix_tiers tiers_;
    kv_cache_pool kv_cache_;
    decoding_requests decoding_;
    new_token_ratio new_token_ratio_;
    admission_controller admission_;

    /// A request whose prefix is being loaded. Transfers run one after the other.
    struct loading_request {
        std::size_t request_id = 0;
        double loaded_at = 0;
    };

    std::deque<std::size_t> waiting_;
    std::deque<loading_request> loading_;          ///< in the order of their transfers
    double transfers_end_ = 0;                     ///< s, end of the last transfer
    std::vector<std::size_t> partial_prefills_;    ///< requests whose prompt is computed in part (chunked prefill)
    std::vector<std::size_t> completed_prefills_;  ///< requests whose prefill completes in the current batch
    step_batch batch_;
    batch_reservation reserved_;  ///< by the current batch
    std::int64_t num_draft_tokens_;
    std::int64_t num_batches_ = 0;
    std::int64_t num_preemptions_ = 0;
    std::int64_t num_new_decodes_ = 0;       ///< requests whose prefill completed after the last decode step
    std::int64_t num_delayed_steps_ = 0;     ///< steps for which prefills have waited
    std::int64_t num_finished_unfreed_ = 0;  ///< finished requests with allocated pages
    bool is_full_ = false;                   ///< the last admission failed; retry only after a request leaves
    bool has_preempted_ = false;             ///< in the current batch
    bool has_waited_for_pages_ = false;      ///< in any batch
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/scheduler.ipp>  // IWYU pragma: export
#endif
