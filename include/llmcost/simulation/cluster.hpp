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

#include <llmcost/base/count.hpp>
#include <llmcost/memory/block_pool.hpp>
#include <llmcost/simulation/prefix_tiers.hpp>
#include <llmcost/simulation/replica.hpp>

namespace llmcost {

/// Configuration of equal engine replicas with a router, or of the prefill or decode workers of a disaggregated setup.
struct cluster_config {
    scheduling_policy policy{};
    std::int64_t num_pages = 1;          ///< of the KV cache of each rank
    request_blocks pages_of_request{};   ///< pages by length; default: one per `policy.page_size` tokens
    std::int64_t pages_per_block = 1;    ///< per prefix block, in units of `pages_of_request`
    std::int64_t tokens_per_block = 0;   ///< per prefix block; 0: those of its pages
    std::vector<kv_cache_tier> tiers{};  ///< memory of each rank for prefix blocks, below that of the device
    std::int64_t replicas = 1;
    std::int64_t data_parallel_size = 1;  ///< ranks of each replica, whose steps begin together
    std::int64_t num_draft_tokens = 0;    ///< draft tokens per request and step
    double tokens_per_step = 1;
    double host_seconds_per_request = 0;       ///< host time before a request enters the waiting queue of an engine
    double host_seconds_per_prompt_token = 0;  ///< host time per prompt token, before the waiting queue
    std::int64_t pipeline_parallel_size = 1;   ///< stages; an engine runs as many microbatches at a time
    std::vector<bool>
        crosses_node{};  ///< for each stage except the last, whether a network connects it to the next; empty: links
    routing_policy router = routing_policy::least_loaded;
    request_slo slo{};
    std::int64_t max_slo_violations =
        std::numeric_limits<std::int64_t>::max();  ///< the simulation stops when more requests violate the SLO
};

/// The steps of engines, summed over replicas.
struct simulated_work {
    double joules = 0;        ///< of one device of each replica
    double busy_seconds = 0;  ///< duration of the steps
};

/// The result of a simulation.
struct simulation_result {
    std::vector<request_record> requests{};
    std::vector<simulated_steps> steps{};  ///< empty unless requested
    std::vector<token_gap> gaps{};
    double seconds = 0;            ///< from the first request to the last token
    simulated_work work{};         ///< of all replicas, or of prefill workers
    simulated_work decode_work{};  ///< of decode workers
    std::int64_t num_preemptions = 0, engine_steps = 0;
    std::int64_t max_batched_tokens = 0;  ///< maximum new tokens of a step of a rank
    std::int64_t max_running = 0;         ///< maximum running requests of a rank
    count kv_cache_bytes{};               ///< of each rank; set by `simulate`
    std::int64_t kv_cache_blocks = 0;     ///< of each rank; set by `simulate`
    bool has_waited_for_pages = false;    ///< the KV cache has limited a rank
    bool is_stopped_early =
        false;  ///< more than `max_slo_violations` requests violate the SLO; later requests are missing
};

/// Event-driven simulation of requests on one or several engine replicas.
///
/// With `clients` above 0, each client sends its next request when the previous one completes.
/// Otherwise each request is sent at its arrival time.
/// `Price` returns the cost of a step: `simulated_step_cost operator()(const step_batch&, double mean_decode_length)`.
template <class Price>
class cluster {
public:
    /// Aggregated: every replica runs prefill and decode.
    cluster(const std::vector<simulated_request>& requests, std::int64_t clients, const cluster_config& plan,
            Price& price)
        : requests_(requests), num_clients_(clients), plan_(plan), price_(&price), progress_(requests.size()) {
        add_replicas(plan, {requests_, progress_});
    }
    /// Disaggregated: prefill workers, then decode workers after a transfer of `transfer_seconds(tokens)`.
    template <class Transfer>
    cluster(const std::vector<simulated_request>& requests, std::int64_t clients, const cluster_config& prompts,
            Price& price, const cluster_config& writing, Price& price_of_writing, Transfer transfer_seconds)
        : requests_(requests),
          num_clients_(clients),
          plan_(prompts),
          price_(&price),
          decode_price_(&price_of_writing),
          progress_(requests.size()),
          transferred_requests_(requests),
          decode_progress_(requests.size()) {
        for (simulated_request& r : requests_) r.output_tokens = 1;
        for (simulated_request& r : transferred_requests_) {
            transfers_.push_back(transfer_seconds(r.input_tokens));
            r.cached_fraction = 1;
            r.prefix_blocks.clear();
            r.output_blocks.clear();
        }
        add_replicas(prompts, {requests_, progress_});
        first_decode_replica_ = replicas_.size();
        add_replicas(writing, {transferred_requests_, decode_progress_});
    }
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;

    /// Runs all requests. Calls `progress(completed, total)` after every run of steps.
    template <class Progress>
    [[nodiscard]] simulation_result run(bool keep_steps, Progress&& progress) {
        result_.requests.assign(requests_.size(), {});
        keep_steps_ = keep_steps;
        send_first();
        while (!result_.is_stopped_early && (!arrivals_.empty() || next_replica() < replicas_.size())) {
            const std::size_t replica_index = next_replica();
            if (replica_index < replicas_.size() &&
                (arrivals_.empty() || replicas_[replica_index].next_completion() < arrivals_.front().time)) {
                listener listener{this, replica_index};
                replicas_[replica_index].advance(price_of(replica_index), listener);
                progress(num_completed_, requests_.size());
            } else {
                process_arrivals();
            }
        }
        for (std::size_t i = 0; i < replicas_.size(); ++i) {
            const replica& r = replicas_[i];
            simulated_work& work = is_decode_worker(i) ? result_.decode_work : result_.work;
            work.joules += r.joules();
            work.busy_seconds += r.busy_seconds();
            result_.engine_steps += r.steps();
            for (const scheduler& s : r.ranks()) {
                result_.num_preemptions += s.num_preemptions();
                result_.has_waited_for_pages = result_.has_waited_for_pages || s.has_waited_for_pages();
            }
            result_.max_batched_tokens = std::max(result_.max_batched_tokens, r.max_batched_tokens());
            result_.max_running = std::max(result_.max_running, r.max_running());
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
        bool is_decode_only;  ///< the prefill ran on another worker
        friend bool operator<(const arrival& a,
                              const arrival& b) noexcept {  // the top of a heap is the earliest arrival
            return a.time != b.time ? a.time > b.time : a.id > b.id;
        }
    };
    struct listener {
        cluster* all;
        std::size_t replica_index;
        void on_scheduled(std::size_t id, double now) const {
            request_record& r = all->result_.requests[id];
            if (!all->is_decode_worker(replica_index)) {
                r.scheduled_seconds = now;
                r.num_cached_tokens = all->progress_[id].num_cached_tokens;
                r.num_loaded_tokens = all->progress_[id].num_loaded_tokens;
                r.replica = replica_index;
            }
        }
        void started(std::size_t id, double now) const {
            request_record& r =
                all->result_.requests[id];  // set before if the request was preempted after its first token
            if (r.first_token_seconds > 0 ||
                !(all->is_decode_worker(replica_index) || all->first_decode_replica_ == none))
                return;
            r.first_token_seconds = now;
            if (!all->plan_.slo.meets_ttft(r)) all->record_slo_violation();
        }
        void on_finished(std::size_t id, double now) const { all->finish_request(id, now, replica_index); }
        void gap(token_gap g) const {
            if (g.num_gaps > 0 && (all->is_decode_worker(replica_index) || all->first_decode_replica_ == none))
                all->result_.gaps.push_back(g);
        }
        void ran(simulated_steps s) const {
            if (!all->keep_steps_) return;
            s.replica = replica_index;
            all->result_.steps.push_back(s);
        }
    };
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    [[nodiscard]] bool is_decode_worker(std::size_t replica_index) const noexcept {
        return first_decode_replica_ != none && replica_index >= first_decode_replica_;
    }
    [[nodiscard]] Price& price_of(std::size_t replica_index) const noexcept {
        return is_decode_worker(replica_index) ? *decode_price_ : *price_;
    }
    void add_replicas(const cluster_config& plan, request_table table) {
        scheduling_policy policy = plan.policy;
        if (plan.pipeline_parallel_size >
            1)  // the next microbatch needs the tokens of the previous one; all share the requests and the cache
        {
            policy.num_async_steps = 0;
            policy.max_num_seqs = std::max<std::int64_t>(1, policy.max_num_seqs / plan.pipeline_parallel_size);
        }
        for (std::int64_t i = 0; i < plan.replicas * plan.pipeline_parallel_size; ++i) {
            if (plan.pipeline_parallel_size > 1 && i % plan.pipeline_parallel_size == 0)
                pipelines_.emplace_back(plan.pipeline_parallel_size, plan.crosses_node);
            std::deque<scheduler> ranks;
            for (std::int64_t k = 0; k < plan.data_parallel_size; ++k)
                ranks.emplace_back(policy, std::max<std::int64_t>(1, plan.num_pages / plan.pipeline_parallel_size),
                                   plan.pages_per_block, table, plan.num_draft_tokens, plan.tokens_per_step,
                                   plan.pages_of_request, plan.tokens_per_block, plan.tiers);
            replicas_.emplace_back(std::move(ranks), plan.tokens_per_step,
                                   plan.pipeline_parallel_size > 1 ? &pipelines_.back() : nullptr);
        }
    }
    struct place {
        std::size_t replica, rank;
    };
    /// Prefix-aware routing.
    ///
    /// The load is uneven if the highest number of requests exceeds the lowest by more than 64 and by more than half.
    /// An uneven load selects the least loaded rank. Otherwise the longest prefix-cache match is selected if it covers
    /// more than 0.3 of the prompt. Otherwise the rank with the fewest cached blocks is selected.
    /// Source: sglang, sgl-model-gateway, policies/cache_aware.rs.
    [[nodiscard]] place route(std::size_t id, std::size_t begin, std::size_t end) const {
        place minimum{begin, 0}, longest = minimum, emptiest = minimum;
        std::int64_t max_cached = -1, fewest = 0, lowest = 0, highest = 0;
        std::size_t blocks = 0;
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t k = 0; k < replicas_[i].ranks().size(); ++k) {
                const scheduler& s = replicas_[i].ranks()[k];
                const bool first = i == begin && k == 0;
                const std::int64_t cached = s.num_cached_prompt_tokens(requests_[id]),
                                   requests = s.num_waiting() + s.num_running();
                if (first || replicas_[i].load_of_rank(k) < fewest) {
                    fewest = replicas_[i].load_of_rank(k);
                    minimum = {i, k};
                }
                if (cached > max_cached) {
                    max_cached = cached;
                    longest = {i, k};
                }
                if (first || s.kv_cache().num_prefix_blocks() < blocks) {
                    blocks = s.kv_cache().num_prefix_blocks();
                    emptiest = {i, k};
                }
                lowest = first ? requests : std::min(lowest, requests);
                highest = std::max(highest, requests);
            }
        const bool uneven = highest - lowest > 64 && static_cast<double>(highest) > 1.5 * static_cast<double>(lowest);
        if (uneven || requests_[id].prefix_blocks.empty()) return minimum;
        return static_cast<double>(max_cached) > 0.3 * static_cast<double>(requests_[id].input_tokens) ? longest
                                                                                                       : emptiest;
    }
    /// The least loaded replica, and its least loaded rank.
    [[nodiscard]] place least_loaded_of(std::size_t begin, std::size_t end) const noexcept {
        place to{begin, 0};
        for (std::size_t i = begin + 1; i < end; ++i)
            if (replicas_[i].num_weighted_requests() < replicas_[to.replica].num_weighted_requests()) to.replica = i;
        for (std::size_t k = 1; k < replicas_[to.replica].ranks().size(); ++k)
            if (replicas_[to.replica].load_of_rank(k) < replicas_[to.replica].load_of_rank(to.rank)) to.rank = k;
        return to;
    }
    [[nodiscard]] std::size_t next_replica() const noexcept {
        std::size_t soonest = none;
        double time = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < replicas_.size(); ++i)
            if (replicas_[i].next_completion() < time) {
                time = replicas_[i].next_completion();
                soonest = i;
            }
        return soonest;
    }
    void record_slo_violation() noexcept {
        if (++num_slo_violations_ > plan_.max_slo_violations) result_.is_stopped_early = true;
    }
    void enqueue_arrival(arrival a) {
        arrivals_.push_back(a);
        std::push_heap(arrivals_.begin(), arrivals_.end());
    }
    void dispatch(std::size_t id, double now) {
        result_.requests[id].sent_seconds = now;
        const double tokenizer_seconds =
            plan_.host_seconds_per_prompt_token * static_cast<double>(requests_[id].input_tokens);
        enqueue_arrival({now + plan_.host_seconds_per_request + tokenizer_seconds, id, false});
    }
    void send_first() {
        followers_.assign(requests_.size(), {});
        for (std::size_t i = 0; i < requests_.size(); ++i)
            if (requests_[i].previous_request != simulated_request::no_request)
                followers_[requests_[i].previous_request].push_back(i);
        if (num_clients_ > 0)
            for (std::int64_t i = 0; i < num_clients_; ++i) send_next(0);
        else
            for (std::size_t i = 0; i < requests_.size(); ++i)
                if (requests_[i].previous_request == simulated_request::no_request)
                    dispatch(i, requests_[i].arrival_seconds);
    }
    /// Sends the next request that does not follow another one in a conversation.
    void send_next(double now) {
        while (next_unsent_ < requests_.size() &&
               requests_[next_unsent_].previous_request != simulated_request::no_request)
            ++next_unsent_;
        if (next_unsent_ < requests_.size()) dispatch(next_unsent_++, now);
    }
    void process_arrivals() {
        const double now = arrivals_.front().time;
        while (!arrivals_.empty() && arrivals_.front().time == now) {
            const arrival a = arrivals_.front();
            std::pop_heap(arrivals_.begin(), arrivals_.end());
            arrivals_.pop_back();
            if (!a.is_decode_only) result_.requests[a.id].queued_seconds = now;
            const std::size_t begin = a.is_decode_only ? first_decode_replica_ : 0;
            const std::size_t end =
                a.is_decode_only || first_decode_replica_ == none ? replicas_.size() : first_decode_replica_;
            const place to =
                plan_.router == routing_policy::prefix_aware ? route(a.id, begin, end) : least_loaded_of(begin, end);
            replicas_[to.replica].add_request(a.id, now, to.rank);
        }
        for (std::size_t i = 0; i < replicas_.size(); ++i) replicas_[i].start_if_idle(now, price_of(i));
    }
    void finish_request(std::size_t id, double now, std::size_t replica_index) {
        if (first_decode_replica_ != none && !is_decode_worker(replica_index)) {
            enqueue_arrival({now + transfers_[id], id, true});
            return;
        }
        request_record& r = result_.requests[id];
        r.last_token_seconds = now;
        r.input = requests_[id].input_tokens;
        r.output = (first_decode_replica_ == none ? requests_ : transferred_requests_)[id].output_tokens;
        r.num_preemptions = progress_[id].num_preemptions +
                            (is_decode_worker(replica_index) ? decode_progress_[id].num_preemptions : 0);
        result_.seconds = std::max(result_.seconds, now);
        ++num_completed_;
        if (plan_.slo.meets_ttft(r) && !plan_.slo.is_met_by(r))
            record_slo_violation();  // a violation of TTFT is recorded at the first token
        for (const std::size_t next : followers_[id]) dispatch(next, now + requests_[next].arrival_seconds);
        if (num_clients_ > 0 && followers_[id].empty()) send_next(now);
    }

    std::vector<simulated_request> requests_;
    std::int64_t num_clients_;
    cluster_config plan_;
    Price* price_;
    Price* decode_price_ = nullptr;
    std::vector<request_progress> progress_;
    std::vector<simulated_request> transferred_requests_;
    std::vector<request_progress> decode_progress_;  ///< progress of `transferred_requests_`
    std::vector<double> transfers_;
    std::deque<pipeline> pipelines_;
    std::vector<replica> replicas_;
    std::size_t first_decode_replica_ = none;
    std::vector<arrival> arrivals_;  ///< a heap
    std::vector<std::vector<std::size_t>> followers_;
    std::size_t next_unsent_ = 0, num_completed_ = 0;
    std::int64_t num_slo_violations_ = 0;
    bool keep_steps_ = false;
    simulation_result result_;
};

}  // namespace llmcost
