// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/deployment_search.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/summary.hpp>

namespace llmcost {

LLMCOST_INLINE bool evaluated_deployment::is_better_than(const evaluated_deployment& rhs) const noexcept {
    const auto key = [](const evaluated_deployment& t) {
        return std::tuple(t.devices, -t.summary.slo_attainment, t.summary.ttft.p99, t.summary.tpot.p99);
    };
    return key(*this) < key(rhs);
}

LLMCOST_INLINE void lowest_latency::offer(double other_seconds, double safety_factor, std::size_t candidate) noexcept {
    const double at_quantile = other_seconds * safety_factor;
    if (seconds > 0 && seconds_at_quantile <= at_quantile) return;
    *this = {other_seconds, at_quantile, candidate};
}

LLMCOST_INLINE deployment_search::deployment_search(const std::vector<simulated_request>& requests,
                                                    const simulation_config& config, const search_config& limits)
    : requests_(&requests), config_(config), limits_(limits), minimum_request_(requests.front()) {
    for (const simulated_request& r : requests) {
        max_length_ = std::max(max_length_, r.input_tokens + r.output_tokens);
        max_input_length_ = std::max(max_input_length_, r.input_tokens);
        minimum_request_.input_tokens = std::min(minimum_request_.input_tokens, r.input_tokens);
        minimum_request_.output_tokens = std::min(minimum_request_.output_tokens, r.output_tokens);
        minimum_request_.cached_fraction =
            std::max(minimum_request_.cached_fraction, r.prefix_blocks.empty() ? r.cached_fraction : 1);
    }
    minimum_request_.previous_request = simulated_request::no_request;
    minimum_request_.arrival_seconds = 0;
    minimum_request_.prefix_blocks.clear();
}

LLMCOST_INLINE search_result deployment_search::operator()(const std::vector<engine_option>& kinds) {
    for (std::size_t num_requests = std::min(requests_->size(), limits_.requests);;
         num_requests = std::min(requests_->size(), 4 * num_requests)) {
        use_first_requests(num_requests);
        search(kinds);
        if (verify_with_all_requests(kinds)) return result_;
    }
}

LLMCOST_INLINE void deployment_search::use_first_requests(std::size_t num_requests) {
    sample_requests_.assign(requests_->begin(), requests_->begin() + static_cast<std::ptrdiff_t>(num_requests));
    for (simulated_request& r : sample_requests_)
        if (r.previous_request != simulated_request::no_request && r.previous_request >= sample_requests_.size())
            r.previous_request = simulated_request::no_request;
    max_slo_violations_ = max_slo_violations(limits_.min_slo_attainment);
}

LLMCOST_INLINE void deployment_search::search(const std::vector<engine_option>& kinds) {
    const std::size_t num_simulations = result_.num_simulations;
    result_ = {};
    result_.num_simulations = num_simulations;
    runs_.assign(kinds.size(), {});
    const std::vector<candidate> all = candidates_of(kinds);
    for (const candidate& c : all) search_aggregated(c);
    if (limits_.allows_disaggregation)
        for (const candidate& c : all) search_disaggregated(c);
    if (result_.feasible.empty()) {
        for (std::vector<known_run>& runs : runs_)
            runs.erase(std::remove_if(runs.begin(), runs.end(), [](const known_run& r) { return r.is_stopped_early; }),
                       runs.end());
        for (const candidate& c : all) try_with_all(c);
    }
}

LLMCOST_INLINE bool deployment_search::verify_with_all_requests(const std::vector<engine_option>& kinds) {
    for (auto* list : {&result_.feasible, &result_.infeasible}) {
        if (list->size() > limits_.num_results) list->resize(limits_.num_results);
        if (sample_requests_.size() == requests_->size()) continue;
        for (evaluated_deployment& t : *list)
            t.summary =
                summarize(run(kinds[t.candidate_index], t, *requests_, no_limit), kinds[t.candidate_index].bounds);
    }
    const auto holds = [&](const evaluated_deployment& t) {
        return t.summary.slo_attainment >= limits_.min_slo_attainment;
    };
    if (!std::all_of(result_.feasible.begin(), result_.feasible.end(), holds)) return false;
    std::stable_sort(result_.feasible.begin(), result_.feasible.end(),
                     [](const evaluated_deployment& a, const evaluated_deployment& b) { return a.is_better_than(b); });
    return true;
}

LLMCOST_INLINE std::int64_t deployment_search::max_slo_violations(double share) const noexcept {
    const auto num_requests = static_cast<double>(sample_requests_.size());
    auto broken = static_cast<std::int64_t>(num_requests * (1 - share)) + 1;
    while (broken > 0 && (num_requests - static_cast<double>(broken)) / num_requests < share) --broken;
    return broken;
}

LLMCOST_INLINE std::vector<deployment_search::candidate> deployment_search::candidates_of(
    const std::vector<engine_option>& kinds) {
    std::vector<candidate> all;
    const std::size_t ways = limits_.allows_disaggregation ? 2 : 1;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const engine_option& k = kinds[i];
        const auto devices = static_cast<double>(k.engine.server->execution_config().parallel.world_size() * k.stages);
        const std::size_t num_variants = ways * k.max_num_batched_tokens_options.size() * k.max_num_seqs_options.size();
        result_.num_candidates += num_variants;
        if (devices > limits_.max_devices || !fits_kv_cache(k.engine, max_length_, k.stages)) {
            result_.num_out_of_memory += num_variants;
            continue;
        }
        for (const std::int64_t budget : k.max_num_batched_tokens_options) {
            candidate c{&k, i, k.engine.policy, devices};
            c.policy.max_num_batched_tokens = budget;
            if (!c.policy.has_chunked_prefill && max_input_length_ > budget)
                result_.num_out_of_memory += ways * k.max_num_seqs_options.size();
            else if (!single_request_meets_slo(c))
                result_.num_too_slow += ways * k.max_num_seqs_options.size();
            else
                for (const std::int64_t sequences : k.max_num_seqs_options) {
                    c.policy.max_num_seqs = sequences;
                    all.push_back(c);
                }
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const candidate& a, const candidate& b) { return a.devices < b.devices; });
    return all;
}

LLMCOST_INLINE bool deployment_search::single_request_meets_slo(const candidate& c) {
    simulation_config config = config_;
    config.num_clients = 1;
    config.num_replicas = 1;
    config.pipeline_parallel_size = c.option->stages;
    simulated_engine engine = c.option->engine;
    engine.policy = c.policy;
    const request_record alone = simulate(engine, {minimum_request_}, config).requests.front();
    const request_slo& slo = c.option->bounds;
    result_.ttft.offer(alone.time_to_first_token(), slo.ttft_safety_factor, c.number);
    result_.tpot.offer(alone.time_per_output_token(), slo.tpot_safety_factor, c.number);
    const double end_to_end = alone.end_to_end_latency();
    result_.end_to_end.offer(end_to_end, end_to_end > 0 ? slo.end_to_end_at_quantile(alone) / end_to_end : 1, c.number);
    return slo.is_met_by(alone);
}

LLMCOST_INLINE simulation_result deployment_search::run(const engine_option& k, const evaluated_deployment& t,
                                                        const std::vector<simulated_request>& requests,
                                                        std::int64_t max_broken) {
    simulated_engine engine = k.engine;
    engine.policy = t.policy;
    simulation_config config = config_;
    config.num_replicas = t.replicas;
    config.num_decode_workers = t.num_decode_workers;
    config.pipeline_parallel_size = k.stages;
    config.slo = k.bounds;
    config.max_slo_violations = max_broken;
    ++result_.num_simulations;
    return simulate(engine, requests, config);
}

LLMCOST_INLINE deployment_search::known_run deployment_search::evaluate(const candidate& c, std::int64_t replicas,
                                                                        std::int64_t writing, std::int64_t max_broken) {
    const auto per_stage = [&](std::int64_t sequences) {
        return std::max<std::int64_t>(1, sequences / c.option->stages);
    };
    simulated_engine engine = c.option->engine;
    engine.policy = c.policy;
    const std::int64_t num_blocks = kv_cache_of(engine, max_length_, c.option->stages).num_blocks;
    for (const known_run& r : runs_[c.number]) {
        const scheduling_policy& p = r.tried.policy;
        const bool tokens = p.max_num_batched_tokens == c.policy.max_num_batched_tokens ||
                            (r.new_tokens < p.max_num_batched_tokens && r.new_tokens < c.policy.max_num_batched_tokens);
        const bool sequences = p.max_num_seqs == c.policy.max_num_seqs ||
                               (r.running < per_stage(p.max_num_seqs) && r.running < per_stage(c.policy.max_num_seqs));
        const bool pages =
            r.tried.kv_cache_blocks == num_blocks || (!r.has_waited_for_pages && r.tried.kv_cache_blocks < num_blocks);
        if (r.tried.replicas == replicas && r.tried.num_decode_workers == writing && tokens && sequences && pages) {
            known_run reused_run = r;
            reused_run.tried.policy = c.policy;
            reused_run.tried.kv_cache_blocks = num_blocks;
            return reused_run;
        }
    }
    known_run r{{c.number, c.policy, replicas, writing, static_cast<double>(replicas + writing) * c.devices, {}, {}}};
    const simulation_result result =
        run(*c.option, r.tried, sample_requests_, limits_.never_stops_early ? no_limit : max_broken);
    r.is_stopped_early = result.is_stopped_early;
    r.new_tokens = result.max_batched_tokens;
    r.running = result.max_running;
    r.tried.kv_cache_blocks = num_blocks;
    r.has_waited_for_pages = result.has_waited_for_pages;
    if (!r.is_stopped_early) {
        r.tried.summary = summarize(result, c.option->bounds);
        result_.evaluated.push_back(r.tried);
    }
    runs_[c.number].push_back(r);
    return r;
}

LLMCOST_INLINE void deployment_search::keep(const evaluated_deployment& t) {
    offer(result_.feasible, t,
          [](const evaluated_deployment& a, const evaluated_deployment& b) { return a.is_better_than(b); });
}

LLMCOST_INLINE std::int64_t deployment_search::engines_worth_trying(const candidate& c, bool separated) const noexcept {
    double devices = limits_.max_devices;
    if (result_.feasible.size() >= limits_.num_results) devices = result_.feasible[limits_.num_results - 1].devices;
    for (const evaluated_deployment& t : result_.feasible)
        if (t.candidate_index == c.number && t.is_disaggregated() == separated) devices = std::min(devices, t.devices);
    return static_cast<std::int64_t>(devices / c.devices);
}

LLMCOST_INLINE void deployment_search::search_aggregated(const candidate& c) {
    const std::int64_t maximum = engines_worth_trying(c, false);
    if (maximum == 0) return void(++result_.num_exceeding_devices);
    // The scheduler limits seldom change how many engines are needed.
    const bool has_feasible = std::any_of(
        result_.feasible.begin(), result_.feasible.end(),
        [&](const evaluated_deployment& t) { return t.candidate_index == c.number && !t.is_disaggregated(); });
    std::int64_t low = 0, high = has_feasible ? maximum : 1;
    known_run best = evaluate(c, high, 0, max_slo_violations_);
    while (!meets_slo(best)) {
        if (high == maximum)
            return void(result_.num_exceeding_devices +=
                        limits_.max_devices >= static_cast<double>(maximum + 1) * c.devices);
        low = high;
        high = std::min(2 * high, maximum);
        best = evaluate(c, high, 0, max_slo_violations_);
    }
    for (std::int64_t next = has_feasible ? high - 1 : (low + high) / 2; high - low > 1; next = (low + high) / 2) {
        known_run r = evaluate(c, next, 0, max_slo_violations_);
        if (meets_slo(r)) {
            high = next;
            best = std::move(r);
        } else
            low = next;
    }
    keep(best.tried);
}

LLMCOST_INLINE void deployment_search::search_disaggregated(const candidate& c) {
    constexpr std::int64_t max_separated = 8;
    const std::int64_t maximum = std::min(engines_worth_trying(c, true), max_separated);
    if (maximum < 2) return void(++result_.num_exceeding_devices);
    const auto tries = [&](std::int64_t prompts, std::int64_t writing) {
        const known_run r = evaluate(c, prompts, writing, max_slo_violations_);
        if (meets_slo(r)) keep(r.tried);
        return meets_slo(r);
    };
    if (tries(1, 1)) return;
    std::vector<std::int64_t> prompts;  // numbers of prefill workers that suffice with the maximum of decode workers
    for (std::int64_t n = 1; n < maximum; ++n)
        if (tries(n, maximum - n)) prompts.push_back(n);
    for (std::int64_t engines = 3; engines < maximum; ++engines) {
        bool has_feasible = false;
        for (const std::int64_t n : prompts) has_feasible = (n < engines && tries(n, engines - n)) || has_feasible;
        if (has_feasible) return;  // a higher total has more devices
    }
}

LLMCOST_INLINE void deployment_search::try_with_all(const candidate& c) {
    const auto better = [](const evaluated_deployment& a, const evaluated_deployment& b) {
        return a.summary.slo_attainment > b.summary.slo_attainment;
    };
    const double minimum = result_.infeasible.size() < limits_.num_results
                               ? 0
                               : result_.infeasible[limits_.num_results - 1].summary.slo_attainment;
    const known_run r =
        evaluate(c, static_cast<std::int64_t>(limits_.max_devices / c.devices), 0, max_slo_violations(minimum));
    if (!r.is_stopped_early) offer(result_.infeasible, r.tried, better);
}

}  // namespace llmcost
