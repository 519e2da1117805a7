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

#include <llmcost/simulation/admission.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

/// The queue and the running requests of an engine on one group of devices: composes its steps by a policy.
class scheduler : admission {
public:
    /// `pages` of the cache; each turn writes `tokens_per_turn` tokens for a sequence, of `1 + proposed` that it computes.
    scheduler(const scheduling_policy& how, std::int64_t pages, std::int64_t pages_per_block,
              const std::vector<simulated_request>& requests, std::vector<request_progress>& progress,
              std::int64_t proposed = 0, double tokens_per_turn = 1)
        : admission(how, pages, pages_per_block, requests, progress, tokens_per_turn), proposed_(proposed) {}

    [[nodiscard]] const scheduling_policy& policy() const noexcept { return how_; }
    [[nodiscard]] const cache_pages& pages() const noexcept { return pages_; }
    [[nodiscard]] std::int64_t waiting() const noexcept { return static_cast<std::int64_t>(waiting_.size()); }
    /// Requests that hold some of the cache.
    [[nodiscard]] std::int64_t running() const noexcept { return running_; }
    [[nodiscard]] std::int64_t preemptions() const noexcept { return preemptions_; }
    /// Whether someone who comes now could be in a step before anybody leaves.
    [[nodiscard]] bool open() const noexcept { return !full_ && waiting_.empty(); }
    /// Tokens of a prompt that are in the cache.
    [[nodiscard]] std::int64_t cached_tokens(const simulated_request& r) const {
        return is_named(r) ? pages_.held(r.blocks) * pages_.per_block() * how_.block : 0;
    }
    /// Pages that a request needs at its longest.
    [[nodiscard]] std::int64_t pages_at_most(const simulated_request& r) const noexcept {
        return pages_of(r.input + r.output - 1);
    }

    /// New tokens of a step.
    [[nodiscard]] std::int64_t new_tokens_of(const step_batch& b) const noexcept {
        std::int64_t tokens = b.writing * (1 + proposed_);
        for (const prompt_chunk& c : b.prompts) tokens += c.tokens;
        return tokens;
    }

    /// A request comes at a time.
    void arrive(std::size_t id, double now) {
        request_progress& p = (*progress_)[id];
        p.since = now, p.wanted = (*requests_)[id].input, p.at = place::waiting;
        waiting_.push_back(id);
    }

    /// Composes the next step of those that came until then; valid until the next call.
    [[nodiscard]] step_batch& compose(double visible_until) {
        batch_.steps = batch_.writing = batch_.joined = 0, batch_.past = 0;
        batch_.prompts.clear(), batch_.begun.clear(), batch_.started.clear(), batch_.ended.clear();
        claimed_ = 0, preempted_now_ = false, ends_.clear();
        if (how_.steps == step_rule::prompts_first) {
            const std::int64_t ran = writing_ + held_, mixed = how_.mixes_chunks ? ran : 0;
            if (!holds_back(visible_until)) add_prompts(how_.tokens_per_step - mixed, mixed, visible_until);
            if (batch_.prompts.empty())
                add_writers();
            else if (mixed > 0 && growth(turns_, 1) <= pages_.available())
                count_writers();
            if (ran == 0 || (batch_.writing > 0 && !batch_.prompts.empty()))
                full_ = false;  // that there is no room is held against a batch that others are merged into
        } else {
            add_writers();
            if (!preempted_now_ && !holds_back(visible_until))
                add_prompts(how_.tokens_per_step - batch_.writing * (1 + proposed_), 0, visible_until);
        }
        ++batches_;
        if (batch_.writing == 0 && batch_.prompts.empty()) {
            if (running_ == 0 && waiting_.empty()) share_ = how_.output_share;
            return wrote_ = false, batch_;
        }
        wrote_ = batch_.writing > 0;
        batch_.steps = batch_.prompts.empty() ? alike(visible_until) : 1;
        turn();
        return batch_;
    }
    /// What those that ended held can be had again.
    void release(const std::vector<std::size_t>& ended) {
        for (const std::size_t id : ended)
            if ((*progress_)[id].at == place::ended) put_down(id), --held_;
        if (!ended.empty()) full_ = false;
    }

    /// Cuts the steps of the batch that was composed last: someone came who may be in the next one.
    void cut(step_batch& batch, std::int64_t steps) {
        const std::int64_t undone = batch.steps - steps;
        turns_ -= undone, batch.steps = steps;
        share_ = fallen(share_before_, falls(steps));
        for (const std::size_t id : batch.ended) {
            request_progress& p = (*progress_)[id];
            if (p.ends <= turns_) continue;
            p.pages -= grown(p, p.ends);
            enter(id, p.ends);
        }
        held_ -= static_cast<std::int64_t>(batch.ended.size());
        batch.ended.erase(std::remove_if(batch.ended.begin(), batch.ended.end(),
                                         [&](std::size_t id) { return (*progress_)[id].ends > turns_; }),
                          batch.ended.end());
        held_ += static_cast<std::int64_t>(batch.ended.size());
        pages_.give_back(growth(turns_, undone));
    }

private:
    static constexpr std::int64_t most_steps_alike = 128;

    // ---- those that write

    /// It has written its last token in the turn that it was to end in.
    void end(std::size_t id) {
        request_progress& p = (*progress_)[id];
        leave(id);
        p.pages += grown(p, p.ends), p.at = place::ended;
        batch_.ended.push_back(id);
    }
    /// Puts all that write into the step, once there is room for what they write.
    void add_writers() {
        const bool takes_the_newest = how_.preempts == preemption_rule::newest;
        if (!takes_the_newest && held_ > 0 && growth(turns_, 1) > pages_.available()) return;  // until those give theirs back
        while (writing_ > 0 && growth(turns_, 1) > pages_.available() && (takes_the_newest ? running_ : writing_) > 1)
            preempt(victim());
        if (preempted_now_ && !takes_the_newest) share_ = share_behind_preemption();
        count_writers();
    }
    void count_writers() {
        batch_.writing = writing_, batch_.joined = joined_, claimed_ = growth(turns_, 1);
        if (writing_ > 0)
            batch_.past = past_ / static_cast<double>(writing_) + static_cast<double>(turns_) * per_turn_;
    }
    [[nodiscard]] std::size_t victim() {
        tidy();
        if (how_.preempts == preemption_rule::newest) return order_.back().id;
        const admitted* least = nullptr;  // of the fewest outputs, then the longest prompt, then the newest
        for (const admitted& a : order_) {
            if ((*progress_)[a.id].at != place::writes) continue;
            if (least == nullptr || handled(a.id) < handled(least->id) ||
                (handled(a.id) == handled(least->id) && (*requests_)[a.id].input >= (*requests_)[least->id].input))
                least = &a;
        }
        return least->id;
    }
    void preempt(std::size_t id) {
        request_progress& p = (*progress_)[id];
        ++p.preempted, ++preemptions_, preempted_now_ = true, full_ = false;
        if (p.at == place::ended) return put_down(id), void(--held_);  // its last token is on its way
        if (p.at == place::writes) {
            p.written = how_.preempts == preemption_rule::newest ? written(id) : handled(id);
            leave(id);
        } else {
            partial_.erase(std::find(partial_.begin(), partial_.end(), id));
        }
        put_down(id);
        p.wanted = (*requests_)[id].input + p.written, p.computed = 0;
        p.at = place::waiting;
        if (how_.preempts == preemption_rule::newest)
            waiting_.push_front(id);
        else
            waiting_.push_back(id);
    }
    /// Gives back all that a request holds.
    void put_down(std::size_t id) {
        request_progress& p = (*progress_)[id];
        pages_.give_back(p.pages + (p.at == place::writes ? grown(p, turns_) : 0));
        if (is_named((*requests_)[id])) pages_.unpin((*requests_)[id].blocks);
        p.pages = 0, p.at = place::outside, ++p.life, --running_;
    }
    // ---- prompts

    /// Whether prompts wait for others while someone writes.
    [[nodiscard]] bool holds_back(double visible_until) {
        if (how_.waits == 0 || writing_ == 0 || waiting_.empty() || (*progress_)[waiting_.front()].since > visible_until)
            return false;
        if (waited_ < how_.waits) return ++waited_, true;
        waited_ = 0;
        return false;
    }
    /// `mixed` tokens of the step are of those that write.
    void add_prompts(std::int64_t budget, std::int64_t mixed, double visible_until) {
        std::int64_t of_prompts = how_.prompt_tokens > 0 ? how_.prompt_tokens - mixed : budget;
        const bool foresees = how_.admits == admission_rule::expected_output;
        if (foresees && !partial_.empty()) full_ = false;
        if (foresees && full_) return;
        double foreseen = foresees ? still_to_write() + static_cast<double>(mixed) : 0;
        for (std::size_t i = 0; i < partial_.size(); ++i) {
            if (budget <= 0) return;
            const std::size_t id = partial_[i];
            const request_progress& p = (*progress_)[id];
            std::int64_t n = std::min(p.wanted - p.computed, budget);
            if (foresees) n = std::min(n, room_for_chunk(foreseen, n));
            if (how_.steps == step_rule::mixed && !make_room(id, p.computed + n)) return;
            compute(id, n);
            budget -= n, of_prompts -= n;
            if (foresees) foreseen += foreseen_behind(id);
        }
        if (preempted_now_) return;
        while (!waiting_.empty() && budget > 0 && of_prompts > 0) {
            const std::size_t id = waiting_.front();
            request_progress& p = (*progress_)[id];
            if (p.since > visible_until) return;
            if (running_ >= how_.sequences) return void(full_ = true);
            const simulated_request& r = (*requests_)[id];
            const std::int64_t hit = found(r), left = p.wanted - hit;
            if (!how_.chunked && left > budget && (batch_.writing > 0 || !batch_.prompts.empty())) return;
            if (!has_room(id, foreseen)) return void(full_ = true);
            waiting_.pop_front();
            admit(id, hit);
            const std::int64_t n = how_.chunked ? std::min(left, budget) : left;
            if (n < left) partial_.push_back(id);
            compute(id, n);
            budget -= n, of_prompts -= n;
            if (!foresees) continue;
            foreseen += foreseen_behind(id);
            if (room(foreseen) <= 0) return void(full_ = true);
        }
    }
    /// Has the newest give their pages to the next chunk of a prompt; whether it is not among them itself.
    [[nodiscard]] bool make_room(std::size_t id, std::int64_t computed) {
        const auto needed = static_cast<double>(own_pages(id, computed)) - (*progress_)[id].pages;
        while (needed > pages_.available() - claimed_ && running_ > 1) {
            const std::size_t other = victim();
            preempt(other);
            if (other == id) return false;
            count_writers();
        }
        return true;
    }
    void admit(std::size_t id, std::int64_t hit) {
        request_progress& p = (*progress_)[id];
        if (is_named((*requests_)[id])) pages_.pin((*requests_)[id].blocks);
        p.computed = hit, p.at = place::prompt;
        if (p.preempted == 0) p.cached = hit, batch_.begun.push_back(id);
        order_.push_back({id, p.life}), ++running_;
    }
    void compute(std::size_t id, std::int64_t tokens) {
        request_progress& p = (*progress_)[id];
        batch_.prompts.push_back({tokens, p.computed});
        p.computed += tokens;
        const auto pages = static_cast<double>(own_pages(id, p.computed));
        pages_.take(pages - p.pages);
        p.pages = pages;
        if (p.computed == p.wanted) finished_.push_back(id);
    }

    // ---- time

    /// Steps that are alike: until someone ends, has no room, or may come in.
    [[nodiscard]] std::int64_t alike(double visible_until) {
        std::int64_t steps = std::min(most_steps_alike, next_ending() - turns_);
        if (!waiting_.empty() && (!full_ || held_ > 0)) steps = 1;
        if (how_.waits > 0 && !waiting_.empty() && (*progress_)[waiting_.front()].since <= visible_until) steps = 1;
        while (steps > 1 && growth(turns_, steps) > pages_.available()) steps = steps / 2;
        return steps;
    }
    /// All that the batch does is done.
    void turn() {
        if (batch_.writing > 0) {
            pages_.take(growth(turns_, batch_.steps));
            turns_ += batch_.steps;
            share_before_ = share_;
            if (batch_.prompts.empty()) share_ = fallen(share_, falls(batch_.steps));
            joined_ = 0;
            while (writing_ > 0 && next_ending() <= turns_) end(pop_ending());
        }
        for (const std::size_t id : finished_) {
            request_progress& p = (*progress_)[id];
            if (const auto at = std::find(partial_.begin(), partial_.end(), id); at != partial_.end()) partial_.erase(at);
            const std::int64_t more = (*requests_)[id].output - p.written - 1;
            p.joined = batches_;
            if (p.written == 0) batch_.started.push_back(id);
            if (more <= 0) {
                p.at = place::ended, batch_.ended.push_back(id);
                continue;
            }
            p.entered = turns_, ++joined_;
            enter(id, turns_ + static_cast<std::int64_t>(std::ceil(static_cast<double>(more) / per_turn_ - 1e-9)));
        }
        finished_.clear();
        held_ += static_cast<std::int64_t>(batch_.ended.size());
    }

    std::int64_t proposed_;
    std::deque<std::size_t> waiting_;
    std::vector<std::size_t> partial_;   ///< whose prompt is computed in part
    std::vector<std::size_t> finished_;  ///< prompts of the batch that is composed
    std::int64_t joined_ = 0, waited_ = 0, preemptions_ = 0;
    std::int64_t held_ = 0;  ///< that ended, and hold their pages until they are released
    bool full_ = false;
};

}  // namespace llmcost
