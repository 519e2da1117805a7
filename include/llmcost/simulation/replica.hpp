// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include <llmcost/serving/stage_links.hpp>
#include <llmcost/simulation/scheduler.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

/// The cost of a step of one rank.
struct simulated_step_cost {
    double seconds = 0;
    double joules = 0;                     ///< per device
    stage_transfer stage_transfer_time{};  ///< from each stage to the next
    double first_stage_seconds = 0;        ///< the part of `seconds` that only the first stage computes
};

/// A run of equal steps, which differ only in the length of the decoding requests.
struct simulated_steps {
    double begin = 0, end = 0;  ///< s
    std::int64_t steps = 0;
    std::int64_t num_decodes = 0;     ///< decoding requests of all ranks
    std::int64_t prefill_tokens = 0;  ///< new prompt tokens
    std::int64_t num_prefills = 0;    ///< requests to which the prompt tokens belong
    std::int64_t running = 0, waiting = 0;
    double kv_cache_utilization = 0;  ///< fraction of the pages of the cache that are allocated
    std::size_t replica = 0;
};

/// `num_gaps` gaps between output tokens, of about `seconds` each.
struct token_gap {
    double seconds = 0, num_gaps = 0;
};

/// The pipeline stages of an engine. Microbatches pass them in the order in which they are scheduled.
class pipeline {
public:
    /// `leaves_node`: for each stage except the last, whether a network connects it to the next one. Empty: links do.
    explicit pipeline(std::int64_t stages, std::vector<bool> leaves_node = {})
        : stage_free_seconds_(static_cast<std::size_t>(stages), 0.0), leaves_node_(std::move(leaves_node)) {
        leaves_node_.resize(stage_free_seconds_.size());
    }
    [[nodiscard]] std::int64_t stages() const noexcept { return static_cast<std::int64_t>(stage_free_seconds_.size()); }
    /// Returns the time at which a step has passed all stages.
    ///
    /// All stages take equally long, apart from `first_stage_seconds`. A stage does not compute while it sends.
    [[nodiscard]] double schedule_step(double now, const simulated_step_cost& step) noexcept;

private:
    std::vector<double> stage_free_seconds_;  ///< time at which each stage is free
    std::vector<bool> leaves_node_;
};

/// How a router selects the replica of a request.
enum class routing_policy : std::uint8_t {
    least_loaded,  ///< the replica with the lowest load
    prefix_aware   ///< the replica with the longest prefix-cache match, unless the load is too uneven
};

/// An engine replica: data-parallel ranks whose steps begin together, as with experts on all devices.
///
/// Each rank has its own scheduler. The slowest rank determines the time of a step.
/// With asynchronous scheduling, an engine schedules a batch while the previous one runs. A request that arrives
/// during a step waits for that step and the next one.
class replica {
public:
    replica(std::deque<scheduler> ranks, double tokens_per_step, pipeline* pipeline = nullptr)
        : ranks_(std::move(ranks)), tokens_per_step_(tokens_per_step), pipeline_(pipeline) {
        running_.resize(ranks_.size());
    }
    replica(replica&&) = default;
    replica(const replica&) = delete;  // a scheduler cannot be copied
    replica& operator=(replica&&) = delete;
    replica& operator=(const replica&) = delete;

    /// The time at which the current steps end, or the next prefix is loaded; infinity if the replica is idle.
    [[nodiscard]] double next_completion() const noexcept { return is_busy_ ? end_ : next_loaded(); }
    [[nodiscard]] bool is_idle() const noexcept { return !is_busy_; }
    /// Load of all ranks: 4 · waiting + running requests.
    ///
    /// Source: vllm, v1/engine/core_client.py, `DPLBAsyncMPClient`.
    [[nodiscard]] std::int64_t num_weighted_requests() const noexcept;
    [[nodiscard]] const std::deque<scheduler>& ranks() const noexcept { return ranks_; }
    [[nodiscard]] double joules() const noexcept { return joules_; }
    [[nodiscard]] double busy_seconds() const noexcept { return busy_seconds_; }
    [[nodiscard]] std::int64_t steps() const noexcept { return steps_done_; }
    /// Maximum over all steps and ranks of the new tokens, and of the running requests.
    [[nodiscard]] std::int64_t max_batched_tokens() const noexcept { return max_new_tokens_; }
    [[nodiscard]] std::int64_t max_running() const noexcept { return max_running_; }

    /// Load of one rank: 4 · waiting + running requests.
    [[nodiscard]] std::int64_t load_of_rank(std::size_t rank) const noexcept {
        return 4 * ranks_[rank].num_waiting() + ranks_[rank].num_running();
    }
    /// Adds a request to the queue of a rank. Call `start_if_idle` after all requests that arrive at `now`.
    void add_request(std::size_t id, double now, std::size_t to);
    template <class Price>
    void start_if_idle(double now, Price&& price) {
        if (!is_busy_) begin(now, now, price);
    }

    /// Ends the current steps and begins the next ones.
    ///
    /// Calls of `listener`: `on_scheduled(id, time)`, `started(id, time)` at the first token, `on_finished(id, time)`,
    /// `ran(simulated_steps)`, and `gap(token_gap)`.
    template <class Price, class Listener>
    void advance(Price&& price, Listener& listener) {
        if (!is_busy_) {
            const double loaded = next_loaded();
            begin(loaded, loaded, price);
            return;
        }
        const double now = end_;
        for (step_batch& b : running_) {
            record_token_gaps(b, listener);
            for (const std::size_t id : b.first_scheduled) listener.on_scheduled(id, begin_);
            for (const std::size_t id : b.first_token) listener.started(id, now);
            for (const std::size_t id : b.finished) listener.on_finished(id, now);
        }
        listener.ran(this_run());
        const double mean_joules = (first_.joules + last_.joules) / 2;
        joules_ += mean_joules * static_cast<double>(steps_);
        busy_seconds_ += end_ - begin_ - wait_seconds_;
        steps_done_ += steps_;
        is_busy_ = false;
        std::vector<step_batch> previous_batches = std::move(running_);
        running_.assign(ranks_.size(), {});
        const bool ahead = ranks_.front().policy().num_async_steps > 0;
        if (!ahead) release(previous_batches);
        begin(now, ahead ? now - seconds_of(steps_ - 1) : now, price);
        if (ahead) {
            release(previous_batches);
            if (!is_busy_) begin(now, now, price);  // freed pages may admit a waiting request
        }
    }

private:
    /// The time at which the next prefix of a rank is loaded; infinity if none is being loaded.
    [[nodiscard]] double next_loaded() const noexcept;
    void release(const std::vector<step_batch>& batches) {
        for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i].free_finished(batches[i].finished);
    }
    /// Seconds of step `i`. Linear interpolation between the first and the last step.
    [[nodiscard]] double seconds_of(std::int64_t i) const noexcept;
    /// Seconds of the first `steps` steps.
    [[nodiscard]] double seconds_until(std::int64_t steps) const noexcept {
        return static_cast<double>(steps) * (seconds_of(0) + seconds_of(steps - 1)) / 2;
    }
    template <class Price>
    void begin(double now, double visible_until, Price&& price) {
        std::int64_t minimum = std::numeric_limits<std::int64_t>::max();
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            std::swap(running_[i], ranks_[i].schedule(visible_until));
            if (running_[i].num_steps > 0) minimum = std::min(minimum, running_[i].num_steps);
            max_new_tokens_ = std::max(max_new_tokens_, ranks_[i].num_batched_tokens(running_[i]));
            max_running_ = std::max(max_running_, ranks_[i].num_running());
        }
        if (minimum == std::numeric_limits<std::int64_t>::max()) return;
        if (pipeline_ != nullptr) minimum = 1;  // other microbatches may delay each step
        first_ = last_ = {};
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            step_batch& b = running_[i];
            if (b.num_steps == 0) continue;
            if (b.num_steps > minimum) ranks_[i].truncate(b, minimum);
            is_slower_than(first_, price(b, b.mean_decode_length));
            if (minimum > 1)
                is_slower_than(last_,
                               price(b, b.mean_decode_length + static_cast<double>(minimum - 1) * tokens_per_step_));
        }
        if (minimum == 1) last_ = first_;
        is_busy_ = true;
        begin_ = now;
        steps_ = num_planned_steps_ = minimum;
        end_ = now + seconds_until(minimum);
        if (minimum > 1 && next_loaded() < end_) cut(next_loaded());
        if (pipeline_ == nullptr) return;
        wait_seconds_ = pipeline_->schedule_step(now, first_) - end_;
        end_ += wait_seconds_;
    }
    static void is_slower_than(simulated_step_cost& all, const simulated_step_cost& one) noexcept;
    /// Shortens the current steps, so that a request that arrives at `now` can be in the batch after the next one.
    void cut(double now);
    template <class Listener>
    void record_token_gaps(const step_batch& b, Listener& listener) {
        if (b.num_decodes == 0) return;
        const double first = seconds_of(0) + wait_seconds_, num_decodes = static_cast<double>(b.num_decodes);
        const double stalled = begin_ - last_decode_end_;
        listener.gap({first + (stalled > 0 ? stalled : 0), num_decodes - static_cast<double>(b.num_new_decodes)});
        if (b.num_new_decodes > 0) listener.gap({first, static_cast<double>(b.num_new_decodes)});
        if (steps_ > 1)
            listener.gap({(end_ - begin_ - first) / static_cast<double>(steps_ - 1),
                          num_decodes * static_cast<double>(steps_ - 1)});
        last_decode_end_ = end_;
    }
    [[nodiscard]] simulated_steps this_run() const;

    std::deque<scheduler> ranks_;
    std::vector<step_batch> running_;  ///< current batch of each rank
    double tokens_per_step_;
    pipeline* pipeline_ = nullptr;
    double wait_seconds_ = 0;  ///< s, waiting for busy stages and transfers between stages
    bool is_busy_ = false;
    double begin_ = 0, end_ = 0, last_decode_end_ = 0;
    std::int64_t steps_ = 0, num_planned_steps_ = 0;  ///< steps to run, and steps planned before `cut`
    simulated_step_cost first_{}, last_{};
    double joules_ = 0, busy_seconds_ = 0;
    std::int64_t steps_done_ = 0, max_new_tokens_ = 0, max_running_ = 0;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/replica.ipp>  // IWYU pragma: export
#endif
