// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include <llmcost/simulation/replica.hpp>

namespace llmcost {

/// Engines side by side behind a router, or those that compute prompts before those that write.
struct cluster_plan {
    scheduling_policy policy{};
    std::int64_t pages = 1;            ///< of each rank's cache
    std::int64_t pages_per_block = 1;  ///< of a block that requests name
    std::int64_t replicas = 1;
    std::int64_t ranks = 1;     ///< of each replica: groups of sequences of their own whose steps begin together
    std::int64_t proposed = 0;  ///< tokens that are checked beside a new one
    double tokens_per_turn = 1;
    double request_seconds = 0;  ///< of host time before a request is in an engine's queue
    std::int64_t stages = 1;     ///< of devices one behind the other: as many micro-batches of an engine run at a time
    std::vector<bool> leaves_node{};  ///< of each stage but the last, whether a network lies behind it; none: links do
    router_rule router = router_rule::least;
    request_bounds bounds{};
    std::int64_t most_broken = std::numeric_limits<std::int64_t>::max();  ///< requests that may break them: then it ends
};

/// What a simulation tells.
struct simulation_result {
    std::vector<request_record> requests{};
    std::vector<simulated_steps> steps{};  ///< where they were asked for
    std::vector<token_gap> gaps{};
    double seconds = 0;  ///< from the first request to the last token
    double joules = 0;   ///< of a device, summed over the replicas, while they are busy
    double busy = 0;     ///< seconds, of all replicas
    std::int64_t preemptions = 0, engine_steps = 0;
    std::int64_t most_new_tokens = 0;  ///< of a step of a rank
    std::int64_t most_running = 0;     ///< requests on a rank
    bool given_up = false;             ///< more requests broke their bounds than may: those behind them are missing
};

/// Requests through engines: events in the order of time.
///
/// `clients` of them are sent at the beginning and each answer is followed by the next; without clients each is sent at its
/// time. Prices are those of a step (`step_price operator()(const step_batch&, double past)`).
template <class Price>
class cluster {
public:
    /// Engines that do all of it.
    cluster(const std::vector<simulated_request>& requests, std::int64_t clients, const cluster_plan& plan, Price& price)
        : requests_(requests), clients_(clients), plan_(plan), price_(&price), progress_(requests.size()) {
        add_replicas(plan, requests_, progress_);
    }
    /// Engines that compute prompts, and others that write behind them: `transfer_seconds(tokens)` lie between.
    template <class Transfer>
    cluster(const std::vector<simulated_request>& requests, std::int64_t clients, const cluster_plan& prompts, Price& price,
            const cluster_plan& writing, Price& price_of_writing, Transfer transfer_seconds)
        : requests_(requests), clients_(clients), plan_(prompts), price_(&price), price_of_writing_(&price_of_writing),
          progress_(requests.size()), handed_over_(requests), progress_behind_(requests.size()) {
        for (simulated_request& r : requests_) r.output = 1;
        for (simulated_request& r : handed_over_)
            transfers_.push_back(transfer_seconds(r.input)), r.cached = 1, r.blocks.clear();
        add_replicas(prompts, requests_, progress_);
        first_that_writes_ = replicas_.size();
        add_replicas(writing, handed_over_, progress_behind_);
    }
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;

    /// Runs all requests; `progress(done, all)` hears how many are answered.
    template <class Progress>
    [[nodiscard]] simulation_result run(bool keep_steps, Progress&& progress) {
        result_.requests.assign(requests_.size(), {});
        keep_steps_ = keep_steps;
        send_first();
        while (!result_.given_up && (!arrivals_.empty() || next_replica() < replicas_.size())) {
            const std::size_t at = next_replica();
            if (at < replicas_.size() && (arrivals_.empty() || replicas_[at].next() < arrivals_.front().time)) {
                listener ear{this, at};
                replicas_[at].advance(price_of(at), ear);
                progress(answered_, requests_.size());
            } else {
                deliver();
            }
        }
        for (const replica& r : replicas_) {
            result_.joules += r.joules(), result_.busy += r.busy_seconds(), result_.engine_steps += r.steps();
            for (const scheduler& s : r.ranks()) result_.preemptions += s.preemptions();
            result_.most_new_tokens = std::max(result_.most_new_tokens, r.most_new_tokens());
            result_.most_running = std::max(result_.most_running, r.most_running());
        }
        return std::move(result_);
    }
    [[nodiscard]] simulation_result run() {
        return run(false, [](std::size_t, std::size_t) {});
    }

private:
    struct arrival {
        double time;
        std::size_t id;
        bool writes;  ///< its prompt was computed elsewhere
        friend bool operator<(const arrival& a, const arrival& b) noexcept {  // the soonest on top of a heap
            return a.time != b.time ? a.time > b.time : a.id > b.id;
        }
    };
    struct listener {
        cluster* all;
        std::size_t at;
        void begun(std::size_t id, double now) const {
            request_record& r = all->result_.requests[id];
            if (!all->writes(at)) r.scheduled = now, r.cached = all->progress_[id].cached, r.replica = at;
        }
        void started(std::size_t id, double now) const {
            request_record& r = all->result_.requests[id];  // who is put back behind its first token has it already
            if (r.first > 0 || !(all->writes(at) || all->first_that_writes_ == none)) return;
            r.first = now;
            if (!all->plan_.bounds.begins_in_time(r)) all->break_bound();
        }
        void ended(std::size_t id, double now) const { all->ended(id, now, at); }
        void gap(token_gap g) const {
            if (g.times > 0 && (all->writes(at) || all->first_that_writes_ == none)) all->result_.gaps.push_back(g);
        }
        void ran(simulated_steps s) const {
            if (!all->keep_steps_) return;
            s.replica = at;
            all->result_.steps.push_back(s);
        }
    };
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    [[nodiscard]] bool writes(std::size_t at) const noexcept { return first_that_writes_ != none && at >= first_that_writes_; }
    [[nodiscard]] Price& price_of(std::size_t at) const noexcept { return writes(at) ? *price_of_writing_ : *price_; }
    void add_replicas(const cluster_plan& plan, const std::vector<simulated_request>& requests,
                      std::vector<request_progress>& progress) {
        scheduling_policy policy = plan.policy;
        if (plan.stages > 1)  // a micro-batch is composed when its tokens are back; all of them share requests and cache
            policy.steps_ahead = 0, policy.sequences = std::max<std::int64_t>(1, policy.sequences / plan.stages);
        for (std::int64_t i = 0; i < plan.replicas * plan.stages; ++i) {
            if (plan.stages > 1 && i % plan.stages == 0) pipelines_.emplace_back(plan.stages, plan.leaves_node);
            std::vector<scheduler> ranks;
            for (std::int64_t k = 0; k < plan.ranks; ++k)
                ranks.emplace_back(policy, std::max<std::int64_t>(1, plan.pages / plan.stages), plan.pages_per_block,
                                   requests, progress, plan.proposed, plan.tokens_per_turn);
            replicas_.emplace_back(std::move(ranks), plan.tokens_per_turn, plan.stages > 1 ? &pipelines_.back() : nullptr);
        }
    }
    struct place {
        std::size_t replica, rank;
    };
    /// By prefixes: where engines have about as much to do (at most 64 requests more than the least, or half as many again),
    /// the one that has most of the prompt in its cache, if that is 0.3 of it, else the one whose cache has fewest blocks;
    /// where they have not, the one with least to do (SGLang's router, sgl-model-gateway, policies/cache_aware.rs).
    [[nodiscard]] place route(std::size_t id, std::size_t begin, std::size_t end) const {
        place least{begin, 0}, longest = least, emptiest = least;
        std::int64_t most_cached = -1, fewest = 0, lowest = 0, highest = 0;
        std::size_t blocks = 0;
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t k = 0; k < replicas_[i].ranks().size(); ++k) {
                const scheduler& s = replicas_[i].ranks()[k];
                const bool first = i == begin && k == 0;
                const std::int64_t cached = s.cached_tokens(requests_[id]), requests = s.waiting() + s.running();
                if (first || replicas_[i].score(k) < fewest) fewest = replicas_[i].score(k), least = {i, k};
                if (cached > most_cached) most_cached = cached, longest = {i, k};
                if (first || s.pages().named() < blocks) blocks = s.pages().named(), emptiest = {i, k};
                lowest = first ? requests : std::min(lowest, requests), highest = std::max(highest, requests);
            }
        const bool uneven = highest - lowest > 64 && static_cast<double>(highest) > 1.5 * static_cast<double>(lowest);
        if (uneven || requests_[id].blocks.empty()) return least;
        return static_cast<double>(most_cached) > 0.3 * static_cast<double>(requests_[id].input) ? longest : emptiest;
    }
    /// The engine with least to do, and in it the rank with least.
    [[nodiscard]] place least_of(std::size_t begin, std::size_t end) const noexcept {
        place to{begin, 0};
        for (std::size_t i = begin + 1; i < end; ++i)
            if (replicas_[i].load() < replicas_[to.replica].load()) to.replica = i;
        for (std::size_t k = 1; k < replicas_[to.replica].ranks().size(); ++k)
            if (replicas_[to.replica].score(k) < replicas_[to.replica].score(to.rank)) to.rank = k;
        return to;
    }
    [[nodiscard]] std::size_t next_replica() const noexcept {
        std::size_t soonest = none;
        double time = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < replicas_.size(); ++i)
            if (replicas_[i].next() < time) time = replicas_[i].next(), soonest = i;
        return soonest;
    }
    void break_bound() noexcept {
        if (++broken_ > plan_.most_broken) result_.given_up = true;
    }
    void come(arrival a) {
        arrivals_.push_back(a);
        std::push_heap(arrivals_.begin(), arrivals_.end());
    }
    void send(std::size_t id, double now) {
        result_.requests[id].sent = now;
        come({now + plan_.request_seconds, id, false});
    }
    void send_first() {
        followers_.assign(requests_.size(), {});
        for (std::size_t i = 0; i < requests_.size(); ++i)
            if (requests_[i].after != simulated_request::nobody) followers_[requests_[i].after].push_back(i);
        if (clients_ > 0)
            for (std::int64_t i = 0; i < clients_; ++i) send_next(0);
        else
            for (std::size_t i = 0; i < requests_.size(); ++i)
                if (requests_[i].after == simulated_request::nobody) send(i, requests_[i].at);
    }
    /// A client sends the next request that waits for no answer of its own.
    void send_next(double now) {
        while (unsent_ < requests_.size() && requests_[unsent_].after != simulated_request::nobody) ++unsent_;
        if (unsent_ < requests_.size()) send(unsent_++, now);
    }
    void deliver() {
        const double now = arrivals_.front().time;
        while (!arrivals_.empty() && arrivals_.front().time == now) {
            const arrival a = arrivals_.front();
            std::pop_heap(arrivals_.begin(), arrivals_.end());
            arrivals_.pop_back();
            if (!a.writes) result_.requests[a.id].queued = now;
            const std::size_t begin = a.writes ? first_that_writes_ : 0;
            const std::size_t end = a.writes || first_that_writes_ == none ? replicas_.size() : first_that_writes_;
            const place to = plan_.router == router_rule::prefix ? route(a.id, begin, end) : least_of(begin, end);
            replicas_[to.replica].arrive(a.id, now, to.rank);
        }
        for (std::size_t i = 0; i < replicas_.size(); ++i) replicas_[i].wake(now, price_of(i));
    }
    void ended(std::size_t id, double now, std::size_t at) {
        if (first_that_writes_ != none && !writes(at)) {
            come({now + transfers_[id], id, true});
            return;
        }
        request_record& r = result_.requests[id];
        r.last = now, r.input = requests_[id].input;
        r.output = (first_that_writes_ == none ? requests_ : handed_over_)[id].output;
        r.preempted = progress_[id].preempted + (writes(at) ? progress_behind_[id].preempted : 0);
        result_.seconds = std::max(result_.seconds, now);
        ++answered_;
        if (plan_.bounds.begins_in_time(r) && !plan_.bounds.holds(r)) break_bound();  // else it did at its first token
        for (const std::size_t next : followers_[id]) send(next, now + requests_[next].at);
        if (clients_ > 0 && followers_[id].empty()) send_next(now);
    }

    std::vector<simulated_request> requests_;
    std::int64_t clients_;
    cluster_plan plan_;
    Price* price_;
    Price* price_of_writing_ = nullptr;
    std::vector<request_progress> progress_;
    std::vector<simulated_request> handed_over_;
    std::vector<request_progress> progress_behind_;  ///< of those
    std::vector<double> transfers_;
    std::deque<pipeline> pipelines_;
    std::vector<replica> replicas_;
    std::size_t first_that_writes_ = none;
    std::vector<arrival> arrivals_;  ///< a heap
    std::vector<std::vector<std::size_t>> followers_;
    std::size_t unsent_ = 0, answered_ = 0;
    std::int64_t broken_ = 0;
    bool keep_steps_ = false;
    simulation_result result_;
};

}  // namespace llmcost
