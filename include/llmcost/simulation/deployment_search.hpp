// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/simulation/simulate.hpp>

// Searches for the deployment with the fewest devices that meets an SLO under a workload.
namespace llmcost {

/// A simulated deployment.
struct evaluated_deployment {
    std::size_t candidate_index = 0;  ///< index into the engine options
    scheduling_policy policy{};
    std::int64_t replicas = 1, num_decode_workers = 0;
    double devices = 1;
    simulation_summary summary{};

    [[nodiscard]] std::int64_t num_engines() const noexcept { return replicas + num_decode_workers; }
    [[nodiscard]] bool is_disaggregated() const noexcept { return num_decode_workers > 0; }
    /// Orders by fewer devices, then higher SLO attainment, then lower TTFT, then lower TPOT (99th percentiles).
    [[nodiscard]] bool is_better_than(const evaluated_deployment& rhs) const noexcept {
        const auto key = [](const evaluated_deployment& t) {
            return std::tuple(t.devices, -t.summary.slo_attainment, t.summary.ttft.p99, t.summary.tpot.p99);
        };
        return key(*this) < key(rhs);
    }
};

/// Limits of a search.
struct search_config {
    double max_devices = 8;
    double min_slo_attainment = 0.99;   ///< fraction of requests that meet the SLO
    std::size_t requests = 2000;        ///< sample of the workload with which deployments are compared
    bool allows_disaggregation = true;  ///< tries disaggregated prefill and decode
    std::size_t num_results = 5;        ///< maximum number of results
    bool never_stops_early = false;     ///< simulates all requests after too many violate the SLO
};

/// The result of a search, best first.
///
/// A candidate is an engine option with scheduler limits, aggregated or disaggregated.
struct search_result {
    std::vector<evaluated_deployment> feasible;    ///< meet the SLO
    std::vector<evaluated_deployment> infeasible;  ///< with all devices; only if no deployment meets the SLO
    std::vector<evaluated_deployment> evaluated;   ///< all complete simulations
    std::size_t num_candidates = 0, num_out_of_memory = 0, num_too_slow = 0;
    std::size_t num_exceeding_devices = 0;  ///< candidates that need more devices than the best results
    std::size_t num_simulations = 0;
};

/// Searches for the fewest devices on which a fraction of requests meets the SLO.
///
/// An engine option is an engine on a number of devices, with several scheduler limits. The search skips candidates
/// that cannot be among the best:
///
///  - The longest request exceeds the KV cache.
///  - A single request of minimum length violates the SLO.
///  - The SLO is not met with as many devices as the last of the best results has.
///
/// Bisection finds the fewest replicas of each candidate: another replica never makes a queue longer.
class deployment_search {
public:
    struct engine_option {
        simulated_engine engine{};
        std::int64_t stages = 1;                                     ///< pipeline stages
        std::vector<std::int64_t> max_num_batched_tokens_options{};  ///< maximum new tokens of a step
        std::vector<std::int64_t> max_num_seqs_options{};            ///< maximum running requests
        request_slo bounds{};
    };
    deployment_search(const std::vector<simulated_request>& requests, const simulation_config& config,
                      const search_config& limits)
        : all_(&requests), config_(config), limits_(limits), easiest_request_(requests.front()) {
        for (const simulated_request& r : requests) {
            longest_ = std::max(longest_, r.input_tokens + r.output_tokens);
            longest_input_ = std::max(longest_input_, r.input_tokens);
            easiest_request_.input_tokens = std::min(easiest_request_.input_tokens, r.input_tokens);
            easiest_request_.output_tokens = std::min(easiest_request_.output_tokens, r.output_tokens);
            easiest_request_.cached_fraction =
                std::max(easiest_request_.cached_fraction, r.prefix_blocks.empty() ? r.cached_fraction : 1);
        }
        easiest_request_.previous_request = simulated_request::no_request;
        easiest_request_.arrival_seconds = 0;
        easiest_request_.prefix_blocks.clear();
    }

    /// Returns the best deployments, simulated with all requests.
    ///
    /// If a deployment meets the SLO with the sample but not with all requests, repeats with a larger sample.
    [[nodiscard]] search_result operator()(const std::vector<engine_option>& kinds) {
        for (std::size_t num_requests = std::min(all_->size(), limits_.requests);;
             num_requests = std::min(all_->size(), 4 * num_requests)) {
            use_first_requests(num_requests);
            search(kinds);
            if (verify_with_all_requests(kinds)) return found_;
        }
    }

private:
    static constexpr std::int64_t no_limit = simulation_config{}.max_slo_violations;

    struct candidate {
        const engine_option* option = nullptr;
        std::size_t number = 0;  ///< index of the engine option
        scheduling_policy policy{};
        double devices = 1;  ///< per engine
    };
    /// A simulation that holds for all scheduler limits that it never reached.
    struct known_run {
        evaluated_deployment tried{};
        std::int64_t new_tokens = 0, running = 0;  ///< maxima of a step of a rank
        bool is_stopped_early = false;
    };

    void use_first_requests(std::size_t num_requests) {
        sample_requests_.assign(all_->begin(), all_->begin() + static_cast<std::ptrdiff_t>(num_requests));
        for (simulated_request& r : sample_requests_)
            if (r.previous_request != simulated_request::no_request && r.previous_request >= sample_requests_.size())
                r.previous_request = simulated_request::no_request;
        max_broken_ = max_slo_violations(limits_.min_slo_attainment);
    }
    void search(const std::vector<engine_option>& kinds) {
        const std::size_t num_simulations = found_.num_simulations;
        found_ = {};
        found_.num_simulations = num_simulations;
        runs_.assign(kinds.size(), {});
        const std::vector<candidate> all = candidates_of(kinds);
        for (const candidate& c : all) search_aggregated(c);
        if (limits_.allows_disaggregation)
            for (const candidate& c : all) search_disaggregated(c);
        if (found_.feasible.empty()) {
            for (std::vector<known_run>& runs : runs_)
                runs.erase(
                    std::remove_if(runs.begin(), runs.end(), [](const known_run& r) { return r.is_stopped_early; }),
                    runs.end());
            for (const candidate& c : all) try_with_all(c);
        }
    }
    /// Simulates the best deployments with all requests. Returns whether all feasible ones still meet the SLO.
    [[nodiscard]] bool verify_with_all_requests(const std::vector<engine_option>& kinds) {
        for (auto* list : {&found_.feasible, &found_.infeasible}) {
            if (list->size() > limits_.num_results) list->resize(limits_.num_results);
            if (sample_requests_.size() == all_->size()) continue;
            for (evaluated_deployment& t : *list)
                t.summary =
                    summarize(run(kinds[t.candidate_index], t, *all_, no_limit), kinds[t.candidate_index].bounds);
        }
        const auto holds = [&](const evaluated_deployment& t) {
            return t.summary.slo_attainment >= limits_.min_slo_attainment;
        };
        if (!std::all_of(found_.feasible.begin(), found_.feasible.end(), holds)) return false;
        std::stable_sort(
            found_.feasible.begin(), found_.feasible.end(),
            [](const evaluated_deployment& a, const evaluated_deployment& b) { return a.is_better_than(b); });
        return true;
    }
    /// How many requests of the sample may violate the SLO if a fraction `share` meets it.
    [[nodiscard]] std::int64_t max_slo_violations(double share) const noexcept {
        const auto num_requests = static_cast<double>(sample_requests_.size());
        auto broken = static_cast<std::int64_t>(num_requests * (1 - share)) + 1;
        while (broken > 0 && (num_requests - static_cast<double>(broken)) / num_requests < share) --broken;
        return broken;
    }
    /// Candidates with enough memory for which a single request meets the SLO, in the order of devices.
    [[nodiscard]] std::vector<candidate> candidates_of(const std::vector<engine_option>& kinds) {
        std::vector<candidate> all;
        const std::size_t ways = limits_.allows_disaggregation ? 2 : 1;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const engine_option& k = kinds[i];
            const auto devices =
                static_cast<double>(k.engine.server->execution_config().parallel.world_size() * k.stages);
            const std::size_t num_variants =
                ways * k.max_num_batched_tokens_options.size() * k.max_num_seqs_options.size();
            found_.num_candidates += num_variants;
            const double tokens_per_stage =
                max_cached_tokens(k.engine, longest_, k.stages) / static_cast<double>(k.stages);
            if (tokens_per_stage < static_cast<double>(longest_) || devices > limits_.max_devices) {
                found_.num_out_of_memory += num_variants;
                continue;
            }
            for (const std::int64_t budget : k.max_num_batched_tokens_options) {
                candidate c{&k, i, k.engine.policy, devices};
                c.policy.max_num_batched_tokens = budget;
                if (!c.policy.has_chunked_prefill && longest_input_ > budget)
                    found_.num_out_of_memory += ways * k.max_num_seqs_options.size();
                else if (!single_request_meets_slo(c))
                    found_.num_too_slow += ways * k.max_num_seqs_options.size();
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
    [[nodiscard]] bool single_request_meets_slo(const candidate& c) {
        simulation_config config = config_;
        config.num_clients = 1;
        config.num_replicas = 1;
        config.pipeline_parallel_size = c.option->stages;
        simulated_engine engine = c.option->engine;
        engine.policy = c.policy;
        return c.option->bounds.is_met_by(simulate(engine, {easiest_request_}, config).requests.front());
    }
    [[nodiscard]] simulation_result run(const engine_option& k, const evaluated_deployment& t,
                                        const std::vector<simulated_request>& requests, std::int64_t max_broken) {
        simulated_engine engine = k.engine;
        engine.policy = t.policy;
        simulation_config config = config_;
        config.num_replicas = t.replicas;
        config.num_decode_workers = t.num_decode_workers;
        config.pipeline_parallel_size = k.stages;
        config.slo = k.bounds;
        config.max_slo_violations = max_broken;
        ++found_.num_simulations;
        return simulate(engine, requests, config);
    }
    /// Simulates a candidate. A run that stopped early has no summary.
    [[nodiscard]] known_run evaluate(const candidate& c, std::int64_t replicas, std::int64_t writing,
                                     std::int64_t max_broken) {
        const auto per_stage = [&](std::int64_t sequences) {
            return std::max<std::int64_t>(1, sequences / c.option->stages);
        };
        for (const known_run& r : runs_[c.number]) {
            const scheduling_policy& p = r.tried.policy;
            const bool tokens =
                p.max_num_batched_tokens == c.policy.max_num_batched_tokens ||
                (r.new_tokens < p.max_num_batched_tokens && r.new_tokens < c.policy.max_num_batched_tokens);
            const bool sequences =
                p.max_num_seqs == c.policy.max_num_seqs ||
                (r.running < per_stage(p.max_num_seqs) && r.running < per_stage(c.policy.max_num_seqs));
            if (r.tried.replicas == replicas && r.tried.num_decode_workers == writing && tokens && sequences) {
                known_run reused_run = r;
                reused_run.tried.policy = c.policy;
                return reused_run;
            }
        }
        known_run r{{c.number, c.policy, replicas, writing, static_cast<double>(replicas + writing) * c.devices, {}}};
        const simulation_result result =
            run(*c.option, r.tried, sample_requests_, limits_.never_stops_early ? no_limit : max_broken);
        r.is_stopped_early = result.is_stopped_early;
        r.new_tokens = result.max_batched_tokens;
        r.running = result.max_running;
        if (!r.is_stopped_early) {
            r.tried.summary = summarize(result, c.option->bounds);
            found_.evaluated.push_back(r.tried);
        }
        runs_[c.number].push_back(r);
        return r;
    }
    [[nodiscard]] bool meets_slo(const known_run& r) const noexcept {
        return !r.is_stopped_early && r.tried.summary.slo_attainment >= limits_.min_slo_attainment;
    }
    /// Inserts a deployment into a sorted list. Of those that differ only in scheduler limits, the list has the best.
    template <class Better>
    static void offer(std::vector<evaluated_deployment>& list, const evaluated_deployment& t, Better better) {
        const auto match = std::find_if(list.begin(), list.end(), [&](const evaluated_deployment& k) {
            return k.candidate_index == t.candidate_index && k.is_disaggregated() == t.is_disaggregated();
        });
        if (match != list.end()) {
            if (!better(t, *match)) return;
            list.erase(match);
        }
        list.insert(std::find_if(list.begin(), list.end(), [&](const evaluated_deployment& k) { return better(t, k); }),
                    t);
    }
    void keep(const evaluated_deployment& t) {
        offer(found_.feasible, t,
              [](const evaluated_deployment& a, const evaluated_deployment& b) { return a.is_better_than(b); });
    }
    /// Maximum number of engines with which a candidate can be among the best.
    [[nodiscard]] std::int64_t engines_worth_trying(const candidate& c, bool separated) const noexcept {
        double devices = limits_.max_devices;
        if (found_.feasible.size() >= limits_.num_results) devices = found_.feasible[limits_.num_results - 1].devices;
        for (const evaluated_deployment& t : found_.feasible)
            if (t.candidate_index == c.number && t.is_disaggregated() == separated)
                devices = std::min(devices, t.devices);
        return static_cast<std::int64_t>(devices / c.devices);
    }
    void search_aggregated(const candidate& c) {
        const std::int64_t maximum = engines_worth_trying(c, false);
        if (maximum == 0) return void(++found_.num_exceeding_devices);
        // The scheduler limits seldom change how many engines are needed.
        const bool has_feasible = std::any_of(
            found_.feasible.begin(), found_.feasible.end(),
            [&](const evaluated_deployment& t) { return t.candidate_index == c.number && !t.is_disaggregated(); });
        std::int64_t low = 0, high = has_feasible ? maximum : 1;
        known_run best = evaluate(c, high, 0, max_broken_);
        while (!meets_slo(best)) {
            if (high == maximum)
                return void(found_.num_exceeding_devices +=
                            limits_.max_devices >= static_cast<double>(maximum + 1) * c.devices);
            low = high;
            high = std::min(2 * high, maximum);
            best = evaluate(c, high, 0, max_broken_);
        }
        for (std::int64_t next = has_feasible ? high - 1 : (low + high) / 2; high - low > 1; next = (low + high) / 2) {
            known_run r = evaluate(c, next, 0, max_broken_);
            if (meets_slo(r)) {
                high = next;
                best = std::move(r);
            } else
                low = next;
        }
        keep(best.tried);
    }
    void search_disaggregated(const candidate& c) {
        constexpr std::int64_t max_separated = 8;
        const std::int64_t maximum = std::min(engines_worth_trying(c, true), max_separated);
        if (maximum < 2) return void(++found_.num_exceeding_devices);
        const auto tries = [&](std::int64_t prompts, std::int64_t writing) {
            const known_run r = evaluate(c, prompts, writing, max_broken_);
            if (meets_slo(r)) keep(r.tried);
            return meets_slo(r);
        };
        if (tries(1, 1)) return;
        std::vector<std::int64_t>
            prompts;  // numbers of prefill workers that suffice with the maximum of decode workers
        for (std::int64_t n = 1; n < maximum; ++n)
            if (tries(n, maximum - n)) prompts.push_back(n);
        for (std::int64_t engines = 3; engines < maximum; ++engines) {
            bool has_feasible = false;
            for (const std::int64_t n : prompts) has_feasible = (n < engines && tries(n, engines - n)) || has_feasible;
            if (has_feasible) return;  // a higher total has more devices
        }
    }
    /// Simulates a candidate with all devices, while its SLO attainment may exceed that of the results.
    void try_with_all(const candidate& c) {
        const auto better = [](const evaluated_deployment& a, const evaluated_deployment& b) {
            return a.summary.slo_attainment > b.summary.slo_attainment;
        };
        const double minimum = found_.infeasible.size() < limits_.num_results
                                   ? 0
                                   : found_.infeasible[limits_.num_results - 1].summary.slo_attainment;
        const known_run r =
            evaluate(c, static_cast<std::int64_t>(limits_.max_devices / c.devices), 0, max_slo_violations(minimum));
        if (!r.is_stopped_early) offer(found_.infeasible, r.tried, better);
    }

    std::vector<simulated_request> sample_requests_;
    const std::vector<simulated_request>* all_;
    simulation_config config_;
    search_config limits_;
    std::int64_t longest_ = 1, longest_input_ = 1;
    simulated_request easiest_request_{};  ///< minimum lengths and maximum cached fraction of all requests
    std::int64_t max_broken_ = 0;
    std::vector<std::vector<known_run>> runs_;  ///< by engine option
    search_result found_;
};

}  // namespace llmcost
