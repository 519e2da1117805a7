// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <llmcost/serving/stage_links.hpp>
#include <llmcost/simulation/scheduler.hpp>

namespace llmcost {

/// What a step takes of the devices of one rank.
struct step_price {
    double seconds = 0;
    double joules = 0;  ///< of each device
    hand_over sent{};   ///< from each stage to the next
    double in_first = 0;  ///< of the seconds, those in the first stage alone
};

/// Steps that ran, alike but for the tokens that were written meanwhile.
struct simulated_steps {
    double begin = 0, end = 0;  ///< s
    std::int64_t steps = 0;
    std::int64_t writing = 0;        ///< sequences that wrote, of all ranks
    std::int64_t prompt_tokens = 0;  ///< new tokens of prompts
    std::int64_t prompts = 0;        ///< requests that they belong to
    std::int64_t running = 0, waiting = 0;
    double pages = 0;  ///< share of the cache's pages that is used
    std::size_t replica = 0;
};

/// Gaps between the tokens of requests: so many of about so many seconds.
struct token_gap {
    double seconds = 0, times = 0;
};

/// Stages of devices that hold layers one behind the other, which micro-batches pass in the order in which they come.
class pipeline {
public:
    /// `leaves_node`: of each stage but the last, whether a network lies behind it; none: links do.
    explicit pipeline(std::int64_t stages, std::vector<bool> leaves_node = {})
        : free_(static_cast<std::size_t>(stages), 0.0), leaves_node_(std::move(leaves_node)) {
        leaves_node_.resize(free_.size());
    }
    [[nodiscard]] std::int64_t stages() const noexcept { return static_cast<std::int64_t>(free_.size()); }
    /// When a step that takes so long in all has passed all stages, in each of which layers take the same; who sends
    /// computes nothing.
    [[nodiscard]] double passed(double now, const step_price& step) noexcept {
        for (std::size_t i = 0; i < free_.size(); ++i) {
            now = std::max(now, free_[i]) + (step.seconds - step.in_first) / static_cast<double>(free_.size());
            if (i == 0) now += step.in_first;
            if (i + 1 < free_.size()) now += leaves_node_[i] ? step.sent.between_nodes : step.sent.in_node;
            free_[i] = now;
        }
        return now;
    }

private:
    std::vector<double> free_;  ///< when each stage is
    std::vector<bool> leaves_node_;
};

/// Whom a router sends a request to.
enum class router_rule : std::uint8_t {
    least,  ///< where least is waiting
    prefix  ///< where most of its prompt is cached, unless others have far less to do
};

/// An engine with its devices: ranks of sequences of their own whose steps begin together, as those with experts on all
/// devices do, each composed by its scheduler.
///
/// Prices are asked for what a rank's step takes; the slowest rank's counts. Steps are composed while the one before runs,
/// so that somebody who comes in the middle of a step is in the next but one at the earliest.
class replica {
public:
    replica(std::vector<scheduler> ranks, double tokens_per_turn, pipeline* through = nullptr)
        : ranks_(std::move(ranks)), per_turn_(tokens_per_turn), through_(through) {
        running_.resize(ranks_.size());
    }

    /// When the steps that run end; never where none do.
    [[nodiscard]] double next() const noexcept { return busy_ ? end_ : std::numeric_limits<double>::infinity(); }
    [[nodiscard]] bool idle() const noexcept { return !busy_; }
    /// What is waiting weighs four times what runs (vLLM, v1/engine/core_client.py, DPLBAsyncMPClient).
    [[nodiscard]] std::int64_t load() const noexcept {
        std::int64_t sum = 0;
        for (const scheduler& s : ranks_) sum += 4 * s.waiting() + s.running();
        return sum;
    }
    [[nodiscard]] const std::vector<scheduler>& ranks() const noexcept { return ranks_; }
    [[nodiscard]] double joules() const noexcept { return joules_; }
    [[nodiscard]] double busy_seconds() const noexcept { return busy_seconds_; }
    [[nodiscard]] std::int64_t steps() const noexcept { return steps_done_; }
    /// The most new tokens of a step of a rank, and the most requests that were in one.
    [[nodiscard]] std::int64_t most_new_tokens() const noexcept { return most_new_tokens_; }
    [[nodiscard]] std::int64_t most_running() const noexcept { return most_running_; }

    /// What a rank has to do.
    [[nodiscard]] std::int64_t score(std::size_t rank) const noexcept {
        return 4 * ranks_[rank].waiting() + ranks_[rank].running();
    }
    /// A request comes to a rank; `wake` follows when all that came at this time are here.
    void arrive(std::size_t id, double now, std::size_t to) {
        const bool could_enter = ranks_[to].open();
        ranks_[to].arrive(id, now);
        if (busy_ && steps_ > 1 && could_enter) cut(now);
    }
    template <class Price>
    void wake(double now, Price&& price) {
        if (!busy_) begin(now, now, price);
    }

    /// Ends the steps that run and begins the next: `begun(id, time)`, `started(id, time)` and `ended(id, time)` hear of
    /// requests, `ran(steps)` of the steps, `gaps(gap)` of the time between tokens.
    template <class Price, class Listener>
    void advance(Price&& price, Listener& ear) {
        const double now = end_;
        for (step_batch& b : running_) {
            tell_gaps(b, ear);
            for (const std::size_t id : b.begun) ear.begun(id, begin_);
            for (const std::size_t id : b.started) ear.started(id, now);
            for (const std::size_t id : b.ended) ear.ended(id, now);
        }
        ear.ran(this_run());
        const double mean_joules = (first_.joules + last_.joules) / 2;
        joules_ += mean_joules * static_cast<double>(steps_), busy_seconds_ += end_ - begin_ - waits_, steps_done_ += steps_;
        busy_ = false;
        std::vector<step_batch> before = std::move(running_);
        running_.assign(ranks_.size(), {});
        const bool ahead = ranks_.front().policy().steps_ahead > 0;
        if (!ahead) release(before);
        begin(now, ahead ? now - seconds_of(steps_ - 1) : now, price);
        if (ahead) {
            release(before);
            if (!busy_) begin(now, now, price);  // who waited for what was given back
        }
    }

private:
    void release(const std::vector<step_batch>& before) {
        for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i].release(before[i].ended);
    }
    /// Seconds of the i-th of the steps, which rise or fall evenly.
    [[nodiscard]] double seconds_of(std::int64_t i) const noexcept {
        if (all_ <= 1) return first_.seconds;
        return first_.seconds + (last_.seconds - first_.seconds) * static_cast<double>(i) / static_cast<double>(all_ - 1);
    }
    /// Seconds of so many of the steps.
    [[nodiscard]] double seconds_until(std::int64_t steps) const noexcept {
        return static_cast<double>(steps) * (seconds_of(0) + seconds_of(steps - 1)) / 2;
    }
    template <class Price>
    void begin(double now, double visible_until, Price&& price) {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            std::swap(running_[i], ranks_[i].compose(visible_until));
            if (running_[i].steps > 0) least = std::min(least, running_[i].steps);
            most_new_tokens_ = std::max(most_new_tokens_, ranks_[i].new_tokens_of(running_[i]));
            most_running_ = std::max(most_running_, ranks_[i].running());
        }
        if (least == std::numeric_limits<std::int64_t>::max()) return;
        if (through_ != nullptr) least = 1;  // others may stand in its way each time
        first_ = last_ = {};
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            step_batch& b = running_[i];
            if (b.steps == 0) continue;
            if (b.steps > least) ranks_[i].cut(b, least);
            slower(first_, price(b, b.past));
            if (least > 1) slower(last_, price(b, b.past + static_cast<double>(least - 1) * per_turn_));
        }
        if (least == 1) last_ = first_;
        busy_ = true, begin_ = now, steps_ = all_ = least, end_ = now + seconds_until(least);
        if (through_ == nullptr) return;
        waits_ = through_->passed(now, first_) - end_;
        end_ += waits_;
    }
    static void slower(step_price& all, const step_price& one) noexcept {
        all.seconds = std::max(all.seconds, one.seconds), all.joules = std::max(all.joules, one.joules);
        all.in_first = std::max(all.in_first, one.in_first);
        all.sent.in_node = std::max(all.sent.in_node, one.sent.in_node);
        all.sent.between_nodes = std::max(all.sent.between_nodes, one.sent.between_nodes);
    }
    /// Somebody who came now may be in the step behind the one that is composed next.
    void cut(double now) {
        std::int64_t low = 1, high = steps_;  // the first step that ends at or behind now
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (begin_ + seconds_until(middle) >= now)
                high = middle;
            else
                low = middle + 1;
        }
        const std::int64_t keep = low + ranks_.front().policy().steps_ahead;
        if (keep >= steps_) return;
        for (std::size_t i = 0; i < ranks_.size(); ++i)
            if (running_[i].steps > 0) ranks_[i].cut(running_[i], keep);
        steps_ = keep, end_ = begin_ + seconds_until(keep);
    }
    template <class Listener>
    void tell_gaps(const step_batch& b, Listener& ear) {
        if (b.writing == 0) return;
        const double first = seconds_of(0) + waits_, many = static_cast<double>(b.writing);
        const double stalled = begin_ - last_written_;
        ear.gap({first + (stalled > 0 ? stalled : 0), many - static_cast<double>(b.joined)});
        if (b.joined > 0) ear.gap({first, static_cast<double>(b.joined)});
        if (steps_ > 1) ear.gap({(end_ - begin_ - first) / static_cast<double>(steps_ - 1), many * static_cast<double>(steps_ - 1)});
        last_written_ = end_;
    }
    [[nodiscard]] simulated_steps this_run() const {
        simulated_steps s{begin_, end_, steps_};
        double pages = 0;
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            s.writing += running_[i].writing, s.prompts += static_cast<std::int64_t>(running_[i].prompts.size());
            for (const prompt_chunk& c : running_[i].prompts) s.prompt_tokens += c.tokens;
            s.running += ranks_[i].running(), s.waiting += ranks_[i].waiting();
            pages += ranks_[i].pages().used() / static_cast<double>(ranks_[i].pages().all());
        }
        s.pages = pages / static_cast<double>(ranks_.size());
        return s;
    }

    std::vector<scheduler> ranks_;
    std::vector<step_batch> running_;  ///< what each rank computes
    double per_turn_;
    pipeline* through_ = nullptr;
    double waits_ = 0;  ///< for stages that others are in, and for what is sent from one to the next
    bool busy_ = false;
    double begin_ = 0, end_ = 0, last_written_ = 0;
    std::int64_t steps_ = 0, all_ = 0;  ///< of what was planned, how many are left after somebody came
    step_price first_{}, last_{};
    double joules_ = 0, busy_seconds_ = 0;
    std::int64_t steps_done_ = 0, most_new_tokens_ = 0, most_running_ = 0;
};

}  // namespace llmcost
